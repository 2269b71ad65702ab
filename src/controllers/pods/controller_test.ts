import { FakeCluster } from "../../../tests/fakes/cluster.ts";
import { assert, assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { drain } from "../../async/mod.ts";
import { Client } from "../../client.ts";
import { configureLogging, type ControllerDefinition, type KubeObject, Manager, MetricsRegistry } from "../../mod.ts";
import { seededRandom, VirtualClock } from "../../testing.ts";
import { lineOf, podPrinter, podsController } from "./controller.ts";
import { KnownPods } from "./known_pods.ts";
import { files, TestFolder } from "./testing/test_folder.ts";

function pod(name: string, namespace = "default"): KubeObject {
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace } };
}

function pathOf(name: string, namespace = "default"): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}

/** Runs the controller on a fake cluster, and records its lines and its log. */
class PodPrinterTest implements AsyncDisposable {
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
    return configureLogging({ level: "debug", write: (text) => this.#log += text, now: () => this.clock.now() });
  }

  async until(condition: () => boolean): Promise<void> {
    for (let turn = 0; turn < 2000 && !condition(); turn++) await drain();
    assert(condition(), `the condition was not met: ${this.lines.join("; ")}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

test("each Pod is printed when it is added, updated and deleted", async () => {
  await using printer = new PodPrinterTest();
  printer.cluster.put(pathOf("a"), pod("a"));
  printer.run(podPrinter({ print: printer.print }));
  await printer.until(() => printer.lines.length === 1);
  printer.cluster.put(pathOf("b"), pod("b"));
  await printer.until(() => printer.lines.length === 2);
  printer.cluster.put(pathOf("a"), pod("a"));
  await printer.until(() => printer.lines.length === 3);
  printer.cluster.remove(pathOf("b"));
  await printer.until(() => printer.lines.length === 4);
  assertEquals(printer.lines, [
    "Sync/Add/Update for Pod a",
    "Sync/Add/Update for Pod b",
    "Sync/Add/Update for Pod a",
    "Pod default/b does not exist anymore",
  ]);
  assertEquals(printer.cluster.writes, []);
});

test("Pods outside of the namespace default are not listed", async () => {
  await using printer = new PodPrinterTest();
  const paths = new Set<string>();
  printer.cluster.intercept = (_, path) => void paths.add(path);
  printer.cluster.put(pathOf("x", "other"), pod("x", "other"));
  printer.cluster.put(pathOf("a"), pod("a"));
  printer.run(podPrinter({ print: printer.print, format: "json" }));
  await printer.until(() => printer.lines.length > 0);
  await printer.clock.advance(60_000);
  assertEquals(printer.lines, ['{"event":"sync","namespace":"default","name":"a"}']);
  assertEquals([...paths], ["/api/v1/namespaces/default/pods"]);
});

test("lines have the format of the log, unless --output names another", async () => {
  const linesWith = async (flags: { readonly output?: string }, logFormat: "text" | "json") => {
    await using printer = new PodPrinterTest();
    printer.cluster.put(pathOf("a"), pod("a"));
    const metrics = new MetricsRegistry();
    const setup = { namespaces: ["default"], metrics, print: printer.print, logFormat, files };
    const configured = await podsController.ownFlags?.configure((schema) => schema.parse(flags), setup);
    assert(configured !== undefined);
    printer.run(configured);
    await printer.until(() => printer.lines.length > 0);
    return printer.lines;
  };
  const [text, json] = [["Sync/Add/Update for Pod a"], ['{"event":"sync","namespace":"default","name":"a"}']];
  assertEquals([await linesWith({}, "text"), await linesWith({}, "json")], [text, json]);
  assertEquals([await linesWith({ output: "json" }, "text"), await linesWith({ output: "text" }, "json")], [
    json,
    text,
  ]);
});

test("a line that cannot be printed is retried five times with growing delays, then its key is dropped with a log record", async () => {
  await using printer = new PodPrinterTest();
  using _logging = printer.logging();
  const triedAt: number[] = [];
  printer.cluster.put(pathOf("a"), pod("a"));
  printer.run(podPrinter({
    print: () => {
      triedAt.push(printer.clock.now());
      return Promise.reject(new Error("Cannot print: the disk is full"));
    },
  }));
  await printer.until(() => triedAt.length === 1);
  await printer.clock.advance(60_000);
  const delays = triedAt.slice(1).map((at, index) => at - (triedAt[index] ?? 0));
  assertEquals(delays, [5, 10, 20, 40, 80]);
  assertEquals(printer.log.match(/reconcile failed, retrying/g)?.length, 5);
  assertMatch(printer.log, /ERROR .*dropping the key until it changes.* key=default\/a .*the disk is full/);
  printer.cluster.put(pathOf("a"), pod("a"));
  await printer.until(() => triedAt.length === 7);
});

test("a Pod that was deleted between two runs is reported at the start, and an existing known Pod is printed only once", async () => {
  await using folder = await TestFolder.create();
  const path = await folder.write("known", "default/gone\ndefault/there\nother/unseen\n");
  await using printer = new PodPrinterTest();
  printer.cluster.put(pathOf("there"), pod("there"));
  printer.cluster.put(pathOf("new"), pod("new"));
  const known = await KnownPods.open(path, { namespaces: ["default"], files });
  printer.run(podPrinter({ print: printer.print, known }));
  await printer.until(() => printer.lines.length >= 3);
  await printer.clock.advance(60_000);
  assertEquals(printer.lines.toSorted(), [
    "Pod default/gone does not exist anymore",
    "Sync/Add/Update for Pod new",
    "Sync/Add/Update for Pod there",
  ]);
  await known.save();
  assertEquals(await folder.read("known"), "default/new\ndefault/there\nother/unseen\n");
});

test("lineOf() names an existing Pod, and a deleted Pod with its namespace", () => {
  assertEquals(lineOf("sync", "default/mypod", "text"), "Sync/Add/Update for Pod mypod");
  assertEquals(lineOf("gone", "default/mypod", "text"), "Pod default/mypod does not exist anymore");
});

test("lineOf() returns one JSON object for any name", () => {
  assertEquals(lineOf("sync", "default/mypod", "json"), '{"event":"sync","namespace":"default","name":"mypod"}');
  assertEquals(JSON.parse(lineOf("gone", "a/__proto__", "json")), { event: "gone", namespace: "a", name: "__proto__" });
  assertEquals(JSON.parse(lineOf("gone", 'a/b"\n\u001b', "json")).name, 'b"\n\u001b');
});
