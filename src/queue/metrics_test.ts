import { assert, assertEquals, assertStringIncludes, test } from "../../tests/testing.ts";
import { VirtualClock } from "../async/mod.ts";
import { MetricsRegistry } from "../observe/mod.ts";
import { queueMetrics, WorkQueue } from "./mod.ts";

function make(registry = new MetricsRegistry()) {
  const clock = new VirtualClock();
  const metrics = queueMetrics(registry, { name: "foo" });
  return { clock, registry, queue: new WorkQueue<string>({ name: "foo", clock, metrics }) };
}

/** The samples of one metric, without its name and the labels every one of them has. */
async function samples(registry: MetricsRegistry, name: string): Promise<string[]> {
  const lines = (await registry.render()).split("\n");
  return lines.filter((line) => line.startsWith(name))
    .map((line) => line.slice(name.length).replace(/name="foo",controller="foo",?/, ""));
}

test("the metrics of a queue have the names of client-go, and the labels name and controller", async () => {
  const { registry } = make();
  const text = await registry.render();
  for (
    const name of [
      "depth gauge",
      "adds_total counter",
      "queue_duration_seconds histogram",
      "work_duration_seconds histogram",
      "unfinished_work_seconds gauge",
      "longest_running_processor_seconds gauge",
      "retries_total counter",
    ]
  ) assertStringIncludes(text, `# TYPE workqueue_${name}\n`);
  assertStringIncludes(text, 'workqueue_adds_total{name="foo",controller="foo"} 0\n');
});

test("the depth counts the queued keys by priority, and does not fall below 0", async () => {
  const { registry, queue, clock } = make();
  queue.add("a");
  queue.add("b", { priority: -100 });
  queue.add("c", { priority: -100 });
  queue.addAfter("d", 10);
  assertEquals(await samples(registry, "workqueue_depth"), ['{priority="0"} 1', '{priority="-100"} 2']);
  queue.add("b");
  const first = queue.tryTake();
  queue.add("a");
  queue.park("c", "loops");
  await clock.advance(10);
  assertEquals(await samples(registry, "workqueue_depth"), ['{priority="0"} 3', '{priority="-100"} 0']);
  first?.[Symbol.dispose]();
  for (let item = queue.tryTake(); item !== undefined; item = queue.tryTake()) item[Symbol.dispose]();
  assertEquals(await samples(registry, "workqueue_depth"), ['{priority="0"} 0', '{priority="-100"} 0']);
  assertEquals(await samples(registry, "workqueue_adds_total"), ["{} 5"]);
  assertEquals(await samples(registry, "workqueue_retries_total"), ["{} 1"]);
});

test("waiting and working times are observed in seconds", async () => {
  const { registry, queue, clock } = make();
  queue.add("a");
  await clock.advance(250);
  const item = queue.tryTake();
  await clock.advance(2_000);
  item?.[Symbol.dispose]();
  assertEquals(await samples(registry, "workqueue_queue_duration_seconds_sum"), ["{} 0.25"]);
  assertEquals(await samples(registry, "workqueue_work_duration_seconds_sum"), ["{} 2"]);
  const buckets = await samples(registry, "workqueue_work_duration_seconds_bucket");
  assertEquals(buckets.map((line) => line.split('"')[1]), [
    "1e-8",
    "1e-7",
    "0.000001",
    "0.00001",
    "0.0001",
    "0.001",
    "0.01",
    "0.1",
    "1",
    "10",
    "100",
    "1000",
    "+Inf",
  ]);
});

test("unfinished work and the longest runner are read at the time of the scrape", async () => {
  const { registry, queue, clock } = make();
  queue.add("a");
  queue.add("b");
  const first = queue.tryTake();
  await clock.advance(3_000);
  const second = queue.tryTake();
  await clock.advance(1_000);
  assertEquals(await samples(registry, "workqueue_unfinished_work_seconds"), ["{} 5"]);
  assertEquals(await samples(registry, "workqueue_longest_running_processor_seconds"), ["{} 4"]);
  first?.[Symbol.dispose]();
  second?.[Symbol.dispose]();
  assertEquals(await samples(registry, "workqueue_unfinished_work_seconds"), ["{} 0"]);
});

test("computed priorities share a time series after the first 25, and the depth still adds up", async () => {
  const { registry, queue } = make();
  for (let n = 0; n < 1_000; n++) queue.add(`k${n}`, { priority: n });
  const full = await samples(registry, "workqueue_depth");
  assertEquals([full.length, full.at(-1)], [26, '{priority="exceeded_cardinality_limit"} 975']);
  for (let item = queue.tryTake(); item !== undefined; item = queue.tryTake()) item[Symbol.dispose]();
  assert((await samples(registry, "workqueue_depth")).every((line) => line.endsWith(" 0")));
});

test("two queues share the metrics and have separate series", async () => {
  const { registry, queue } = make();
  const other = new WorkQueue<string>({
    name: "bar",
    metrics: queueMetrics(registry, { name: "bar", controller: "x" }),
  });
  queue.add("a");
  other.add("a");
  other.add("b");
  const text = await registry.render();
  assertStringIncludes(text, 'workqueue_depth{name="foo",controller="foo",priority="0"} 1\n');
  assertStringIncludes(text, 'workqueue_depth{name="bar",controller="x",priority="0"} 2\n');
  assertEquals(text.split("# TYPE workqueue_depth").length, 2);
});
