package truetail.ycsb;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.Vector;
import org.junit.Test;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

public class RespClientTest {
  private static RespClient client(int port, String... settings) throws DBException {
    Properties properties = new Properties();
    properties.setProperty("resp.port", Integer.toString(port));
    for (int i = 0; i < settings.length; i += 2) {
      properties.setProperty(settings[i], settings[i + 1]);
    }
    RespClient client = new RespClient();
    client.setProperties(properties);
    client.init();
    return client;
  }

  private static Map<String, ByteIterator> values(String... pairs) {
    Map<String, ByteIterator> values = new TreeMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      values.put(pairs[i], new StringByteIterator(pairs[i + 1]));
    }
    return values;
  }

  @Test
  public void recordsAreHashesAndAnIndex() throws IOException, DBException {
    String[] script = {":2\r\n", ":1\r\n", ":0\r\n", "*4\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\nb\r\n$1\r\n2\r\n",
        "*2\r\n$1\r\n2\r\n$-1\r\n", ":1\r\n", ":1\r\n"};
    try (FakeServer server = new FakeServer(script)) {
      RespClient client = client(server.port());
      assertEquals(Status.OK, client.insert("t", "k", values("a", "1", "b", "2")));
      assertEquals(Status.OK, client.update("t", "k", values("b", "2")));
      Map<String, ByteIterator> all = new HashMap<>();
      assertEquals(Status.OK, client.read("t", "k", null, all));
      assertEquals("2", all.get("b").toString());
      Map<String, ByteIterator> some = new HashMap<>();
      assertEquals(Status.OK, client.read("t", "k", new java.util.TreeSet<>(Set.of("b", "c")), some));
      assertEquals(Set.of("b"), some.keySet());
      assertEquals(Status.OK, client.delete("t", "k"));
      client.cleanup();
      int score = "k".hashCode();
      assertEquals(List.of("HSET k a 1 b 2", "ZADD _indices " + score + " k", "HSET k b 2", "HGETALL k", "HMGET k b c", "DEL k",
          "ZREM _indices k"), server.heard());
    }
  }

  @Test
  public void scansReadAllRecordsInOneRound() throws IOException, DBException {
    String[] script = {"*2\r\n$1\r\nk\r\n$1\r\nl\r\n", "*2\r\n$1\r\na\r\n$1\r\n1\r\n", "*0\r\n"};
    try (FakeServer server = new FakeServer(script)) {
      RespClient client = client(server.port());
      Vector<HashMap<String, ByteIterator>> result = new Vector<>();
      assertEquals(Status.OK, client.scan("t", "k", 2, null, result));
      assertEquals("l is gone by now", 1, result.size());
      assertEquals("ZRANGEBYSCORE _indices " + "k".hashCode() + " +inf LIMIT 0 2", server.heard().get(0));
      assertEquals(List.of("HGETALL k", "HGETALL l"), server.heard().subList(1, 3));
    }
  }

  @Test
  public void withoutAnIndexEachOperationIsOneCommand() throws IOException, DBException {
    try (FakeServer server = new FakeServer(":1\r\n", ":0\r\n", "*0\r\n")) {
      RespClient client = client(server.port(), "resp.index", "false");
      assertEquals(Status.OK, client.insert("t", "k", values("a", "1")));
      assertEquals(Status.NOT_FOUND, client.delete("t", "k"));
      assertEquals(Status.NOT_FOUND, client.read("t", "k", null, new HashMap<>()));
      assertEquals(Status.NOT_IMPLEMENTED, client.scan("t", "k", 1, null, new Vector<>()));
      assertEquals(List.of("HSET k a 1", "DEL k", "HGETALL k"), server.heard());
    }
  }

  @Test
  public void underNoopEveryOperationIsAPing() throws IOException, DBException {
    try (FakeServer server = new FakeServer("+PONG\r\n", "+PONG\r\n", "+PONG\r\n", "+PONG\r\n", "+OK\r\n")) {
      RespClient client = client(server.port(), "truetail.noop", "true");
      Vector<HashMap<String, ByteIterator>> rows = new Vector<>();
      assertEquals(Status.OK, client.read("t", "k", null, new HashMap<>()));
      assertEquals(Status.OK, client.scan("t", "k", 2, null, rows));
      assertEquals(Status.OK, client.insert("t", "k", values("a", "1")));
      assertEquals(Status.OK, client.update("t", "k", values("a", "1")));
      assertEquals("another answer", Status.ERROR, client.delete("t", "k"));
      assertEquals(List.of("PING", "PING", "PING", "PING", "PING"), server.heard());
      assertTrue(rows.isEmpty());
    }
  }

  @Test
  public void errorsOfTheServerKeepTheConnection() throws IOException, DBException {
    try (FakeServer server = new FakeServer("-BUSY later\r\n", "$1\r\nx\r\n", "-ERR one\r\n", ":1\r\n", ":1\r\n")) {
      RespClient client = client(server.port());
      assertEquals(Status.ERROR, client.update("t", "k", values("a", "1")));
      assertEquals(Status.ERROR, client.update("t", "k", values("a", "1")));
      assertEquals("the second reply is read, too", Status.ERROR, client.insert("t", "k", values("a", "1")));
      assertEquals(Status.OK, client.update("t", "k", values("a", "1")));
      assertEquals(5, server.heard().size());
    }
  }

  @Test
  public void aLostConnectionFailsOneOperationAndIsMadeAnew() throws IOException, DBException {
    try (FakeServer server = new FakeServer(List.of(List.of(":1\r\n", "*1\r\nnonsense"), List.of(":1\r\n"), List.of(":1\r\n")))) {
      RespClient client = client(server.port());
      assertEquals(Status.OK, client.update("t", "k", values("a", "1")));
      assertEquals("nonsense", Status.ERROR, client.read("t", "k", null, new HashMap<>()));
      assertEquals("anew", Status.OK, client.update("t", "k", values("a", "2")));
      assertEquals("closed by the server", Status.ERROR, client.update("t", "k", values("a", "3")));
      assertEquals("not retried: a command that may have been carried out is not sent again", Status.OK,
          client.update("t", "k", values("a", "4")));
      assertEquals(List.of("HSET k a 1", "HGETALL k", "HSET k a 2", "HSET k a 4"), server.heard());
    }
  }

  @Test
  public void itLogsInFirst() throws IOException, DBException {
    try (FakeServer server = new FakeServer("+OK\r\n", "+OK\r\n")) {
      client(server.port(), "resp.user", "u", "resp.password", "p", "resp.database", "3");
      assertEquals(List.of("AUTH u p", "SELECT 3"), server.heard());
    }
    try (FakeServer server = new FakeServer("-WRONGPASS no\r\n")) {
      DBException error = assertThrows(DBException.class, () -> client(server.port(), "resp.password", "secret"));
      assertTrue(error.getMessage(), error.getMessage().contains("WRONGPASS"));
      assertTrue(error.getMessage(), !error.getMessage().contains("secret"));
    }
  }

  @Test
  public void settingsThatCanNotBeAreNamed() {
    for (String[] wrong : new String[][] {{"resp.port", "0"}, {"resp.index", "yes"}, {"resp.timeout", "1s"}}) {
      DBException error = assertThrows(DBException.class, () -> client(1, wrong));
      assertTrue(error.getMessage(), error.getMessage().startsWith(wrong[0] + " is `" + wrong[1] + "`; give"));
    }
  }
}
