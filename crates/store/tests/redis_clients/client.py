"""What a program would do with redis-py: connection pools, pipelines, transactions, scans, errors."""

import sys
import threading

import redis

store = redis.Redis(port=int(sys.argv[1]), password=sys.argv[2], client_name="tester")

assert store.ping()
assert store.set("text", b"\x00\xff\r\n") and store.get("text") == b"\x00\xff\r\n"
assert store.set("text", "x", nx=True) is None
assert store.incr("n", 5) == 5
assert store.client_getname() == "tester"
assert store.info("server")["redis_version"] == "7.0.15"
assert store.config_get("save") == {"save": ""}
assert len(store.time()) == 2

store.hset("user1", mapping={f"field{i}": f"value{i}" for i in range(10)})
assert store.hgetall("user1")[b"field7"] == b"value7"
assert store.hmget("user1", "field0", "none") == [b"value0", None]
assert store.zadd("index", {"user1": 0.5, "user2": 1.5}) == 2
assert store.zrangebyscore("index", "(0.5", "+inf", withscores=True) == [(b"user2", 1.5)]
assert store.zrange("index", 0, -1, desc=True) == [b"user2", b"user1"]
assert store.rpush("list", *range(10)) == 10 and store.lrange("list", -2, -1) == [b"8", b"9"]
assert store.sadd("set", "a", "b") == 2 and store.smembers("set") == {b"a", b"b"}

with store.pipeline(transaction=False) as pipe:
    for i in range(1000):
        pipe.set(f"key{i:04}", i)
    assert pipe.execute() == [True] * 1000
assert sorted(store.scan_iter("key*", count=13)) == [b"key%04d" % i for i in range(1000)]

store.set("counter", 0)


def add():
    for _ in range(20):
        # Watches, reads, writes, and tries again where another thread was faster.
        store.transaction(
            lambda pipe: (value := int(pipe.get("counter")), pipe.multi(), pipe.set("counter", value + 1)),
            "counter",
        )


threads = [threading.Thread(target=add) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert store.get("counter") == b"80", store.get("counter")

for call, error in [
    (lambda: store.get("list"), redis.ResponseError),
    (lambda: store.set("text", "x", ex=10), redis.ResponseError),
    (lambda: redis.Redis(port=int(sys.argv[1]), password="wrong").ping(), (redis.ResponseError, redis.AuthenticationError)),
]:
    try:
        call()
    except error:
        continue
    raise AssertionError(f"no {error}")

assert store.execute_command("TRUETAIL", "fault", "error:retryable@next").startswith(b"armed")
try:
    store.get("text")
except redis.exceptions.BusyLoadingError:
    pass
else:
    raise AssertionError("no BusyLoadingError")
assert store.flushall() and store.dbsize() == 0
print("all as expected")
