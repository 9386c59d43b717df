package truetail.ycsb;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;
import truetail.ycsb.RespConnection.RespError;

/**
 * YCSB on a server that speaks RESP, over one plain socket for each YCSB thread.
 *
 * <p>As in YCSB's own Redis binding a record is a hash, and a sorted set {@code _indices} holds the keys for scans, with
 * their {@code hashCode} as score. Nothing is retried. After a connection was lost, the next operation connects anew, and
 * the time that takes is its own. With {@code truetail.noop} every operation is one {@code PING}.
 */
public final class RespClient extends DB {
  private static final byte[] INDEX = bytes("_indices");
  private static final byte[] PING = bytes("PING");
  private static final byte[] HSET = bytes("HSET");
  private static final byte[] HGETALL = bytes("HGETALL");
  private static final byte[] HMGET = bytes("HMGET");
  private static final byte[] DEL = bytes("DEL");
  private static final byte[] ZADD = bytes("ZADD");
  private static final byte[] ZREM = bytes("ZREM");
  private static final byte[] ZRANGEBYSCORE = bytes("ZRANGEBYSCORE");

  private final FirstError errors = new FirstError();
  private String host;
  private int port;
  private int timeoutMillis;
  private boolean indexed;
  private boolean noop;
  private String user;
  private String password;
  private int database;
  private RespConnection connection;

  /** What an operation does with a connection. */
  private interface Exchange {
    Status run(RespConnection on) throws IOException;
  }

  /** A reply that is not what the command gives. */
  private static final class Unexpected extends IOException {
    private static final long serialVersionUID = 1L;

    Unexpected(Object reply) {
      super(reply instanceof RespError error ? "the server said `" + error.message() + "`" : "an answer of another kind");
    }
  }

  @Override
  public void init() throws DBException {
    JvmAnchor.printOnce();
    Settings settings = new Settings(getProperties());
    host = settings.text("resp.host", "127.0.0.1");
    port = settings.number("resp.port", 6379, 1, 65535);
    timeoutMillis = settings.number("resp.timeout", 0, 0, Integer.MAX_VALUE);
    indexed = settings.flag("resp.index", true);
    noop = settings.flag(Settings.NOOP, false);
    user = settings.text("resp.user", null);
    password = settings.text("resp.password", null);
    database = settings.number("resp.database", 0, 0, Integer.MAX_VALUE);
    try {
      connect();
    } catch (IOException e) {
      throw new DBException(host + ":" + port + ": " + e.getMessage() + "; set resp.host and resp.port", e);
    }
  }

  private RespConnection connect() throws IOException {
    if (connection != null) {
      return connection;
    }
    RespConnection fresh = new RespConnection(host, port, timeoutMillis);
    try {
      if (password != null) {
        expectOk(user == null ? fresh.call(bytes("AUTH"), bytes(password)) : fresh.call(bytes("AUTH"), bytes(user), bytes(password)));
      }
      if (database != 0) {
        expectOk(fresh.call(bytes("SELECT"), bytes(Integer.toString(database))));
      }
    } catch (IOException e) {
      fresh.close();
      throw e;
    }
    connection = fresh;
    return fresh;
  }

  @Override
  public void cleanup() throws DBException {
    disconnect();
  }

  private void disconnect() {
    if (connection == null) {
      return;
    }
    try {
      connection.close();
    } catch (IOException e) {
      // It is of no use any more, closed or not.
    }
    connection = null;
  }

  private Status run(String operation, Exchange exchange) {
    try {
      return exchange.run(connect());
    } catch (Unexpected e) {
      // All replies were read before it was thrown: the connection is in step.
      errors.say(operation, e.getMessage());
    } catch (IOException e) {
      errors.say(operation, e.toString());
      disconnect();
    }
    return Status.ERROR;
  }

  /** Asks for nothing: what is left of an operation is the way to the server and back. */
  private Status nothing(String operation) {
    return run(operation, on -> {
      Object answer = on.call(PING);
      if (!text(answer).equals("PONG")) {
        throw new Unexpected(answer);
      }
      return Status.OK;
    });
  }

  @Override
  public Status read(String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    if (noop) {
      return nothing("read");
    }
    return run("read", on -> {
      stageRead(on, key, fields);
      on.send();
      return takeRecord(on.reply(), fields, result) ? Status.OK : Status.NOT_FOUND;
    });
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    if (noop) {
      return nothing("insert");
    }
    return run("insert", on -> {
      on.stage(set(key, values));
      if (indexed) {
        on.stage(ZADD, INDEX, score(key), bytes(key));
      }
      on.send();
      Object written = on.reply();
      Object entered = indexed ? on.reply() : 1L;
      expectNumber(written);
      expectNumber(entered);
      return Status.OK;
    });
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    if (noop) {
      return nothing("update");
    }
    return run("update", on -> {
      expectNumber(on.call(set(key, values)));
      return Status.OK;
    });
  }

