package truetail.ycsb;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.HashMap;
import java.util.Set;
import java.util.Vector;
import org.junit.Test;
import site.ycsb.Status;

public class PostgresClientTest {
  @Test
  public void namesAreIdentifiersOrNothingIsSent() {
    for (String good : new String[] {"usertable", "FIELD0", "_x1"}) {
      assertTrue(good, PostgresClient.isIdentifier(good));
    }
    for (String bad : new String[] {"", "1a", "a b", "a;drop table b", "a\"", "a".repeat(64)}) {
      assertFalse(bad, PostgresClient.isIdentifier(bad));
    }
    // There is no connection: whoever got as far as asking would get another status.
    PostgresClient client = new PostgresClient();
    assertEquals(Status.BAD_REQUEST, client.read("a b", "k", null, new HashMap<>()));
    assertEquals(Status.BAD_REQUEST, client.read("t", "k", Set.of("x, y"), new HashMap<>()));
    assertEquals(Status.BAD_REQUEST, client.scan("t", "k", 1, Set.of("1"), new Vector<>()));
    assertEquals(Status.BAD_REQUEST, client.update("t", "k", new HashMap<>()));
    assertEquals(Status.BAD_REQUEST, client.delete("t'", "k"));
  }
}
