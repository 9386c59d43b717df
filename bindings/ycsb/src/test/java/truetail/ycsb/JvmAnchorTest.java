package truetail.ycsb;

import static org.junit.Assert.assertTrue;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.Test;

public class JvmAnchorTest {
  private static final Pattern LINE =
      Pattern.compile("truetail-jvm-anchor uptime_ns=(\\d+)000000 nano_time=(\\d+) wall_ms=(\\d+)");

  @Test
  public void theClocksAreOfOneMoment() {
    long before = System.nanoTime();
    Matcher line = LINE.matcher(JvmAnchor.line());
    long after = System.nanoTime();
    assertTrue(line.matches());
    long nanos = Long.parseLong(line.group(2));
    assertTrue(before <= nanos && nanos <= after);
    assertTrue(Long.parseLong(line.group(1)) > 0);
    assertTrue(Long.parseLong(line.group(3)) <= System.currentTimeMillis());
  }
}
