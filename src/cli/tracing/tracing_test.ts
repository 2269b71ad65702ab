import { createServer, type Server } from "node:http";
import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { until } from "../../../tests/until.ts";
import { systemClock, VirtualClock } from "../../async/mod.ts";
import { type Fields, type Logger, MetricsRegistry, Recording } from "../../observe/mod.ts";
import { startTracing, tracingTarget } from "./mod.ts";

const own = { controller: "foo", key: "default/a" };

/** A logger that keeps `level: message`. */
function recordingLog(lines: string[]): Logger {
  const log = (level: string) => (message: string, _fields?: Fields) => void lines.push(`${level}: ${message}`);
  const made: Logger = {
    debug: log("debug"),
    info: log("info"),
    warn: log("warn"),
    error: log("error"),
    with: () => made,
  };
  return made;
}

/** A collector that answers each request with the status of `statusOf`; undefined: never. */
async function serveCollector(statusOf: () => number | undefined) {
  const paths: string[] = [];
  const server: Server = createServer((request, response) => {
    request.resume().on("end", () => {
      paths.push(`${request.method} ${request.url}`);
      const status = statusOf();
      if (status !== undefined) response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  assert(address !== null && typeof address === "object");
  return {
    paths,
    endpoint: `http://127.0.0.1:${address.port}/`,
    [Symbol.asyncDispose]: () => {
      server.closeAllConnections();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function reconcile(recording: Recording): void {
  const start = recording.record({ kind: "reconcile-start", causes: [], ...own, waitedMs: 0, priority: 0, retries: 0 });
  recording.record({ kind: "reconcile-end", causes: [start], ...own, outcome: "done", durationMs: 1 });
}

test("[125] traces are sent when a flag or the standard variables ask for them, and not otherwise", () => {
  const set = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4318" };
  assertEquals(tracingTarget(undefined, {}), undefined);
  assertEquals(tracingTarget(undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: " " }), undefined);
  assertEquals(tracingTarget(undefined, { OTEL_SERVICE_NAME: "a" }), undefined);
  assertEquals(tracingTarget("http://d:4318", set), { endpoint: "http://d:4318" });
  assertEquals(tracingTarget(undefined, set), {});
  assertEquals(tracingTarget(undefined, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://c/v1/traces" }), {});
  for (const off of [{ OTEL_SDK_DISABLED: "TRUE" }, { OTEL_TRACES_EXPORTER: "none" }]) {
    assertEquals(tracingTarget("http://d:4318", { ...set, ...off }), undefined);
  }
});

test("[125] what is queued at the stop is sent to the collector", async () => {
  await using collector = await serveCollector(() => 200);
  const recording = new Recording({ now: () => 1_000, maxBytes: 0 }), lines: string[] = [];
  const tracing = await startTracing({
    ...{ target: { endpoint: collector.endpoint }, name: "op", version: "1.0.0", recording, log: recordingLog(lines) },
    ...{ metrics: new MetricsRegistry(), clock: systemClock },
  });
  reconcile(recording);
  await tracing.run({ stop: AbortSignal.abort(), kill: new AbortController().signal });
  assertEquals([collector.paths, lines], [["POST /v1/traces"], ["info: sending traces"]]);
});

test("[125] a collector that rejects traces is logged once, and reconciles go on", async () => {
  await using collector = await serveCollector(() => 400);
  const recording = new Recording({ now: () => 1_000, maxBytes: 0 }), lines: string[] = [];
  const tracing = await startTracing({
    ...{ target: { endpoint: collector.endpoint }, name: "op", version: "1.0.0", recording, log: recordingLog(lines) },
    ...{ metrics: new MetricsRegistry(), clock: systemClock },
  });
  // More than one batch of 512 spans: each is a request.
  for (let count = 0; count < 1_100; count++) reconcile(recording);
  await tracing.run({ stop: AbortSignal.abort(), kill: new AbortController().signal });
  assert(collector.paths.length >= 2, `${collector.paths}`);
  assertEquals(lines, [
    "info: sending traces",
    "warn: the collector does not take traces, dropping them until it does",
  ]);
});

test("[125] a collector that never answers delays the stop by five seconds at most", async () => {
  await using collector = await serveCollector(() => undefined);
  const recording = new Recording({ now: () => 1_000, maxBytes: 0 }), lines: string[] = [];
  const clock = new VirtualClock();
  const tracing = await startTracing({
    ...{ target: { endpoint: collector.endpoint }, name: "op", version: "1.0.0", recording, log: recordingLog(lines) },
    ...{ metrics: new MetricsRegistry(), clock },
  });
  reconcile(recording);
  const ended = tracing.run({ stop: AbortSignal.abort(), kill: new AbortController().signal });
  await until(() => collector.paths.length === 1, "the request");
  await clock.advance(5_000);
  await ended;
  assertEquals(lines, ["info: sending traces", "warn: dropping traces, the collector is slow"]);
});
