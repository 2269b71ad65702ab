import { assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { MetricsRegistry } from "./mod.ts";

test("counters, gauges and histograms appear in the Prometheus text in the order of their creation", async () => {
  const registry = new MetricsRegistry();
  const requests = registry.counter({ name: "requests_total", help: "Requests served", labelNames: ["verb", "code"] });
  requests.labels({ verb: "GET", code: "200" }).inc();
  requests.labels({ verb: "GET", code: "200" }).inc(2);
  requests.labels({ code: "409", verb: "PUT" }).inc();
  const depth = registry.gauge({ name: "depth", help: "Depth" }).labels({});
  depth.set(5);
  depth.dec(2);
  depth.inc();
  const seconds = registry.histogram({ name: "d_seconds", help: "Duration", labelNames: ["q"], buckets: [0.1, 1] });
  for (const value of [0.05, 0.1, 0.5, 7]) seconds.labels({ q: "a" }).observe(value);
  assertEquals(
    await registry.render(),
    `# HELP requests_total Requests served
# TYPE requests_total counter
requests_total{verb="GET",code="200"} 3
requests_total{verb="PUT",code="409"} 1
# HELP depth Depth
# TYPE depth gauge
depth 4
# HELP d_seconds Duration
# TYPE d_seconds histogram
d_seconds_bucket{q="a",le="0.1"} 2
d_seconds_bucket{q="a",le="1"} 3
d_seconds_bucket{q="a",le="+Inf"} 4
d_seconds_sum{q="a"} 7.65
d_seconds_count{q="a"} 4
`,
  );
});

test("label values and help texts are escaped, so they cannot begin a line or a label", async () => {
  const registry = new MetricsRegistry();
  const family = registry.gauge({ name: "g", help: "one\ntwo\\three", labelNames: ["l"] });
  family.labels({ l: 'a"} 1\nfake{x="\\' }).set(1);
  assertEquals(
    await registry.render(),
    '# HELP g one\\ntwo\\\\three\n# TYPE g gauge\ng{l="a\\"} 1\\nfake{x=\\"\\\\"} 1\n',
  );
});

test("a gauge with read() shows the current value", async () => {
  const registry = new MetricsRegistry();
  let value = 1;
  registry.gauge({ name: "g", help: "g" }).labels({}).read(() => value);
  value = Infinity;
  assertEquals((await registry.render()).split("\n")[2], "g +Inf");
});

test("a second call with the same name returns the same metric, and refuses another type or other labels", async () => {
  const registry = new MetricsRegistry();
  registry.counter({ name: "c_total", help: "c", labelNames: ["a"] }).labels({ a: "1" }).inc();
  registry.counter({ name: "c_total", help: "c", labelNames: ["a"] }).labels({ a: "1" }).inc();
  assertEquals((await registry.render()).split("\n")[2], 'c_total{a="1"} 2');
  assertThrows(
    () => registry.gauge({ name: "c_total", help: "c", labelNames: ["a"] }),
    /^Cannot create metric "c_total"/,
  );
  assertThrows(() => registry.counter({ name: "c_total", help: "c", labelNames: ["b"] }), /^Cannot create metric/);
});

test("metrics with illegal names and buckets that are not ascending are refused", () => {
  const registry = new MetricsRegistry();
  assertThrows(() => registry.counter({ name: "a-b", help: "" }), /"a-b" is not a legal name/);
  assertThrows(() => registry.counter({ name: "ab", help: "", labelNames: ["x y"] }), /"x y" is not a legal name/);
  assertThrows(() => registry.histogram({ name: "h", help: "", labelNames: ["le"] }), /"le" is not a legal name/);
  assertThrows(() => registry.histogram({ name: "h", help: "", buckets: [1, 1] }), /are not ascending/);
});

test("remove() removes a cell, a counter never decreases, and collectors add text until they are disposed", async () => {
  const registry = new MetricsRegistry();
  const family = registry.counter({ name: "c_total", help: "c", labelNames: ["__proto"] });
  family.labels({ __proto: "constructor" }).inc(-5);
  const collector = registry.collect(() => Promise.resolve("extra 1\n"));
  assertEquals((await registry.render()).split("\n").slice(2), ['c_total{__proto="constructor"} 0', "extra 1", ""]);
  family.remove({ __proto: "constructor" });
  collector[Symbol.dispose]();
  assertEquals((await registry.render()).split("\n").slice(2), [""]);
});

test("[125] OpenMetrics has the exemplar of each bucket, names counters as it wants them, and ends", async () => {
  const registry = new MetricsRegistry();
  registry.counter({ name: "requests_total", help: 'Say "hello"', labelNames: ["code"] }).labels({ code: "200" }).inc(
    3,
  );
  registry.counter({ name: "odd", help: "Without total" }).labels({}).inc();
  const seconds = registry.histogram({ name: "seconds", help: "Time", labelNames: ["q", "c"], buckets: [0.5, 1] });
  for (const value of [0.2, 0.7, 9]) seconds.labels({ q: "x", c: "y" }).observe(value);
  const setExemplar = (value: number, trace_id: string, c = "y") =>
    registry.setExemplar("seconds", { c }, { value, at: 1_500, labels: { trace_id } });
  setExemplar(0.6, "old");
  setExemplar(0.7, "a");
  setExemplar(9, "b");
  setExemplar(9, "of no series", "z");
  registry.setExemplar("odd", {}, { value: 1, at: 1, labels: {} });
  using _other = registry.collect(() =>
    "# HELP cpu_total CPU\n# TYPE cpu_total counter\ncpu_total 1\n\n# TYPE x untyped\nx 2\n"
  );
  assertEquals((await registry.render("openmetrics")).split("\n"), [
    '# HELP requests Say \\"hello\\"',
    "# TYPE requests counter",
    'requests_total{code="200"} 3',
    "# HELP odd Without total",
    "# TYPE odd unknown",
    "odd 1",
    "# HELP seconds Time",
    "# TYPE seconds histogram",
    'seconds_bucket{q="x",c="y",le="0.5"} 1',
    'seconds_bucket{q="x",c="y",le="1.0"} 2 # {trace_id="a"} 0.7 1.5',
    'seconds_bucket{q="x",c="y",le="+Inf"} 3 # {trace_id="b"} 9 1.5',
    'seconds_sum{q="x",c="y"} 9.9',
    'seconds_count{q="x",c="y"} 3',
    "# HELP cpu CPU",
    "# TYPE cpu counter",
    "cpu_total 1",
    "# TYPE x unknown",
    "x 2",
    "# EOF",
    "",
  ]);
  assertEquals(/trace_id|EOF|unknown/.exec(await registry.render()), null);
});

test("a registry with labels counts into the registry that it comes from, and its cells can be removed", async () => {
  const registry = new MetricsRegistry();
  const options = { name: "adds_total", help: "Adds", labelNames: ["name"] } as const;
  registry.counter(options).labels({ name: "foo" }).inc();
  for (const cluster of ["a", "b"]) {
    const own = registry.withLabels({ cluster });
    own.counter(options).labels({ name: "foo" }).inc(2);
    own.withLabels({ zone: "z" }).gauge({ name: "depth", help: "Depth" }).labels({}).set(1);
  }
  const lines = (text: string) => text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  assertEquals(lines(await registry.render()), [
    'adds_total{name="foo"} 1',
    'adds_total{cluster="a",name="foo"} 2',
    'adds_total{cluster="b",name="foo"} 2',
    'depth{cluster="a",zone="z"} 1',
    'depth{cluster="b",zone="z"} 1',
  ]);
  registry.removeCells({ cluster: "a" });
  assertEquals(lines(await registry.render()).filter((line) => line.includes('"a"')), []);
  assertThrows(() => registry.withLabels({ "no-name": "x" }), /Cannot label metrics/);
});
