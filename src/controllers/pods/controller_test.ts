import { FakeCluster } from "../../../tests/fakes/cluster.ts";
import { assert, assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { drain } from "../../async/mod.ts";
import {
  Client,
  configureLogging,
  type ControllerDefinition,
  type KubeObject,
  Manager,
  seededRandom,
  VirtualClock,
} from "../../mod.ts";
import { Folder } from "./_folder_test_data.ts";
import { podPrinter } from "./controller.ts";
import { KnownPods } from "./known_pods.ts";

function pod(name: string, namespace = "default"): KubeObject {
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace } };
}

function pathOf(name: string, namespace = "default"): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}

/** A cluster, the printer on it, and what it printed and logged. */
class Bench implements AsyncDisposable {
  readonly cluster = new FakeCluster();
  readonly clock = new VirtualClock();
  readonly lines: string[] = [];
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #log = "";

  readonly print = (line: string): Promise<void> => {
    this.lines.push(line);
    return Promise.resolve();
  };

  run(definition: ControllerDefinition): void {
    const { clock } = this;
    const manager = new Manager({
      client: new Client(this.cluster.transport, { clock }),
      clock,
      random: seededRandom(1),
      strictAccess: true,
    });
    manager.add(definition);
    this.#running = manager.run(this.#stop.signal);
  }

  get log(): string {
    return this.#log;
  }

  logging(): Disposable {
    return configureLogging({ write: (text) => this.#log += text, now: () => this.clock.now() });
  }

  async until(condition: () => boolean): Promise<void> {
    for (let turn = 0; turn < 2000 && !condition(); turn++) await drain();
    assert(condition(), `it did not come to that: ${this.lines.join("; ")}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

test("each Pod is printed when it comes and changes, and when it has gone", async () => {
  await using bench = new Bench();
  bench.cluster.put(pathOf("a"), pod("a"));
  bench.run(podPrinter({ print: bench.print }));
  await bench.until(() => bench.lines.length === 1);
  bench.cluster.put(pathOf("b"), pod("b"));
  await bench.until(() => bench.lines.length === 2);
  bench.cluster.put(pathOf("a"), pod("a"));
  await bench.until(() => bench.lines.length === 3);
  bench.cluster.remove(pathOf("b"));
  await bench.until(() => bench.lines.length === 4);
  assertEquals(bench.lines, [
    "Sync/Add/Update for Pod a",
    "Sync/Add/Update for Pod b",
    "Sync/Add/Update for Pod a",
    "Pod default/b does not exist anymore",
  ]);
  assertEquals(bench.cluster.writes, []);
});

test("Pods outside of the namespace default are not even asked for", async () => {
  await using bench = new Bench();
  const paths = new Set<string>();
  bench.cluster.intercept = (_, path) => void paths.add(path);
  bench.cluster.put(pathOf("x", "other"), pod("x", "other"));
  bench.cluster.put(pathOf("a"), pod("a"));
  bench.run(podPrinter({ print: bench.print, format: "json" }));
  await bench.until(() => bench.lines.length > 0);
  await bench.clock.advance(60_000);
  assertEquals(bench.lines, ['{"event":"sync","namespace":"default","name":"a"}']);
  assertEquals([...paths], ["/api/v1/namespaces/default/pods"]);
});

test("what cannot be printed is tried five times more with growing delays, then dropped with a log record", async () => {
  await using bench = new Bench();
  using _logging = bench.logging();
  const triedAt: number[] = [];
  bench.cluster.put(pathOf("a"), pod("a"));
  bench.run(podPrinter({
    print: () => {
      triedAt.push(bench.clock.now());
      return Promise.reject(new Error("Cannot print: the disk is full"));
    },
  }));
  await bench.until(() => triedAt.length === 1);
  await bench.clock.advance(60_000);
  const delays = triedAt.slice(1).map((at, index) => at - (triedAt[index] ?? 0));
  assertEquals(delays, [5, 10, 20, 40, 80]);
  assertEquals(bench.log.match(/reconcile failed, retrying/g)?.length, 5);
  assertMatch(bench.log, /ERROR .*dropping the key until it changes.* key=default\/a .*the disk is full/);
  bench.cluster.put(pathOf("a"), pod("a"));
  await bench.until(() => triedAt.length === 7);
});

test("a Pod that went while nobody watched is reported at the start, one that is there no more often than the others", async () => {
  await using folder = await Folder.make();
  const path = await folder.write("known", "default/gone\ndefault/there\nother/unseen\n");
  await using bench = new Bench();
  bench.cluster.put(pathOf("there"), pod("there"));
  bench.cluster.put(pathOf("new"), pod("new"));
  const known = await KnownPods.open(path, ["default"]);
  bench.run(podPrinter({ print: bench.print, known }));
  await bench.until(() => bench.lines.length >= 3);
  await bench.clock.advance(60_000);
  assertEquals(bench.lines.toSorted(), [
    "Pod default/gone does not exist anymore",
    "Sync/Add/Update for Pod new",
    "Sync/Add/Update for Pod there",
  ]);
  await known.save();
  assertEquals(await folder.read("known"), "default/new\ndefault/there\nother/unseen\n");
});
