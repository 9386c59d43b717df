package truetail.ycsb;

import java.util.Properties;
import java.lang.reflect.Method;
import site.ycsb.Utils;
import site.ycsb.generator.AcknowledgedCounterGenerator;
import site.ycsb.generator.ExponentialGenerator;
import site.ycsb.generator.HotspotIntegerGenerator;
import site.ycsb.generator.NumberGenerator;
import site.ycsb.generator.ScrambledZipfianGenerator;
import site.ycsb.generator.SkewedLatestGenerator;
import site.ycsb.generator.ZipfianGenerator;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

/**
 * Writes what YCSB's own generators give: {@code crates/workload/tests/golden/ycsb.txt}. Not a test; run it by hand.
 */
public final class Golden {
  private static final int DRAWS = 400_000;

  public static void main(String[] args) throws Exception {
    for (long n : new long[] {0, 1, 2, 3, 9, 10, 255, 256, 999, 1000, 65535, 65536, 123456789L, 4294967296L, 999999999999L}) {
      System.out.println("hash\t" + n + "\t" + Utils.hash(n));
    }
    String[][] keys = {{"hashed", "1"}, {"ordered", "1"}, {"ordered", "12"}, {"hashed", "24"}};
    for (String[] k : keys) {
      for (long n : new long[] {0, 7, 1234}) {
        System.out.println("key\t" + k[0] + "\t" + k[1] + "\t" + n + "\t" + key(k[0], k[1], n));
      }
    }
    for (int size : new int[] {1, 5, 12, 40, 100}) {
      for (int f : new int[] {0, 9}) {
        String key = "user" + Utils.hash(3 + f);
        System.out.println("value\t" + key + "\t" + f + "\t" + size + "\t" + deterministic(key, "field" + f, size));
      }
    }
    law("scrambled 0..1000", new ScrambledZipfianGenerator(0, 1000), 1001);
    law("zipfian 0..999", new ZipfianGenerator(0, 999), 1000);
    law("zipfian 1..100", new ZipfianGenerator(1, 100), 101);
    law("hotspot 0..999", new HotspotIntegerGenerator(0, 999, 0.2, 0.8), 1000);
    AcknowledgedCounterGenerator basis = new AcknowledgedCounterGenerator(1000);
    law("latest of 1000", new SkewedLatestGenerator(basis), 1000);
    ExponentialGenerator e = new ExponentialGenerator(95, 1000 * 0.8571428571);
    NumberGenerator newest = new NumberGenerator() {
      @Override public Number nextValue() {
        long k;
        do { k = basis.lastValue() - e.nextValue().intValue(); } while (k < 0);
        return k;
      }
      @Override public double mean() { return 0; }
    };
    law("exponential of 1000", newest, 1000);
  }

  private static CoreWorkload workload(String... pairs) throws Exception {
    Properties p = new Properties();
    p.setProperty("recordcount", "10");
    p.setProperty("operationcount", "10");
    for (int i = 0; i < pairs.length; i += 2) {
      p.setProperty(pairs[i], pairs[i + 1]);
    }
    Measurements.setProperties(p);
    CoreWorkload w = new CoreWorkload();
    w.init(p);
    return w;
  }

  private static Object call(CoreWorkload w, String name, Class<?>[] types, Object... values) throws Exception {
    Method m = CoreWorkload.class.getDeclaredMethod(name, types);
    m.setAccessible(true);
    return m.invoke(w, values);
  }

  private static String key(String order, String padding, long n) throws Exception {
    CoreWorkload w = workload("insertorder", order, "zeropadding", padding);
    return (String) call(w, "buildKeyName", new Class<?>[] {long.class}, n);
  }

  private static String deterministic(String key, String field, int size) throws Exception {
    CoreWorkload w = workload("fieldlength", Integer.toString(size));
    return (String) call(w, "buildDeterministicValue", new Class<?>[] {String.class, String.class}, key, field);
  }

  /** So many draws of each number. */
  private static void law(String name, NumberGenerator g, int numbers) {
    long[] counts = new long[numbers];
    for (int i = 0; i < DRAWS; i++) { counts[g.nextValue().intValue()]++; }
    StringBuilder b = new StringBuilder("law\t" + name + "\t" + DRAWS);
    for (long c : counts) { b.append(b.length() > 0 ? "\t" : "").append(c); }
    System.out.println(b);
  }
}
