/** Tests of the requests of a reconcile: they name its span, so that the spans of the server are in its trace. */
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { builtin } from "../../api/mod.ts";
import { controller, done, manifest } from "../../controller/mod.ts";
import { createTestManager, namespace } from "../../manager/testing/test_manager.ts";
import { MetricsRegistry, Recording } from "../../observe/mod.ts";
import { SpanReader } from "./span_reader.ts";

const { ConfigMap, Namespace } = builtin;
const named = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/** Writes a ConfigMap into each namespace. */
const writer = controller("writer").for(Namespace).owns(ConfigMap).reconcile(async (ctx) => {
  const { name } = ctx.object.metadata;
  await ctx.apply(manifest(ConfigMap, { metadata: { namespace: name, name: "greeting" }, data: { text: "hello" } }));
  return done;
});

/** The requests of a Manager that reconciles two namespaces: their method, path, and trace. */
async function requestsOf(recorder: Recording | undefined) {
  const requests: { readonly what: string; readonly traceparent: string | null }[] = [];
  await using test = createTestManager([writer], recorder === undefined ? {} : { recorder });
  test.cluster.intercept = ({ method, headers }, path) => {
    requests.push({ what: `${method} ${path.split("?")[0]}`, traceparent: headers.get("traceparent") });
    return undefined;
  };
  for (const name of ["one", "two"]) test.cluster.put(`/api/v1/namespaces/${name}`, namespace(name));
  void test.start();
  await test.until(() => test.cluster.writes.length === 2 && test.manager.isIdle());
  return requests;
}

/** Reads a recording as spans. */
function tracing(recording: Recording) {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const reader = new SpanReader({ tracer: provider.getTracer("test"), metrics: new MetricsRegistry() });
  recording.subscribe((entry) => reader.read(entry));
  return { exporter, stop: recording.traceBy((start) => reader.traceparentOf(start)) };
}

test("[125] each request of a reconcile names its span, and those of the caches name none", async () => {
  const recording = new Recording({ now: () => 1_000, maxBytes: 0 });
  const { exporter } = tracing(recording);
  const requests = await requestsOf(recording);
  const contexts = exporter.getFinishedSpans().filter(({ name }) => name === "reconcile writer")
    .map((span) => span.spanContext());
  const expected = contexts.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`)
    .filter((header) => requests.some(({ traceparent }) => traceparent === header));
  const written = requests.filter(({ what }) => what.startsWith("PATCH"));
  assertEquals(written.map(({ traceparent }) => traceparent).sort(), expected.toSorted());
  assertEquals([written.length, new Set(expected).size], [2, 2], "two traces");
  const others = requests.filter(({ what }) => what.startsWith("GET"));
  assert(others.length > 0);
  assertEquals(others.filter(({ traceparent }) => traceparent !== null), []);
});

test("[125] without tracing no request names a trace, whether something is recorded or not", async () => {
  for (const recorder of [undefined, new Recording({ now: () => 1_000 })]) {
    const requests = await requestsOf(recorder);
    assert(requests.length > 3);
    assertEquals(requests.filter(({ traceparent }) => traceparent !== null), []);
  }
  const recording = new Recording({ now: () => 1_000 });
  tracing(recording).stop[Symbol.dispose]();
  assertEquals((await requestsOf(recording)).filter(({ traceparent }) => traceparent !== null), []);
});

test("[125] a new object whose annotation names a trace is linked to it; no other text of it is recorded", async () => {
  const recording = new Recording({ now: () => 1_000 });
  const { exporter } = tracing(recording);
  await using test = createTestManager([writer], { recorder: recording });
  void test.start();
  await test.until(() => test.manager.isIdle());
  const annotated = (name: string, annotations: Readonly<Record<string, string>>) =>
    test.cluster.put(`/api/v1/namespaces/${name}`, { ...namespace(name), metadata: { name, annotations } });
  annotated("linked", { note: "private", "trace.example.dev/traceparent": `${named}-later` });
  annotated("plain", { traceparent: "private", "a.dev/traceparent": "00-private", other: named });
  await test.until(() => test.cluster.writes.length === 2 && test.manager.isIdle());
  const added = recording.entries().flatMap((entry) =>
    entry.kind === "change" && entry.change === "added" ? [entry] : []
  );
  const traces = added.filter(({ object }) => object.kind === "Namespace").map((
    { object, traceparent },
  ) => [object.key, traceparent]);
  assertEquals(traces, [["linked", named], ["plain", undefined]]);
  assert(!JSON.stringify(recording.entries()).includes("private"));
  const links = exporter.getFinishedSpans().filter(({ name }) => name === "reconcile writer")
    .flatMap(({ links }) => links.map(({ context }) => context.spanId));
  assertEquals(links.filter((id) => id === "b7ad6b7169203331").length, 1);
});
