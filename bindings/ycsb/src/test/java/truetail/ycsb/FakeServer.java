package truetail.ycsb;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Answers each connection from a script: after each command the next text, as it is; then it closes.
 *
 * <p>It reads commands by itself, so that what the client writes is checked by other code than wrote it.
 */
final class FakeServer implements Closeable {
  private final ServerSocket listener;
  private final List<List<String>> scripts;
  private final List<String> heard = Collections.synchronizedList(new ArrayList<>());

  /** One connection's script. */
  FakeServer(String... script) throws IOException {
    this(List.of(List.of(script)));
  }

  /** One script for each connection, in order. */
  FakeServer(List<List<String>> scripts) throws IOException {
    this.scripts = scripts;
    listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread thread = new Thread(this::serve);
    thread.setDaemon(true);
    thread.start();
  }

  int port() {
    return listener.getLocalPort();
  }

  /** The commands that came, words joined by a space. */
  List<String> heard() {
    return List.copyOf(heard);
  }

  private void serve() {
    try {
      for (List<String> script : scripts) {
        try (Socket socket = listener.accept()) {
          InputStream in = socket.getInputStream();
          for (String answer : script) {
            heard.add(command(in));
            socket.getOutputStream().write(answer.getBytes(StandardCharsets.ISO_8859_1));
          }
        }
      }
      listener.close();
    } catch (IOException e) {
      heard.add("the client went away: " + e.getMessage());
    }
  }

  private static String command(InputStream in) throws IOException {
    int count = header(in, '*');
    List<String> words = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int length = header(in, '$');
      words.add(new String(in.readNBytes(length), StandardCharsets.ISO_8859_1));
      if (in.read() != '\r' || in.read() != '\n') {
        throw new IOException("a word without its end");
      }
    }
    return String.join(" ", words);
  }

  private static int header(InputStream in, char type) throws IOException {
    if (in.read() != type) {
      throw new IOException("no " + type);
    }
    StringBuilder digits = new StringBuilder();
    for (int b = in.read(); b != '\r'; b = in.read()) {
      digits.append((char) b);
    }
    if (in.read() != '\n') {
      throw new IOException("no line feed");
    }
    return Integer.parseInt(digits.toString());
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }
}
