package truetail.bridge;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/** Frames over a connection: a length of four bytes, then so many bytes; numbers are big-endian. */
final class Wire {
  private static final int FIRST = 64 * 1024;

  private final SocketChannel channel;
  private ByteBuffer in = ByteBuffer.allocateDirect(FIRST).limit(0);
  private ByteBuffer out = ByteBuffer.allocateDirect(FIRST);
  /** Where the frame that is being read ends. */
  private int end;

  Wire(SocketChannel channel) throws IOException {
    this.channel = channel;
    if (channel.supportedOptions().contains(java.net.StandardSocketOptions.TCP_NODELAY)) {
      channel.setOption(java.net.StandardSocketOptions.TCP_NODELAY, true);
    }
  }

  /** Waits for a whole frame, which is then read by the methods below. */
  void receive() throws IOException {
    in.position(end);
    need(4);
    int length = in.getInt();
    if (length < 0) {
      throw new IOException("a frame of " + length + " bytes");
    }
    need(length);
    end = in.position() + length;
  }

  /** Reads until so many bytes are there. */
  private void need(int bytes) throws IOException {
    while (in.remaining() < bytes) {
      if (in.capacity() - in.position() < bytes) {
        ByteBuffer roomier = bytes <= in.capacity() ? in : ByteBuffer.allocateDirect(Math.max(bytes, 2 * in.capacity()));
        if (roomier == in) {
          in.compact();
        } else {
          roomier.put(in);
          in = roomier;
        }
        in.flip();
      }
      int filled = in.limit();
      ByteBuffer room = in.duplicate();
      room.position(filled).limit(in.capacity());
      if (channel.read(room) < 0) {
        throw new EOFException();
      }
      in.limit(room.position());
    }
  }

  int number() throws IOException {
    require(4);
    return in.getInt();
  }

  byte tag() throws IOException {
    require(1);
    return in.get();
  }

  byte[] bytes() throws IOException {
    int length = number();
    require(length);
    byte[] bytes = new byte[length];
    in.get(bytes);
    return bytes;
  }

  String text() throws IOException {
    return new String(bytes(), StandardCharsets.UTF_8);
  }

  private void require(int bytes) throws IOException {
    if (bytes < 0 || in.position() + bytes > end) {
      throw new IOException("a frame that says more than it holds");
    }
  }

  /** Begins an answer: of its kind, with room for the two times. */
  void begin(byte kind) {
    out.clear();
    out.position(4);
    out.put(kind).putLong(0).putLong(0);
  }

  /** Gives where it stands. */
  int put(int number) {
    room(4);
    int at = out.position();
    out.putInt(number);
    return at;
  }

  /** Puts another number where one stands. */
  void patch(int at, int number) {
    out.putInt(at, number);
  }

  void put(byte[] bytes) {
    put(bytes.length);
    room(bytes.length);
    out.put(bytes);
  }

  void put(String text) {
    put(text.getBytes(StandardCharsets.UTF_8));
  }

  private void room(int bytes) {
    if (out.remaining() < bytes) {
      ByteBuffer roomier = ByteBuffer.allocateDirect(Math.max(out.position() + bytes, 2 * out.capacity()));
      out.flip();
      roomier.put(out);
      out = roomier;
    }
  }

  /** Sends the answer: how long the call took, and how long all took since {@code received}, of System.nanoTime(). */
  void send(long callNanos, long received) throws IOException {
    out.putInt(0, out.position() - 4);
    out.putLong(5, callNanos);
    out.flip();
    out.putLong(13, System.nanoTime() - received);
    while (out.hasRemaining()) {
      channel.write(out);
    }
  }
}
