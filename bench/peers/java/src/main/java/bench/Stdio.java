package bench;

import java.io.IOException;

/** The two sides of bench/protocol.ts: a line out, and waiting for the driver. */
final class Stdio {

  private Stdio() {}

  static void report(String json) {
    System.out.println(json);
    System.out.flush();
  }

  /** Returns when the driver wants the next line. */
  static void untilAsked() throws IOException {
    System.in.read();
  }

  /** Returns when the driver has closed our stdin. */
  static void untilInputEnds() throws IOException {
    System.in.readAllBytes();
  }
}
