package truetail.ycsb;

import java.lang.management.ManagementFactory;
import java.lang.management.RuntimeMXBean;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Prints what the clocks of this JVM show at one moment, once, to standard error. A JVM's log whose lines have an uptime alone
 * can then be laid over a recording: append the line to the log, or let whoever started this program do it.
 */
final class JvmAnchor {
  private static final AtomicBoolean PRINTED = new AtomicBoolean();

  private JvmAnchor() {
  }

  /** Does nothing from the second call on. */
  static void printOnce() {
    if (PRINTED.compareAndSet(false, true)) {
      System.err.println(line());
    }
  }

  /** The uptime is told in whole milliseconds; the other clocks are read right before it. */
  static String line() {
    RuntimeMXBean runtime = ManagementFactory.getRuntimeMXBean();
    runtime.getUptime(); // The first call loads classes.
    long wall = System.currentTimeMillis();
    long nanos = System.nanoTime();
    long uptime = runtime.getUptime();
    return "truetail-jvm-anchor uptime_ns=" + uptime * 1_000_000 + " nano_time=" + nanos + " wall_ms=" + wall;
  }
}
