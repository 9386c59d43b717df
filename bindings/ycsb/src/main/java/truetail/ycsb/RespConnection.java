package truetail.ycsb;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * RESP2 over one socket: commands are gathered and sent with one write, replies are read one by one.
 *
 * <p>A reply is a {@code Long}, a {@code byte[]}, a {@code List<Object>}, a {@link RespError}, or null. Simple strings are
 * {@code byte[]} like bulk strings.
 */
final class RespConnection implements Closeable {
  /** What a server said instead of an answer. The connection goes on. */
  record RespError(String message) {}

  /** Redis's own limit of a bulk string. */
  static final int BULK_MAX = 512 << 20;

  /** Longest line before CRLF: numbers, simple strings, errors. */
  static final int LINE_MAX = 64 << 10;

  /** Most elements of an array. */
  static final int ARRAY_MAX = 1 << 20;

  /** Deepest nesting of arrays. */
  static final int DEPTH_MAX = 8;

  private static final byte[] CRLF = {'\r', '\n'};

  private final Socket socket;
  private final InputStream in;
  private final OutputStream out;
  private byte[] staged = new byte[4096];
  private int stagedLength;
  private final byte[] read = new byte[16 << 10];
  private int readAt;
  private int readEnd;

  /**
   * Connects.
   *
   * @param timeoutMillis for connecting and for each read; 0 waits for ever
   */
  RespConnection(String host, int port, int timeoutMillis) throws IOException {
    socket = new Socket();
    try {
      socket.setTcpNoDelay(true);
      socket.connect(new InetSocketAddress(host, port), timeoutMillis);
      socket.setSoTimeout(timeoutMillis);
      in = socket.getInputStream();
      out = socket.getOutputStream();
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  /** Adds a command to what is sent next. */
  void stage(byte[]... words) {
    stageHeader('*', words.length);
    for (byte[] word : words) {
      stageHeader('$', word.length);
      stageBytes(word);
      stageBytes(CRLF);
    }
  }

  /** Sends what is staged. */
  void send() throws IOException {
    try {
      out.write(staged, 0, stagedLength);
    } finally {
      stagedLength = 0;
    }
  }

  /** One command and its reply. */
  Object call(byte[]... words) throws IOException {
    stage(words);
    send();
    return reply();
  }

  /** The next reply, whatever it takes. */
  Object reply() throws IOException {
    return reply(0);
  }

  private Object reply(int depth) throws IOException {
    int type = next();
    switch (type) {
      case '+':
        return line();
      case '-':
        return new RespError(new String(line(), StandardCharsets.UTF_8));
      case ':':
        return number(line());
      case '$':
        return bulk();
      case '*':
        return array(depth);
      default:
        throw new RespException("a reply begins with byte " + type + ", which is none of + - : $ *");
    }
  }

  private byte[] bulk() throws IOException {
    long length = number(line());
    if (length == -1) {
      return null;
    }
    if (length < 0 || length > BULK_MAX) {
      throw new RespException("a string of " + length + " bytes; at most " + BULK_MAX);
    }
    // What the peer states is not reserved before it is there.
    byte[] bytes = new byte[(int) Math.min(length, read.length)];
    int filled = 0;
    while (filled < length) {
      if (filled == bytes.length) {
        bytes = Arrays.copyOf(bytes, (int) Math.min(length, 2L * bytes.length));
      }
      fillIfEmpty();
      int part = Math.min(bytes.length - filled, readEnd - readAt);
      System.arraycopy(read, readAt, bytes, filled, part);
      readAt += part;
      filled += part;
    }
    if (next() != '\r' || next() != '\n') {
      throw new RespException("a string of " + length + " bytes does not end with CRLF");
    }
    return bytes;
  }

  private List<Object> array(int depth) throws IOException {
    long count = number(line());
    if (count == -1) {
      return null;
    }
    if (count < 0 || count > ARRAY_MAX) {
      throw new RespException("an array of " + count + " elements; at most " + ARRAY_MAX);
    }
    if (depth >= DEPTH_MAX) {
      throw new RespException("arrays within arrays, more than " + DEPTH_MAX + " deep");
    }
    List<Object> elements = new ArrayList<>((int) Math.min(count, 64));
    for (long i = 0; i < count; i++) {
      elements.add(reply(depth + 1));
    }
    return elements;
  }

  /** The bytes before CRLF. */
  private byte[] line() throws IOException {
    byte[] line = new byte[32];
    int length = 0;
    while (true) {
      int b = next();
      if (b == '\r') {
        if (next() != '\n') {
          throw new RespException("a carriage return without a line feed");
        }
        return Arrays.copyOf(line, length);
      }
      if (length == LINE_MAX) {
        throw new RespException("a line of more than " + LINE_MAX + " bytes");
      }
      if (length == line.length) {
        line = Arrays.copyOf(line, 2 * length);
      }
      line[length++] = (byte) b;
    }
  }

  private static long number(byte[] line) throws RespException {
    String text = new String(line, StandardCharsets.ISO_8859_1);
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new RespException("`" + text + "` is no number");
    }
  }

  private int next() throws IOException {
    fillIfEmpty();
    return read[readAt++] & 0xff;
  }

  private void fillIfEmpty() throws IOException {
    if (readAt < readEnd) {
      return;
    }
    int count = in.read(read);
    if (count < 0) {
      throw new EOFException("the server closed the connection");
    }
    readAt = 0;
    readEnd = count;
  }

  private void stageHeader(char type, int number) {
    stageBytes((type + Integer.toString(number) + "\r\n").getBytes(StandardCharsets.US_ASCII));
  }

  private void stageBytes(byte[] bytes) {
    int needed = stagedLength + bytes.length;
    if (needed > staged.length) {
      staged = Arrays.copyOf(staged, Math.max(needed, 2 * staged.length));
    }
    System.arraycopy(bytes, 0, staged, stagedLength, bytes.length);
    stagedLength = needed;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
