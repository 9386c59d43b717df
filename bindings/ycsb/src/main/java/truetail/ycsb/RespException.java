package truetail.ycsb;

import java.io.IOException;

/** Bytes that are not RESP: the connection can't be used any more, since nobody knows where the next reply begins. */
final class RespException extends IOException {
  private static final long serialVersionUID = 1L;

  RespException(String message) {
    super(message);
  }
}
