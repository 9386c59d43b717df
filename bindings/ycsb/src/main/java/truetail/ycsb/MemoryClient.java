package truetail.ycsb;

import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicBoolean;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * YCSB on a map in this JVM, one for all threads: next to nothing to wait for, and whatever a test wants to plant.
 *
 * <p>A record with the field {@value #FAULT} does what the field says when it is read, instead of being read. With
 * {@code memory.gc_every_ms} the heap, of which {@code memory.live_mib} are in use, is collected again and again, and the file
 * {@code memory.gc_times} gets a line for each time: when it began and when it had ended, in milliseconds since 1970.
 */
public final class MemoryClient extends DB {
  private static final String FAULT = "fault";
  private static final ConcurrentNavigableMap<String, Map<String, byte[]>> RECORDS = new ConcurrentSkipListMap<>();
  private static final AtomicBoolean PLANTED = new AtomicBoolean();

  @Override
  public void init() throws DBException {
    Settings settings = new Settings(getProperties());
    String refusal = settings.text("memory.refuse", null);
    if (refusal != null) {
      throw new DBException(refusal + settings.text("memory.password", "nobody"));
    }
    int everyMillis = settings.number("memory.gc_every_ms", 0, 0, 60_000);
    int liveMib = settings.number("memory.live_mib", 0, 0, 4_096);
    if (everyMillis > 0 && PLANTED.compareAndSet(false, true)) {
      String times = settings.text("memory.gc_times", "/dev/null");
      Thread collector = new Thread(() -> collect(everyMillis, liveMib, times), "planted-pauses");
      collector.setDaemon(true);
      collector.start();
    }
  }

  /** Small objects, so that a collection has many to look at. */
  private static void collect(int everyMillis, int liveMib, String times) {
    List<byte[]> live = new ArrayList<>();
    for (int i = 0; i < liveMib * 8192; i++) {
      live.add(new byte[112]);
    }
    try (PrintWriter out = new PrintWriter(new FileOutputStream(times), true)) {
      while (!live.contains(null)) {
        long began = System.currentTimeMillis();
        System.gc();
        out.println(began + " " + System.currentTimeMillis());
        Thread.sleep(everyMillis);
      }
    } catch (InterruptedException | FileNotFoundException e) {
      System.err.println("no more planted pauses: " + e);
    }
  }

  @Override
  public Status read(String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    Map<String, byte[]> record = RECORDS.get(table + "/" + key);
    if (record == null) {
      return Status.NOT_FOUND;
    }
    byte[] fault = record.get(FAULT);
    if (fault != null) {
      return fail(new String(fault, java.nio.charset.StandardCharsets.UTF_8));
    }
    copy(record, fields, result);
    return Status.OK;
  }

  private Status fail(String fault) {
    switch (fault) {
      case "throw":
        throw new IllegalStateException("planted\nin two lines", new RuntimeException(getProperties().getProperty("memory.password")));
      case "null":
        return null;
      case "exit":
        System.err.println("going down with " + getProperties().getProperty("memory.password"));
        Runtime.getRuntime().halt(3);
        return Status.OK;
      case "memory":
        return new byte[3][Integer.MAX_VALUE - 8].length > 0 ? Status.OK : Status.ERROR;
      case "unavailable":
        return Status.SERVICE_UNAVAILABLE;
      case "forbidden":
        return Status.FORBIDDEN;
      case "batched":
        return Status.BATCHED_OK;
      case "absent":
        return Status.NOT_IMPLEMENTED;
      case "hang":
        synchronized (this) {
          while (true) {
            try {
              wait();
            } catch (InterruptedException e) {
              return Status.ERROR;
            }
          }
        }
      default:
        return Status.ERROR;
    }
  }

  private static void copy(Map<String, byte[]> record, Set<String> fields, Map<String, ByteIterator> result) {
    record.forEach((name, value) -> {
      if (fields == null || fields.contains(name)) {
        result.put(name, new ByteArrayByteIterator(value));
      }
    });
  }

  @Override
  public Status scan(String table, String startkey, int recordcount, Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    for (Map<String, byte[]> record : RECORDS.tailMap(table + "/" + startkey).values()) {
      if (result.size() == recordcount) {
        break;
      }
      HashMap<String, ByteIterator> copy = new HashMap<>();
      copy(record, fields, copy);
      result.add(copy);
    }
    return Status.OK;
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    RECORDS.put(table + "/" + key, bytes(values));
    return Status.OK;
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    Map<String, byte[]> changes = bytes(values);
    Map<String, byte[]> changed = RECORDS.computeIfPresent(table + "/" + key, (name, record) -> {
      Map<String, byte[]> next = new HashMap<>(record);
      next.putAll(changes);
      return next;
    });
    return changed == null ? Status.NOT_FOUND : Status.OK;
  }

  @Override
  public Status delete(String table, String key) {
    return RECORDS.remove(table + "/" + key) == null ? Status.NOT_FOUND : Status.OK;
  }

  private static Map<String, byte[]> bytes(Map<String, ByteIterator> values) {
    Map<String, byte[]> bytes = new HashMap<>();
    values.forEach((name, value) -> bytes.put(name, value.toArray()));
    return bytes;
  }
}
