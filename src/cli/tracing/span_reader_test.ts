import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { type Entry, MetricsRegistry } from "../../observe/mod.ts";
import { parseTraceparent, SpanReader } from "./span_reader.ts";

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

function createReader() {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const metrics = new MetricsRegistry();
  const reader = new SpanReader({ tracer: provider.getTracer("test"), metrics });
  const spans = () => exporter.getFinishedSpans();
  const named = (name: string) => {
    const found = spans().filter((span) => span.name === name);
    assert(found.length > 0, `no ${name} among ${spans().map((span) => span.name)}`);
    return found;
  };
  return { reader, metrics, spans, named };
}

const foo = { resource: "foos.example.dev", kind: "Foo", key: "default/a" };
const deployment = { resource: "deployments.apps", kind: "Deployment", key: "default/web" };
const own = { controller: "foo", key: "default/a" };

/** A reconcile that applies a Deployment, whose change another reconcile sees. */
const entries: readonly Entry[] = [
  {
    id: 1,
    at: 1_000,
    causes: [],
    kind: "change",
    via: "watch",
    change: "updated",
    object: foo,
    fields: [
      { path: 'metadata.annotations["a.dev/traceparent"]', to: traceparent },
      { path: "spec.password", to: "hunter2" },
    ],
  },
  { id: 2, at: 1_001, causes: [1], ...own, kind: "enqueue", object: foo, role: "for", decision: "queued" },
  { id: 3, at: 1_010, causes: [2], ...own, kind: "reconcile-start", waitedMs: 9, priority: 0, retries: 0 },
  { id: 4, at: 1_011, causes: [3], ...own, kind: "read", from: "cache", object: deployment },
  {
    id: 5,
    at: 1_050,
    causes: [3],
    ...own,
    kind: "write",
    verb: "apply",
    object: deployment,
    fieldManager: "foo",
    durationMs: 30,
    body: { spec: { password: "hunter2" } },
    answer: { kind: "stored", resourceVersion: "7" },
  },
  { id: 6, at: 1_051, causes: [3], ...own, kind: "event", type: "Normal", reason: "Synced", note: "done", object: foo },
  {
    id: 7,
    at: 1_060,
    causes: [3],
    ...own,
    kind: "write",
    verb: "patch",
    object: foo,
    subresource: "status",
    durationMs: 5,
    answer: { kind: "failed", code: 409, reason: "Conflict", message: "it has changed" },
  },
  {
    id: 8,
    at: 1_070,
    causes: [3],
    ...own,
    kind: "reconcile-end",
    outcome: "failed",
    durationMs: 60,
    error: "Cannot patch",
  },
  { id: 9, at: 1_071, causes: [8], ...own, kind: "queue", decision: "backoff", delayMs: 5, retries: 1 },
  { id: 10, at: 1_080, causes: [5], kind: "change", via: "watch", change: "added", object: deployment },
  { id: 11, at: 1_081, causes: [10], ...own, kind: "enqueue", object: deployment, role: "owns", decision: "queued" },
  { id: 12, at: 1_082, causes: [9, 11], ...own, kind: "reconcile-start", waitedMs: 1, priority: 0, retries: 1 },
  { id: 13, at: 1_090, causes: [12], ...own, kind: "reconcile-end", outcome: "done", durationMs: 8 },
];

