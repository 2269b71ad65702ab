package bench;

import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * How long after its update a Foo's reconcile begins. The writer (peers/go/update.go) puts its clock into an annotation;
 * both run on one machine, so it is one clock.
 */
@ControllerConfiguration(generationAwareEventProcessing = false)
class LatencyReconciler implements Reconciler<Foo> {

  /** Holds the nanoseconds since 1970 at which the update was sent. */
  private static final String STAMP_ANNOTATION = "bench.pintle.dev/sent-at";

  /** Leaves out what was stamped for a program that ran before this one. */
  private final long sinceMicros = nowMicros();
  /** The microseconds that each update took, by those at which it was sent. */
  private final Map<Long, Long> updates = new ConcurrentHashMap<>();

  @Override
  public UpdateControl<Foo> reconcile(Foo foo, Context<Foo> context) {
    var begunAt = nowMicros();
    var annotations = foo.getMetadata().getAnnotations();
    var sentAt = Long.parseLong(annotations.getOrDefault(STAMP_ANNOTATION, "0")) / 1000;
    if (sentAt >= sinceMicros) updates.putIfAbsent(sentAt, begunAt - sentAt);
    return UpdateControl.noUpdate();
  }

  /** The line of the protocol. */
  String line() {
    return updates.entrySet().stream()
        .map(update -> "{\"sentAt\":" + update.getKey() + ",\"micros\":" + update.getValue() + "}")
        .collect(Collectors.joining(",", "{\"kind\":\"latencies\",\"updates\":[", "]}"));
  }

  private static long nowMicros() {
    return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
  }
}
