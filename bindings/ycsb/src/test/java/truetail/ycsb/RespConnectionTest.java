package truetail.ycsb;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import org.junit.Test;

public class RespConnectionTest {
  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  /** What the client makes of a server's bytes. */
  private static Object reply(String answer) throws IOException {
    try (FakeServer server = new FakeServer(answer);
        RespConnection connection = new RespConnection("127.0.0.1", server.port(), 0)) {
      return connection.call(bytes("PING"));
    }
  }

  @Test
  public void everyKindOfReplyIsRead() throws IOException {
    assertArrayEquals(bytes("PONG"), (byte[]) reply("+PONG\r\n"));
    assertEquals(-7L, reply(":-7\r\n"));
    assertArrayEquals(bytes("a\r\nb"), (byte[]) reply("$4\r\na\r\nb\r\n"));
    assertArrayEquals(new byte[0], (byte[]) reply("$0\r\n\r\n"));
    assertNull(reply("$-1\r\n"));
    assertNull(reply("*-1\r\n"));
    assertEquals(new RespConnection.RespError("ERR no"), reply("-ERR no\r\n"));
    List<?> nested = (List<?>) reply("*3\r\n:1\r\n*1\r\n$1\r\nx\r\n$-1\r\n");
    assertEquals(1L, nested.get(0));
    assertArrayEquals(bytes("x"), (byte[]) ((List<?>) nested.get(1)).get(0));
    assertNull(nested.get(2));
  }

  @Test
  public void bytesThatAreNotRespAreRefused() {
    List<String> wrong = List.of("?\r\n", "\r\n", ":x\r\n", ":\r\n", "$-2\r\n", "$999999999999\r\n", "*-2\r\n", "*1048577\r\n",
        "$1\r\nab\r\n", "+a\rb\r\n", "*1\r\n".repeat(RespConnection.DEPTH_MAX + 1), ":99999999999999999999\r\n",
        "+" + "a".repeat(RespConnection.LINE_MAX + 1));
    for (String answer : wrong) {
      assertThrows(answer, RespException.class, () -> reply(answer));
    }
  }

  @Test
  public void anEndInTheMiddleIsAnEnd() {
    for (String answer : List.of("", "+PON", "$4\r\nab", "*2\r\n:1\r\n", "$1\r\na", "$536870912\r\nabc")) {
      assertThrows(answer, EOFException.class, () -> reply(answer));
    }
  }

  @Test
  public void longStringsComeWhole() throws IOException {
    String text = "0123456789".repeat(10_000);
    assertArrayEquals(bytes(text), (byte[]) reply("$100000\r\n" + text + "\r\n"));
  }

  @Test
  public void stagedCommandsAreAnsweredInOrder() throws IOException {
    try (FakeServer server = new FakeServer(":1\r\n", "+two\r\n", "$5\r\nthree\r\n");
        RespConnection connection = new RespConnection("127.0.0.1", server.port(), 0)) {
      connection.stage(bytes("A"), new byte[0]);
      connection.stage(bytes("B"), bytes("x".repeat(5_000)));
      connection.stage(bytes("C"), new byte[] {0, (byte) 0xff, '\r', '\n'});
      connection.send();
      assertEquals(1L, connection.reply());
      assertArrayEquals(bytes("two"), (byte[]) connection.reply());
      assertArrayEquals(bytes("three"), (byte[]) connection.reply());
      assertEquals(List.of("A ", "B " + "x".repeat(5_000), "C \u0000\u00ff\r\n"), server.heard());
    }
  }

  @Test
  public void randomBytesNeverHangOrBreakOut() throws IOException {
    java.util.Random random = new java.util.Random(1);
    String alphabet = "+-:$*\r\n0123456789ab";
    for (int i = 0; i < 300; i++) {
      StringBuilder answer = new StringBuilder();
      for (int length = random.nextInt(40); length > 0; length--) {
        answer.append(alphabet.charAt(random.nextInt(alphabet.length())));
      }
      try {
        reply(answer.toString());
      } catch (RespException | EOFException e) {
        assertTrue(e.getMessage().length() < 200);
      }
    }
    assertEquals(Collections.emptyList(), reply("*0\r\n"));
  }
}
