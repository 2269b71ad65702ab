package bench;

import io.javaoperatorsdk.operator.Operator;

/**
 * The peer of the Java Operator SDK, one program with a subcommand for each case. It speaks the protocol of
 * bench/protocol.ts: a line on stdout as soon as the measured work is done, then it stays until its stdin ends.
 */
public final class Main {

  private Main() {}

  public static void main(String[] args) throws Exception {
    switch (args.length == 0 ? "" : args[0]) {
      case "sync" -> sync();
      case "idle" -> idle();
      case "reconcile" -> reconcile(flag(args, "objects"), flag(args, "workers"));
      case "latency" -> latency();
      default -> {
        System.err.println("usage: peer-josdk sync|idle|reconcile --objects=N --workers=N|latency");
        System.exit(2);
      }
    }
    System.exit(0);
  }

  private static void sync() throws Exception {
    var reconciler = new SyncReconciler();
    var operator = new Operator();
    operator.<Foo>register(reconciler, controller -> controller.withOnAddFilter(foo -> false));
    operator.start();
    Stdio.report("{\"kind\":\"synced\",\"objects\":" + reconciler.cached() + "}");
    Stdio.untilInputEnds();
  }

  /** The operator of the case reconcile on an empty cluster. */
  private static void idle() throws Exception {
    start(new FooReconciler(0), 2);
    Stdio.report("{\"kind\":\"synced\",\"objects\":0}");
    Stdio.untilInputEnds();
  }

  private static void reconcile(int objects, int workers) throws Exception {
    var reconciler = new FooReconciler(objects);
    start(reconciler, workers);
    reconciler.untilFinished();
    Stdio.report(
        "{\"kind\":\"reconciled\",\"objects\":" + objects + ",\"reconciles\":" + reconciler.reconciles.get() + "}");
    Stdio.untilInputEnds();
  }

  /** Returns once the caches are synced. */
  private static void start(FooReconciler reconciler, int workers) {
    var operator = new Operator(
        overrides -> overrides.withConcurrentReconciliationThreads(workers).withMetrics(reconciler));
    operator.register(reconciler);
    operator.start();
  }

  private static void latency() throws Exception {
    var reconciler = new LatencyReconciler();
    var operator = new Operator();
    operator.register(reconciler);
    operator.start();
    Stdio.report("{\"kind\":\"synced\",\"objects\":0}");
    Stdio.untilAsked();
    Stdio.report(reconciler.line());
    Stdio.untilInputEnds();
  }

  private static int flag(String[] args, String name) {
    var start = "--" + name + "=";
    for (var arg : args) {
      if (arg.startsWith(start)) return Integer.parseInt(arg.substring(start.length()));
    }
    throw new IllegalArgumentException("Cannot run without " + start + "N");
  }
}
