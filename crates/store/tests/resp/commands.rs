//! Requests to try, and how to write them down.

use units::Rng;

/// A request as an array of bulk strings.
pub(crate) fn encoded<T: AsRef<[u8]>>(words: &[T]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        let word = word.as_ref();
        bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

/// Words between blanks; `""` is an empty one.
pub(crate) fn words(line: &str) -> Vec<Vec<u8>> {
    line.split(' ').map(|word| if word == "\"\"" { Vec::new() } else { word.as_bytes().to_vec() }).collect()
}

/// Requests whose answers depend on nothing but the requests before them.
pub(crate) const SCRIPT: &str = "\
PING
PING hello
PING a b
ping
ECHO word
ECHO
ECHO a b
GET
GET a b
GET none
SET
SET k
SET k v
GET k
SET k v2 NX
SET n 1 NX
SET missing v XX
SET k v3 XX
SET k v4 GET
SET fresh v GET
SET k v5 NX GET
SET fresh2 v NX GET
SET k v6 KEEPTTL
SET k v NX XX
SET k v XX NX
SET k v nonsense
SET k v EX
SET k v EX abc
SET k v EX 0
SET k v EX -1
SET k v PX 0
SET k v EX 10 PX 10
SET k v KEEPTTL EX 10
SET k v EX 10 KEEPTTL
SETEX k 0 v
SETEX k abc v
PSETEX k -1 v
SETEX k 1
SETNX k v
SETNX nx1 v
GETSET nx1 w
GETSET nx2 w
GETDEL nx2
GETDEL nx2
MGET k n none
MGET
MSET a 1 b 2
MSET a 1 b
MSET a
MSETNX a 1 q 2
MSETNX q1 1 q2 2
MSETNX q1 1 q2
STRLEN a
STRLEN none
APPEND app hello
APPEND app world
GET app
APPEND \"\" x
GET \"\"
SET empty \"\"
GET empty
STRLEN empty
INCR counter
INCR counter
DECR counter
INCRBY counter 10
DECRBY counter 3
INCRBY counter abc
INCRBY counter 9223372036854775807
DECRBY counter -9223372036854775808
INCR k
SET big 9223372036854775807
INCR big
SET small -9223372036854775808
DECR small
SET padded 010
INCR padded
SET spaced 1x
INCR spaced
EXISTS k
EXISTS k k none
EXISTS
TYPE k
TYPE none
TYPE
DEL none
DEL k n none
UNLINK a b
DBSIZE
DBSIZE x
TTL app
TTL none
PTTL app
PERSIST app
EXPIRE none 10
EXPIRE none abc
HSET h f v
HSET h f v2 g w
HSET h f
HSET h f v g
HMSET h x 1 y 2
HMSET h x 1 y
HMSET h
HSETNX h x 5
HSETNX h z 5
HGET h f
HGET h none
HGET none f
HMGET h f none g
HMGET none f
HGETALL h
HGETALL none
HKEYS h
HVALS h
HKEYS none
HLEN h
HLEN none
HEXISTS h f
HEXISTS h none
HINCRBY h x 5
HINCRBY h f 5
HINCRBY h new -5
HINCRBY h x abc
HSET h max 9223372036854775807
HINCRBY h max 1
HDEL h none
HDEL h f g none
HDEL h x y z new max
EXISTS h
HDEL h x
ZADD z 1 a 2 b 3 c
ZADD z 1 a
ZADD z 5 a
ZADD z CH 6 a 2 b 9 d
ZADD z NX 7 a 1 e
ZADD z XX 7 a 1 nobody
ZADD z GT 6 a
ZADD z LT CH 6 a
ZADD z GT LT 6 a
ZADD z NX GT 6 a
ZADD z NX XX 6 a
ZADD z INCR 1.5 a
ZADD z INCR 1 a 2 b
ZADD z NX INCR 1 a
ZADD z XX INCR 1 nobody
ZADD z abc a
ZADD z 1 a 2
ZADD z NX
ZADD z
ZADD z inf top
ZADD z -inf bottom
ZINCRBY z -inf top
ZINCRBY z 1 bottom
ZINCRBY z 2.25 c
ZINCRBY z abc c
ZINCRBY zfresh 2 m
ZADD z nan x
ZCARD z
ZCARD none
ZSCORE z a
ZSCORE z none
ZSCORE none a
ZSCORE z top
ZADD digits 0.1 tenth 1e17 large 1e-7 tiny 3.14159265358979 pi
ZRANGE digits 0 -1 WITHSCORES
ZRANGE z 0 -1
ZRANGE z 0 -1 WITHSCORES
ZRANGE z 0 -1 REV WITHSCORES
ZRANGE z 1 2
ZRANGE z -2 -1
ZRANGE z 5 1
ZRANGE z 0 100000
ZRANGE z abc 1
ZRANGE z 0 1 nonsense
ZRANGE none 0 -1
ZRANGE z 1 6 BYSCORE
ZRANGE z 6 1 BYSCORE REV
ZRANGE z 1 6 BYSCORE LIMIT 1 2
ZRANGE z 0 -1 LIMIT 1 2
ZRANGE z (1 +inf BYSCORE WITHSCORES
ZRANGEBYSCORE z -inf +inf
ZRANGEBYSCORE z -inf +inf WITHSCORES
ZRANGEBYSCORE z -inf +inf WITHSCORES LIMIT 1 2
ZRANGEBYSCORE z (1 5
ZRANGEBYSCORE z 1 (5
ZRANGEBYSCORE z (1 (2
ZRANGEBYSCORE z 5 1
ZRANGEBYSCORE z 1 5 LIMIT 0 0
ZRANGEBYSCORE z 1 5 LIMIT 0 -1
ZRANGEBYSCORE z 1 5 LIMIT -1 2
ZRANGEBYSCORE z 1 5 LIMIT 1
ZRANGEBYSCORE z 1 5 LIMIT a b
ZRANGEBYSCORE z a b
ZRANGEBYSCORE z (a 5
ZRANGEBYSCORE z 1 5 nonsense
ZRANGEBYSCORE z (inf (inf
ZRANGEBYSCORE none 1 5
ZREVRANGEBYSCORE z +inf -inf WITHSCORES LIMIT 1 2
ZREVRANGEBYSCORE z (5 1
ZREVRANGEBYSCORE z 1 5
ZREVRANGE z 0 -1 WITHSCORES
ZREVRANGE z 1 2
ZREVRANGE z 0 -1 nonsense
ZREVRANGE z a -1
ZCOUNT z -inf +inf
ZCOUNT z (1 5
ZCOUNT none 1 2
ZCOUNT z a 2
ZPOPMIN z
ZPOPMAX z
ZPOPMIN z 2
ZPOPMAX z 0
ZPOPMIN z -1
ZPOPMIN z abc
ZPOPMIN none
ZPOPMIN none 2
ZREM z none
ZREM z a b c d e bottom top
EXISTS z
RPUSH l a b c
LPUSH l x y
LRANGE l 0 -1
LRANGE l 1 2
LRANGE l -2 -1
LRANGE l 5 1
LRANGE l a b
LRANGE none 0 -1
LLEN l
LLEN none
LINDEX l 0
LINDEX l -1
LINDEX l 99
LINDEX l -99
LINDEX l abc
LINDEX none 0
LPOP l
RPOP l
LPOP l 2
RPOP l 0
LPOP l -1
LPOP l abc
LPOP l 1 2
LPOP none
LPOP none 2
LPOP none 0
RPOP l 99
EXISTS l
SADD s a b c
SADD s a d
SCARD s
SCARD none
SISMEMBER s a
SISMEMBER s z
SISMEMBER none a
SMEMBERS s
SMEMBERS none
SREM s a none
SREM none a
SPOP s 0
SPOP s -1
SPOP s abc
SPOP s 1 2
SPOP s 99
SPOP s
SPOP s 2
EXISTS s
SADD one x
SPOP one
LPUSH wrong x
GET wrong
SET wrong y GET
INCR wrong
APPEND wrong y
STRLEN wrong
GETSET wrong y
GETDEL wrong
HGET wrong f
HSET wrong f v
HGETALL wrong
HDEL wrong f
HINCRBY wrong f 1
ZADD wrong 1 a
ZRANGE wrong 0 -1
ZSCORE wrong a
ZREM wrong a
ZPOPMIN wrong
ZRANGEBYSCORE wrong 0 1
SADD wrong a
SPOP wrong
SPOP wrong 2
SMEMBERS wrong
SET text v
LPUSH text x
LPOP text
LPOP text 1
LRANGE text 0 -1
LLEN text
ZCARD text
SCARD text
MGET text wrong none
TYPE wrong
SET wrong y
GET wrong
ZADD t 1 m
TYPE t
HSET t2 f v
TYPE t2
SADD t3 m
TYPE t3
NOSUCH
NOSUCH a b c
nosuch \"\"
KEYS t*
KEYS t?
KEYS t[2-9]
KEYS t[^2]
KEYS nothing*
KEYS
SCAN abc
SCAN 0 COUNT 0
SCAN 0 COUNT abc
SCAN 0 MATCH
SCAN 0 nonsense x
SCAN
SELECT 0
SELECT 1
SELECT abc
SELECT
AUTH
AUTH word
AUTH default word
AUTH other word
AUTH a b c
CLIENT
CLIENT GETNAME
CLIENT SETNAME me
CLIENT GETNAME
CLIENT SETNAME a b
CLIENT SETNAME \"\"
CLIENT GETNAME
CLIENT NO-EVICT on
CLIENT NO-EVICT maybe
CLIENT ID x
CLIENT nonsense
CONFIG
CONFIG GET
CONFIG GET save
CONFIG GET appendonly
CONFIG GET APPENDONLY
CONFIG GET no-such-parameter
CONFIG RESETSTAT
CONFIG nonsense
COMMAND nonsense
HELLO abc
HELLO 1
HELLO 4
HELLO 2 nonsense
HELLO 2 AUTH
HELLO 2 AUTH other word
HELLO 2 SETNAME
EXEC
DISCARD
EXEC x
MULTI
EXEC x
EXEC
MULTI
MULTI
SET m 1
INCR m
GET m
LPUSH m x
PING
CLIENT GETNAME
WATCH k
EXEC
MULTI
SET m 5
NOSUCH
GET m
EXEC
GET m
MULTI
SET m
EXEC
MULTI
SET m 7
DISCARD
GET m
DISCARD
MULTI
EXEC
MULTI
SELECT 0
ECHO x
HGETALL t2
SMEMBERS t3
UNWATCH
FLUSHALL
DBSIZE
EXEC
WATCH w
SET w 1
MULTI
GET w
EXEC
MULTI
GET w
EXEC
WATCH w
UNWATCH
SET w 2
MULTI
GET w
EXEC
WATCH w x
MULTI
GET w
DISCARD
WATCH
WATCH nothing
DEL nothing
MULTI
PING
EXEC
WATCH w
FLUSHALL
MULTI
PING
EXEC
WATCH nothing
FLUSHALL
MULTI
PING
EXEC
RESET x
MULTI
RESET
EXEC
FLUSHALL nonsense
FLUSHDB ASYNC
FLUSHDB a b
FLUSHALL SYNC
DBSIZE";

/// Commands for which any words will do.
const NAMES: [&str; 64] = [
    "append",
    "dbsize",
    "decr",
    "decrby",
    "del",
    "echo",
    "exists",
    "get",
    "getdel",
    "getset",
    "hdel",
    "hexists",
    "hget",
    "hgetall",
    "hincrby",
    "hkeys",
    "hlen",
    "hmget",
    "hmset",
    "hset",
    "hsetnx",
    "hvals",
    "incr",
    "incrby",
    "keys",
    "lindex",
    "llen",
    "lpop",
    "lpush",
    "lrange",
    "mget",
    "mset",
    "msetnx",
    "ping",
    "rpop",
    "rpush",
    "sadd",
    "scard",
    "set",
    "setnx",
    "sismember",
    "smembers",
    "srem",
    "strlen",
    "ttl",
    "type",
    "unlink",
    "zadd",
    "zcard",
    "zcount",
    "zincrby",
    "zpopmax",
    "zpopmin",
    "zrange",
    "zrangebyscore",
    "zrem",
    "zrevrange",
    "zrevrangebyscore",
    "zscore",
    "multi",
    "exec",
    "discard",
    "watch",
    "nosuch",
];

const KEYS: [&str; 6] = ["a", "b", "c", "d", "e", ""];
const VALUES: [&str; 24] = [
    "0",
    "1",
    "-1",
    "2",
    "-2",
    "3.5",
    "10",
    "1e3",
    "(1",
    "(2.5",
    "inf",
    "-inf",
    "+inf",
    "(-inf",
    "abc",
    "",
    "01",
    " 1",
    "9223372036854775807",
    "-9223372036854775808",
    "m",
    "n",
    "o",
    "*",
];
const OPTIONS: [&str; 14] = [
    "nx",
    "XX",
    "gt",
    "LT",
    "ch",
    "INCR",
    "get",
    "keepttl",
    "withscores",
    "LIMIT",
    "rev",
    "BYSCORE",
    "[ab]",
    "?",
];

/// A command with words of which some make sense. Mostly as many as it takes.
pub(crate) fn random(rng: &mut Rng) -> Vec<Vec<u8>> {
    let mut pick = |from: &[&str]| from[rng.below(from.len() as u64) as usize].as_bytes().to_vec();
    let name = pick(&NAMES);
    let mut words = vec![name, pick(&KEYS)];
    let count: usize = String::from_utf8_lossy(&pick(&["0", "0", "1", "1", "2", "2", "2", "3", "4", "6"]))
        .parse()
        .expect("a digit");
    for _ in 0..count {
        let kind = pick(&["k", "v", "v", "v", "o"]);
        words.push(match &kind[..] {
            b"k" => pick(&KEYS),
            b"v" => pick(&VALUES),
            _ => pick(&OPTIONS),
        });
    }
    let alone = matches!(&words[0][..], b"multi" | b"exec" | b"discard" | b"dbsize");
    words.truncate(if alone { 1 } else { usize::MAX });
    words
}

/// An answer, taken apart.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Answer {
    /// Anything in one line.
    Line(String),
    /// A bulk string, with what its header says.
    Bulk(String, Vec<u8>),
    /// Arrays, maps and sets: the header's kind, and the elements.
    Many(char, Vec<Answer>),
}

/// The answer at the front, and its length; `None` if it is not complete.
pub(crate) fn take(bytes: &[u8]) -> Option<(Answer, usize)> {
    let end = bytes.windows(2).position(|pair| pair == b"\r\n")?;
    let line = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut used = end + 2;
    let number = line[1..].parse::<usize>().ok();
    match (line.as_bytes()[0], number) {
        (b'$' | b'=', Some(length)) => {
            let body = bytes.get(used..used + length + 2)?;
            Some((Answer::Bulk(line, body[..length].to_vec()), used + length + 2))
        }
        (kind @ (b'*' | b'~' | b'%'), Some(count)) => {
            let count = if kind == b'%' { 2 * count } else { count };
            let mut elements = Vec::new();
            for _ in 0..count {
                let (element, length) = take(&bytes[used..])?;
                elements.push(element);
                used += length;
            }
            Some((Answer::Many(char::from(kind), elements), used))
        }
        _ => Some((Answer::Line(line), used)),
    }
}
