/**
 * Tests of the causes in a recording: from the change of a user to the write of the controller and its echo, across the
 * cache, the queue, the worker and the server.
 */
import { VirtualClock } from "../../src/async/mod.ts";
import { Foo, fooController } from "../../src/controllers/foo/mod.ts";
import { ConfigMap, controller, Deployment, done, external, requeueAfter, TerminalError } from "../../src/mod.ts";
import { type Entry, Recording } from "../../src/observe/mod.ts";
import { World } from "../../src/simulation/mod.ts";
import { assert, assertEquals, test } from "../testing.ts";

type OfKind<K extends Entry["kind"]> = Extract<Entry, { readonly kind: K }>;

function ofKind<K extends Entry["kind"]>(entries: readonly Entry[], kind: K): readonly OfKind<K>[] {
  return entries.filter((entry): entry is OfKind<K> => entry.kind === kind);
}

/** A world whose controllers are recorded. */
class RecordedWorld implements AsyncDisposable {
  readonly recording: Recording;
  readonly world: World;

  private constructor(world: World, recording: Recording) {
    this.world = world;
    this.recording = recording;
  }

  static async start(options: Omit<Parameters<typeof World.start>[0], "recorder" | "clock">): Promise<RecordedWorld> {
    const clock = new VirtualClock();
    const recording = new Recording({ now: () => clock.now() });
    return new RecordedWorld(await World.start({ ...options, clock, recorder: recording }), recording);
  }

  /** Everything that was recorded while `work` ran and the world settled. */
  async entriesOf(work: () => Promise<unknown>): Promise<readonly Entry[]> {
    const before = this.recording.lastId;
    await work();
    await this.world.settled();
    return this.recording.entries(before);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world[Symbol.asyncDispose]();
  }
}

function scale(world: World, replicas: number) {
  return world.patch(Deployment, "default/web", { kind: "merge", value: { spec: { replicas } } });
}

test("a change of a user leads to the write that reverts it, in one chain of causes", async () => {
  await using recorded = await RecordedWorld.start({ controllers: [fooController] });
  const { world, recording } = recorded;
  await world.create(Foo, { name: "a", spec: { deploymentName: "web", replicas: 2 } });
  await world.settled();
  const entries = await recorded.entriesOf(() => scale(world, 5));
  const change = ofKind(entries, "change").find(({ fields }) => fields?.some(({ to }) => to === 5));
  assertEquals(change?.fields, [{ path: "spec.replicas", from: 2, to: 5 }]);
  assertEquals(change?.by?.map(({ manager, operation }) => [manager, operation]), [["user", "Update"]]);
  const write = ofKind(entries, "write").find(({ verb }) => verb === "apply");
  assert(write !== undefined && write.answer.kind === "stored");
  const chain: string[] = [];
  for (let entry: Entry | undefined = write; entry !== undefined; entry = recording.find(entry.causes[0] ?? 0)) {
    chain.push(entry.kind);
  }
  assertEquals(chain, ["write", "reconcile-start", "enqueue", "change"]);
  // The event of the own write is linked with it, whether it came before the response or after it.
  const { resourceVersion } = write.answer;
  const echo = ofKind(entries, "change").find((entry) => entry.isEcho && entry.resourceVersion === resourceVersion);
  assert(echo?.causes.includes(write.id), JSON.stringify(echo));
});

test("causes are ids of earlier entries, and each reconcile ends once", async () => {
  await using recorded = await RecordedWorld.start({ controllers: [fooController] });
  const { world } = recorded;
  const entries = await recorded.entriesOf(async () => {
    for (const name of ["a", "b", "c"]) await world.create(Foo, { name, spec: { deploymentName: name, replicas: 1 } });
  });
  for (const { id, causes } of entries) assert(causes.every((cause) => cause > 0 && cause < id));
  const starts = ofKind(entries, "reconcile-start").map(({ id }) => id);
  assertEquals(ofKind(entries, "reconcile-end").map(({ causes: [start] }) => start).toSorted(), starts.toSorted());
  for (const { causes } of ofKind(entries, "read")) assert(starts.includes(causes[0] ?? 0));
});

