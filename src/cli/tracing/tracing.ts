/**
 * startTracing(): sends what a process records as traces, to the OpenTelemetry collector that a flag or the standard variables name.
 *
 * Guarantees: without them nothing is loaded and nothing is recorded for it. A collector that does not respond never delays a
 * reconcile: at most 2048 spans wait, and the rest is dropped; it is logged once, and once more when it responds again. What is
 * queued at a stop is sent within 5 s.
 */
import type { Clock } from "../../async/mod.ts";
import { aborted } from "../../async/mod.ts";
import type { Runnable } from "../../manager/mod.ts";
import {
  errorText,
  type Logger,
  logger,
  type MetricsRegistry,
  type Recording,
  type RecordingReader,
} from "../../observe/mod.ts";
import type { Environment } from "../../runtime/mod.ts";

/** Milliseconds for the last requests, in the order of a stop. */
const maxFlushMs = 5_000;

/** Whether and where to send traces. */
export interface TracingTarget {
  /** From the flag; the standard variables are read by the SDK itself. */
  readonly endpoint?: string;
}

/** Returns where to send traces; undefined: nowhere. @param endpoint the value of the flag */
export function tracingTarget(endpoint: string | undefined, environment: Environment): TracingTarget | undefined {
  const isSet = (name: string) => (environment[name] ?? "").trim() !== "";
  if (isTrue(environment["OTEL_SDK_DISABLED"]) || environment["OTEL_TRACES_EXPORTER"] === "none") return undefined;
  if (endpoint !== undefined) return { endpoint };
  const isAsked = isSet("OTEL_EXPORTER_OTLP_ENDPOINT") || isSet("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
  return isAsked ? {} : undefined;
}

function isTrue(value = ""): boolean {
  return value.trim().toLowerCase() === "true";
}

/** Options of {@link startTracing}. */
export interface TracingOptions {
  readonly target: TracingTarget;
  /** Name and version of the program. */
  readonly name: string;
  readonly version: string;
  readonly recording: RecordingReader & Pick<Recording, "traceBy">;
  readonly metrics: MetricsRegistry;
  readonly clock: Clock;
  /** @default logger("tracing") */
  readonly log?: Logger;
}

/** Starts reading the recording. @returns what ends it, for the Manager's phase that stops last */
export async function startTracing(options: TracingOptions): Promise<Runnable> {
  const { target: { endpoint }, name, version, recording, metrics, clock, log = logger("tracing") } = options;
  const [{ createProvider }, { SpanReader }] = await Promise.all([import("./otlp.ts"), import("./span_reader.ts")]);
  const provider = createProvider({ name, version, endpoint, onExport: exportReporter(log) });
  const reader = new SpanReader({ tracer: provider.tracer, metrics });
  const tracing = recording.traceBy((start) => reader.traceparentOf(start));
  const subscription = recording.subscribe((entry) => {
    try {
      reader.read(entry);
    } catch (error) {
      subscription[Symbol.dispose]();
      tracing[Symbol.dispose]();
      log.error("tracing failed, sending no more traces", { error });
    }
  });
  log.info("sending traces", { endpoint: endpoint ?? "OTEL_EXPORTER_OTLP_ENDPOINT" });
  return {
    name: "tracing",
    async run({ stop }) {
      await aborted(stop);
      subscription[Symbol.dispose]();
      tracing[Symbol.dispose]();
      reader.endAll();
      const waiting = new AbortController();
      const late = clock.sleep(maxFlushMs, waiting.signal).then(() =>
        log.warn("dropping traces, the collector is slow")
      );
      await Promise.race([provider.shutdown().catch((error) => log.debug("stopping traces failed", { error })), late]);
      waiting.abort();
      await late.catch(() => undefined);
    },
  };
}

/** Logs the first of several failures, and the first success after it. */
function exportReporter(log: Logger): (error: Error | undefined) => void {
  let isFailing = false;
  return (error) => {
    if (error !== undefined && !isFailing) {
      log.warn("the collector does not take traces, dropping them until it does", { error: errorText(error) });
    }
    if (error === undefined && isFailing) log.info("the collector takes traces again");
    isFailing = error !== undefined;
  };
}