test("[125] a reconcile is a span with its writes inside, and links to the spans that caused it", () => {
  const { reader, named, spans } = createReader();
  for (const entry of entries) reader.read(entry);
  const [first, second] = named("reconcile foo");
  const [apply] = named("apply deployments.apps"), [patch] = named("patch foos.example.dev/status");
  assert(first !== undefined && second !== undefined && apply !== undefined && patch !== undefined);
  for (const inner of [apply, patch]) {
    assertEquals(inner.parentSpanContext?.spanId, first.spanContext().spanId);
    assertEquals(inner.spanContext().traceId, first.spanContext().traceId);
  }
  assertEquals([apply.startTime, apply.endTime], [[1, 20_000_000], [1, 50_000_000]]);
  assertEquals([first.startTime, first.endTime], [[1, 10_000_000], [1, 70_000_000]]);
  assertEquals([first.parentSpanContext, second.parentSpanContext], [undefined, undefined]);
  // The annotation of a peer; then the reconcile that failed, and the write that the watch has shown.
  assertEquals(first.links.map(({ context }) => context), [parseTraceparent(traceparent)]);
  assertEquals(
    second.links.map(({ context }) => context.spanId),
    [first, apply].map((span) => span.spanContext().spanId),
  );
  assertEquals([first.status, patch.status, apply.status].map(({ code, message }) => [code, message]), [
    [2, "Cannot patch"],
    [2, "it has changed"],
    [0, undefined],
  ]);
  assertEquals([first.attributes["pintle.outcome"], second.attributes["pintle.outcome"]], ["failed", "done"]);
  assertEquals(first.events.map(({ name }) => name), ["event"]);
  assertEquals(patch.attributes["http.response.status_code"], 409);
  assert(
    !JSON.stringify(spans().map(({ attributes, events, links, status }) => [attributes, events, links, status]))
      .includes("hunter2"),
  );
});

test("[125] the histograms of reconciles get the span as an exemplar", async () => {
  const { reader, metrics, named } = createReader();
  const seconds = metrics.histogram({
    name: "controller_runtime_reconcile_time_seconds",
    help: "x",
    labelNames: ["controller"],
  });
  seconds.labels({ controller: "foo" }).observe(0.06);
  for (const entry of entries.slice(0, 8)) reader.read(entry);
  const [span] = named("reconcile foo");
  const { traceId, spanId } = span?.spanContext() ?? {};
  const text = await metrics.render("openmetrics");
  assert(text.includes(`le="0.1"} 1 # {trace_id="${traceId}",span_id="${spanId}"} 0.06 1.07`), text);
});

test("[125] a review is a span of its own, and what has no known cause has no link", () => {
  const { reader, named } = createReader();
  reader.read({
    id: 1,
    at: 50,
    causes: [],
    kind: "review",
    webhook: "validating",
    path: "/v",
    operation: "CREATE",
    object: foo,
    isAllowed: false,
    message: "no",
    traceparent,
    durationMs: 20,
  });
  reader.read({ id: 3, at: 60, causes: [2], ...own, kind: "reconcile-start", waitedMs: 1, priority: 0, retries: 0 });
  reader.endAll();
  const [review] = named("validating foos.example.dev"), [reconcile] = named("reconcile foo");
  assertEquals([review?.startTime, review?.attributes["pintle.allowed"]], [[0, 30_000_000], false]);
  assertEquals(review?.parentSpanContext, parseTraceparent(traceparent));
  assertEquals(reconcile?.links, []);
});

test("[125] what is remembered for links is bounded, and running reconciles are not", () => {
  const { reader, named } = createReader();
  for (const entry of entries.slice(0, 3)) reader.read(entry);
  for (let id = 1_000; id < 25_000; id++) {
    reader.read({ id, at: 2_000, causes: [3], ...own, kind: "enqueue", object: foo, role: "for", decision: "queued" });
  }
  reader.read({
    id: 30_000,
    at: 3_000,
    causes: [1],
    ...own,
    kind: "reconcile-start",
    waitedMs: 1,
    priority: 0,
    retries: 0,
  });
  reader.read({ id: 30_001, at: 3_001, causes: [3], ...own, kind: "reconcile-end", outcome: "done", durationMs: 1 });
  reader.endAll();
  assertEquals(named("reconcile foo").map(({ links }) => links.length), [1, 0]);
});

test("[125] a traceparent is read strictly", () => {
  assertEquals(parseTraceparent(traceparent)?.spanId, "b7ad6b7169203331");
  for (
    const text of [
      "",
      "00-0-0-01",
      traceparent.toUpperCase(),
      traceparent.replace(/[0-9a-f]{16}-01$/, `${"0".repeat(16)}-01`),
    ]
  ) {
    assertEquals(parseTraceparent(text), undefined, text);
  }
});