test("changes of a queued key are merged: its reconcile has all of them as causes", async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const slow = controller("slow").for(ConfigMap).reconcile(async () => {
    await gate;
    return done;
  });
  await using recorded = await RecordedWorld.start({ controllers: [slow], cluster: false });
  const { world } = recorded;
  const entries = await recorded.entriesOf(async () => {
    await world.create(ConfigMap, { name: "a" });
    await world.clock.advance(10);
    for (const color of ["red", "green", "blue"]) {
      await world.patch(ConfigMap, "default/a", { kind: "merge", value: { data: { color } } });
    }
    await world.clock.advance(10);
    open();
  });
  assertEquals(ofKind(entries, "reconcile-start").map(({ causes }) => causes.length), [1, 3]);
});

test("a failure leads through its backoff to the retry, a requeue through its delay, and a parked key says why", async () => {
  let attempts = 0;
  const flaky = controller("flaky").for(ConfigMap).reconcile(() => {
    attempts++;
    if (attempts === 1) throw new Error("cannot reach db, password=hunter2hunter2");
    if (attempts === 2) return Promise.resolve(requeueAfter(1_000));
    if (attempts === 3) throw new TerminalError("wrong input");
    return Promise.resolve(done);
  });
  await using recorded = await RecordedWorld.start({ controllers: [flaky], cluster: false });
  const { world, recording } = recorded;
  const entries = await recorded.entriesOf(async () => {
    await world.create(ConfigMap, { name: "a" });
    await world.clock.advance(60_000);
  });
  const ends = ofKind(entries, "reconcile-end");
  assertEquals(ends.map(({ outcome }) => outcome), ["failed", "requeue", "terminal"]);
  assertEquals(ends[0]?.error, "cannot reach db, password=[masked]");
  const [backoff, delay] = ofKind(entries, "queue");
  assertEquals([backoff?.decision, backoff?.retries, backoff?.causes], ["backoff", 1, [ends[0]?.id]]);
  assertEquals([delay?.decision, delay?.delayMs, delay?.causes], ["delayed", 1_000, [ends[1]?.id]]);
  const starts = ofKind(entries, "reconcile-start");
  assertEquals(starts.slice(1).flatMap(({ causes }) => causes), [backoff?.id ?? 0, delay?.id ?? 0]);
  assertEquals(starts.map(({ retries }) => retries), [0, 1, 0]);
  assertEquals(recording.dropped, 0);
});

test("a change that a predicate rejects, and one that concerns no key, are recorded as such", async () => {
  const picky = controller("picky")
    .for(ConfigMap, { when: ({ object }) => object.metadata.labels?.role === "main" })
    .owns(Deployment)
    .reconcile(() => Promise.resolve(done));
  await using recorded = await RecordedWorld.start({ controllers: [picky], cluster: false });
  const { world } = recorded;
  const entries = await recorded.entriesOf(async () => {
    await world.create(ConfigMap, { name: "a" });
    await world.create(Deployment, {
      name: "d",
      spec: {
        selector: { matchLabels: { a: "b" } },
        template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
      },
    });
  });
  assertEquals(ofKind(entries, "enqueue").map(({ role, decision, key }) => [role, decision, key]), [
    ["for", "rejected", undefined],
    ["owns", "unmapped", undefined],
  ]);
});

test("a poll of an external resource that fails is recorded about its object, and one that differs is the cause of a reconcile", async () => {
  const answers: (() => string)[] = [() => "a", () => "a"];
  const disks = external("disks", ConfigMap, {
    key: ({ metadata }) => metadata.name === "a" ? "disk" : undefined,
    everyMs: 60_000,
    fetch: () => Promise.resolve((answers.shift() ?? (() => "b"))()),
  });
  const sizes = controller("sizes").for(ConfigMap).external(disks).reconcile(async (ctx) => {
    await ctx.external(disks).get();
    return done;
  });
  await using recorded = await RecordedWorld.start({ controllers: [sizes], cluster: false });
  await recorded.world.create(ConfigMap, { name: "a", data: {} });
  await recorded.world.settled();
  answers.splice(0, answers.length, () => {
    throw new Error("provider is down");
  });
  const entries = await recorded.entriesOf(() => recorded.world.clock.advance(400_000));
  const [failure] = ofKind(entries, "error");
  assertEquals([failure?.what, failure?.error, failure?.object], [
    'poll of disks "disk"',
    "provider is down",
    { resource: "configmaps", kind: "ConfigMap", key: "default/a" },
  ]);
  const [asked] = ofKind(entries, "enqueue");
  assertEquals([asked?.role, asked?.object.resource, asked?.key], ["source", "disks", "default/a"]);
  const start = ofKind(entries, "reconcile-start").find(({ causes }) =>
    asked !== undefined && causes.includes(asked.id)
  );
  assertEquals(start?.key, "default/a");
});
