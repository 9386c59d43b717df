package truetail.ycsb;

/** Says the first error of a session; the others are counted by YCSB as {@code Return=ERROR}. */
final class FirstError {
  private boolean said;

  void say(String operation, String reason) {
    if (!said) {
      said = true;
      System.err.println("truetail-ycsb: " + operation + ": " + reason + " (further errors of this session are only counted)");
    }
  }
}