  @Override
  public Status delete(String table, String key) {
    if (noop) {
      return nothing("delete");
    }
    return run("delete", on -> {
      on.stage(DEL, bytes(key));
      if (indexed) {
        on.stage(ZREM, INDEX, bytes(key));
      }
      on.send();
      Object deleted = on.reply();
      Object left = indexed ? on.reply() : 1L;
      expectNumber(left);
      return expectNumber(deleted) == 0 ? Status.NOT_FOUND : Status.OK;
    });
  }

  @Override
  public Status scan(String table, String startkey, int recordcount, Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    if (noop) {
      return nothing("scan");
    }
    if (!indexed) {
      return Status.NOT_IMPLEMENTED;
    }
    return run("scan", on -> {
      Object found = on.call(ZRANGEBYSCORE, INDEX, score(startkey), bytes("+inf"), bytes("LIMIT"), bytes("0"),
          bytes(Integer.toString(recordcount)));
      List<String> keys = texts(found);
      // One round trip for all records, not one for each.
      for (String key : keys) {
        stageRead(on, key, fields);
      }
      on.send();
      List<Object> replies = new ArrayList<>(keys.size());
      for (int i = 0; i < keys.size(); i++) {
        replies.add(on.reply());
      }
      for (Object reply : replies) {
        HashMap<String, ByteIterator> record = new HashMap<>();
        // A key that was deleted in between is no record.
        if (takeRecord(reply, fields, record)) {
          result.add(record);
        }
      }
      return Status.OK;
    });
  }

  private static void stageRead(RespConnection on, String key, Set<String> fields) {
    if (fields == null) {
      on.stage(HGETALL, bytes(key));
      return;
    }
    List<byte[]> words = new ArrayList<>();
    words.add(HMGET);
    words.add(bytes(key));
    fields.forEach(field -> words.add(bytes(field)));
    on.stage(words.toArray(new byte[0][]));
  }

  /** Puts a record into {@code result}: whether there is one. */
  private static boolean takeRecord(Object reply, Set<String> fields, Map<String, ByteIterator> result) throws IOException {
    List<?> values = expectList(reply);
    if (fields == null) {
      if (values.size() % 2 != 0) {
        throw new Unexpected(values);
      }
      for (int i = 0; i < values.size(); i += 2) {
        result.put(text(values.get(i)), new ByteArrayByteIterator(expectBytes(values.get(i + 1))));
      }
      return !values.isEmpty();
    }
    if (values.size() != fields.size()) {
      throw new Unexpected(values);
    }
    int at = 0;
    boolean some = false;
    for (String field : fields) {
      Object value = values.get(at++);
      if (value != null) {
        result.put(field, new ByteArrayByteIterator(expectBytes(value)));
        some = true;
      }
    }
    return some;
  }

  private static byte[][] set(String key, Map<String, ByteIterator> values) {
    byte[][] words = new byte[2 + 2 * values.size()][];
    words[0] = HSET;
    words[1] = bytes(key);
    int at = 2;
    for (Map.Entry<String, ByteIterator> entry : values.entrySet()) {
      words[at++] = bytes(entry.getKey());
      words[at++] = entry.getValue().toArray();
    }
    return words;
  }

  private static byte[] score(String key) {
    return bytes(Integer.toString(key.hashCode()));
  }

  private static void expectOk(Object reply) throws IOException {
    if (!(reply instanceof byte[] text) || !new String(text, StandardCharsets.UTF_8).equals("OK")) {
      throw new Unexpected(reply);
    }
  }

  private static long expectNumber(Object reply) throws IOException {
    if (reply instanceof Long number) {
      return number;
    }
    throw new Unexpected(reply);
  }

  private static byte[] expectBytes(Object reply) throws IOException {
    if (reply instanceof byte[] text) {
      return text;
    }
    throw new Unexpected(reply);
  }

  private static List<?> expectList(Object reply) throws IOException {
    if (reply instanceof List<?> elements) {
      return elements;
    }
    throw new Unexpected(reply);
  }

  private static List<String> texts(Object reply) throws IOException {
    List<String> texts = new ArrayList<>();
    for (Object element : expectList(reply)) {
      texts.add(text(element));
    }
    return texts;
  }

  private static String text(Object reply) throws IOException {
    return new String(expectBytes(reply), StandardCharsets.UTF_8);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
