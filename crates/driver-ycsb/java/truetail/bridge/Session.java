package truetail.bridge;

import java.io.IOException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.Callable;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/** One connection and its object of the database class. Nothing is done twice, and nothing that was not asked for. */
final class Session {
  private static final byte PING = 0;
  private static final byte READ = 1;
  private static final byte UPDATE = 2;
  private static final byte INSERT = 3;
  private static final byte DELETE = 4;
  private static final byte SCAN = 5;

  private static final byte DONE = 0;
  private static final byte NOT_FOUND = 1;
  private static final byte FAILED = 2;

  /** In place of a value's length. */
  private static final int ABSENT = -1;

  private final Wire wire;
  private DB db;
  private long began;
  private long callNanos;

  Session(Wire wire) {
    this.wire = wire;
  }

  /** Until the connection ends. */
  void run(byte[] token, Callable<DB> open) throws IOException {
    wire.receive();
    if (!MessageDigest.isEqual(token, wire.bytes())) {
      throw new IOException("somebody else");
    }
    long received = System.nanoTime();
    try {
      db = open.call();
    } catch (Exception | LinkageError e) {
      failed(e instanceof DBException ? "init" : e.getClass().getSimpleName(), words(e));
      wire.send(0, received);
      return;
    }
    wire.begin(DONE);
    wire.put(0);
    wire.send(0, received);
    try {
      while (true) {
        wire.receive();
        answer(System.nanoTime());
      }
    } finally {
      clean();
    }
  }

  private void answer(long received) throws IOException {
    byte asked = wire.tag();
    callNanos = 0;
    if (asked == PING) {
      done();
    } else {
      String table = wire.text();
      String key = wire.text();
      try {
        carryOut(asked, table, key);
      } catch (IOException e) {
        throw e;
      } catch (Exception | LinkageError | StackOverflowError e) {
        called();
        failed("EXCEPTION", words(e));
      }
    }
    wire.send(callNanos, received);
  }

  private void carryOut(byte asked, String table, String key) throws IOException {
    switch (asked) {
      case READ: {
        String[] fields = names();
        Map<String, ByteIterator> record = new HashMap<>();
        Set<String> wanted = set(fields);
        begin();
        Status status = db.read(table, key, wanted, record);
        called();
        if (told(status)) {
          int at = done();
          wire.patch(at, put(record, fields));
        }
        break;
      }
      case UPDATE: {
        Map<String, ByteIterator> values = values();
        begin();
        Status status = db.update(table, key, values);
        called();
        written(status);
        break;
      }
      case INSERT: {
        Map<String, ByteIterator> values = values();
        begin();
        Status status = db.insert(table, key, values);
        called();
        written(status);
        break;
      }
      case DELETE: {
        begin();
        Status status = db.delete(table, key);
        called();
        written(status);
        break;
      }
      case SCAN: {
        String[] fields = names();
        int count = wire.number();
        Set<String> wanted = set(fields);
        Vector<HashMap<String, ByteIterator>> records = new Vector<>();
        begin();
        Status status = db.scan(table, key, count, wanted, records);
        called();
        if (told(status)) {
          int at = done();
          int rows = 0;
          for (Map<String, ByteIterator> record : records) {
            rows += put(record, fields);
          }
          wire.patch(at, rows);
        }
        break;
      }
      default:
        throw new IOException("request " + asked);
    }
  }

  private void begin() {
    began = System.nanoTime();
    callNanos = -1;
  }

  /** The call has returned, or thrown. */
  private void called() {
    if (callNanos < 0) {
      callNanos = System.nanoTime() - began;
    }
  }

  private void written(Status status) {
    if (told(status)) {
      done();
    }
  }

  /** Whether it was done; otherwise the answer says so. */
  private boolean told(Status status) {
    if (status == null) {
      failed("NULL", "the binding returned no status");
      return false;
    }
    if (status.isOk()) {
      return true;
    }
    if (status.equals(Status.NOT_FOUND)) {
      wire.begin(NOT_FOUND);
      wire.put(0);
    } else {
      failed(status.getName(), String.valueOf(status.getDescription()));
    }
    return false;
  }

  /** Where the number of rows stands, which is none so far. */
  private int done() {
    wire.begin(DONE);
    return wire.put(0);
  }

  private void failed(String status, String words) {
    wire.begin(FAILED);
    wire.put(String.valueOf(status));
    wire.put(words.length() > 1000 ? words.substring(0, 1000) : words);
  }

  /** A record's values, in the order of its map or of the wanted fields; gives 0 for one that has none of these. */
  private int put(Map<String, ByteIterator> record, String[] wanted) {
    if (wanted == null) {
      int at = wire.put(0);
      int columns = 0;
      for (ByteIterator value : record.values()) {
        if (value != null) {
          wire.put(value.toArray());
          columns++;
        }
      }
      wire.patch(at, columns);
      return 1;
    }
    boolean some = false;
    for (String name : wanted) {
      some |= record.get(name) != null;
    }
    if (!some) {
      return 0;
    }
    wire.put(wanted.length);
    for (String name : wanted) {
      ByteIterator value = record.get(name);
      if (value == null) {
        wire.put(ABSENT);
      } else {
        wire.put(value.toArray());
      }
    }
    return 1;
  }

  private static Set<String> set(String[] names) {
    return names == null ? null : new LinkedHashSet<>(Arrays.asList(names));
  }

  /** Null for all. */
  private String[] names() throws IOException {
    int count = wire.number();
    if (count == 0) {
      return null;
    }
    List<String> names = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      names.add(wire.text());
    }
    return names.toArray(new String[0]);
  }

  private Map<String, ByteIterator> values() throws IOException {
    int count = wire.number();
    Map<String, ByteIterator> values = new HashMap<>();
    for (int i = 0; i < count; i++) {
      String name = wire.text();
      values.put(name, new ByteArrayByteIterator(wire.bytes()));
    }
    return values;
  }

  private void clean() {
    try {
      db.cleanup();
    } catch (Exception | LinkageError e) {
      System.err.println("cleanup: " + words(e));
    }
  }

  private static String words(Throwable thrown) {
    StringBuilder words = new StringBuilder(thrown.toString());
    Throwable cause = thrown.getCause();
    for (int depth = 0; cause != null && depth < 5; depth++, cause = cause.getCause()) {
      if (words.indexOf(String.valueOf(cause.getMessage())) < 0) {
        words.append(": ").append(cause);
      }
    }
    return words.toString().replaceAll("\\s+", " ");
  }
}
