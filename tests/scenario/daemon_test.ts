/** A daemon beside the reconciler for each object, through the public surface. */
import { assert, assertEquals, assertRejects, assertThrows, test } from "../testing.ts";
import {
  ConfigMap,
  controller,
  type ControllerDefinition,
  type DaemonContext,
  type DaemonOptions,
  done,
} from "../../src/mod.ts";
import { simulateController, World } from "../../src/testing.ts";

type Context = DaemonContext<typeof ConfigMap, typeof ConfigMap>;

function untilStopped({ signal }: Context): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Runs a daemon for each ConfigMap with data. @param told gets what happens */
function linksOf(told: string[], body: (ctx: Context) => Promise<void>, options?: DaemonOptions): ControllerDefinition {
  return controller("links").for(ConfigMap)
    .daemon(async (ctx) => {
      if (ctx.object.data === undefined || ctx.object.metadata.namespace !== "default") return;
      told.push(`start ${ctx.object.metadata.name}`);
      try {
        await body(ctx);
      } finally {
        told.push(`end ${ctx.object.metadata.name}`);
      }
    }, options)
    .finalize((ctx) => {
      if (ctx.object.data !== undefined) told.push(`finalize ${ctx.object.metadata.name}`);
      return Promise.resolve(done);
    })
    .reconcile(() => Promise.resolve(done));
}

test("a daemon starts with its object, sees its current state, and ends before finalize and the finalizer", async () => {
  const told: string[] = [];
  let current: Context | undefined;
  const links = linksOf(told, async (ctx) => {
    current = ctx;
    await untilStopped(ctx);
  });
  await using world = await World.start({ controllers: [links], cluster: false });
  await world.create(ConfigMap, { name: "a", data: { host: "one" } });
  await world.settled();
  assertEquals(told, ["start a"]);
  await world.patch(ConfigMap, "default/a", { kind: "merge", value: { data: { host: "two" } } });
  await world.settled();
  assertEquals([told, current?.object.data], [["start a"], { host: "two" }]);
  await world.delete(ConfigMap, "default/a");
  await world.settled();
  assertEquals(told, ["start a", "end a", "finalize a"]);
  assertEquals(world.find(ConfigMap, "default/a"), undefined);
});

test("a daemon that throws is restarted with growing delays, and one that returns only if its policy says so", async () => {
  for (
    const [restartPolicy, fails, expected] of [["OnFailure", true, 4], ["OnFailure", false, 1], [
      "Always",
      false,
      4,
    ]] as const
  ) {
    const told: string[] = [];
    const body = () => fails ? Promise.reject(new Error("connection lost")) : Promise.resolve();
    const links = linksOf(told, body, { restartPolicy, backoffMs: 1_000 });
    await using world = await World.start({ controllers: [links], cluster: false });
    await world.create(ConfigMap, { name: "a", data: { host: "one" } });
    await world.clock.advance(10_000); // 1 s, 2 s and 4 s, each up to a tenth longer
    assertEquals(told.filter((text) => text === "start a").length, expected, `${restartPolicy} ${fails}`);
    await world.delete(ConfigMap, "default/a");
    await world.settled();
    assertEquals([told.at(-1), world.find(ConfigMap, "default/a")], ["finalize a", undefined]);
  }
});

test("a daemon that ignores its signal counts as ended after its grace period, and sends nothing any more", async () => {
  const told: string[] = [];
  let ctx: Context | undefined;
  const links = linksOf(told, async (given) => {
    ctx = given;
    await new Promise<never>(() => {});
  }, { graceMs: 20_000 });
  await using world = await World.start({ controllers: [links], cluster: false });
  await world.create(ConfigMap, { name: "a", data: { host: "one" } });
  await world.settled();
  await world.delete(ConfigMap, "default/a");
  await world.clock.advance(19_000);
  assert(world.find(ConfigMap, "default/a") !== undefined, "the finalizer waits for the grace period");
  await world.settled();
  assertEquals([told, world.find(ConfigMap, "default/a")], [["start a", "finalize a"], undefined]);
  await assertRejects(() => Promise.resolve(ctx?.client.get(ConfigMap, "default/a")), /its grace period is over/);
});

test("a daemon can ask for a reconcile, and belongs to one object of several with its name", async () => {
  const running = new Set<string>();
  let reconciles = 0;
  const links = controller("links").for(ConfigMap).daemon(async (ctx) => {
    const { uid = "", name } = ctx.object.metadata;
    if (name !== "a") return;
    assertEquals(running.size, 0, "the daemon of an earlier object has ended");
    running.add(uid);
    ctx.reconcile();
    await untilStopped(ctx);
    await ctx.clock.sleep(5_000, new AbortController().signal); // says goodbye
    running.delete(uid);
  }).reconcile((ctx) => {
    if (ctx.object.metadata.name === "a") reconciles++;
    return Promise.resolve(done);
  });
  await using world = await World.start({ controllers: [links], cluster: false });
  const uids: (string | undefined)[] = [];
  for (let round = 0; round < 3; round++) {
    await world.create(ConfigMap, { name: "a", data: {} });
    await world.settled();
    const { uid } = world.get(ConfigMap, "default/a").metadata;
    uids.push(uid);
    assertEquals([...running], [uid]);
    await world.delete(ConfigMap, "default/a");
    await world.settled();
    assertEquals([...running], []);
  }
  assertEquals([new Set(uids).size, reconciles >= 6], [3, true]);
});

test("daemons end with the process, also those that have failed", async () => {
  const told: string[] = [];
  const links = linksOf(told, async (ctx) => {
    if (ctx.object.metadata.name === "b") throw new Error("connection lost");
    await untilStopped(ctx);
  }, { backoffMs: 600_000, maxBackoffMs: 600_000 });
  {
    await using world = await World.start({ controllers: [links], cluster: false });
    for (const name of ["a", "b"]) await world.create(ConfigMap, { name, data: { host: "one" } });
    await world.settled();
    assertEquals(told, ["start a", "start b", "end b"]);
  }
  assertEquals(told, ["start a", "start b", "end b", "end a"]);
});

test("a daemon is declared once, with usable times, and not for keys without objects", () => {
  const daemon = () => Promise.resolve();
  const links = controller("links").for(ConfigMap).daemon(daemon);
  assertThrows(() => links.daemon(daemon), /it has one already/);
  assertThrows(() => links.reconcileKey(() => Promise.resolve(done)), /reconcileKey\(\) has no finalizer/);
  for (const options of [{ backoffMs: 0 }, { backoffMs: 2, maxBackoffMs: 1 }, { graceMs: -1 }]) {
    assertThrows(() => controller("a").for(ConfigMap).daemon(daemon, options), /out of range/);
  }
});

test("simulate: over crashes, pauses and lost Leases, no object has two daemons that work, and none works when it is gone", async () => {
  const object = { apiVersion: "v1", kind: "ConfigMap", name: "a" };
  const create = {
    kind: "create",
    object: { ...object, metadata: { name: "a", namespace: "default" }, data: {} },
  } as const;
  const remove = { kind: "delete", object } as const;
  const workloads = [{ name: "links", steps: [create, remove, create, remove] }] as const;
  /** The last daemon that was started for each object; absent after its finalize. */
  const owners = new Map<string, object>();
  /** How often a daemon worked although another one was started later, or the object was finalized. */
  const strays: number[] = [];
  let starts = 0;
  let running = 0;
  const links = () =>
    controller("links").for(ConfigMap).daemon(async (ctx) => {
      const { uid = "", name } = ctx.object.metadata;
      if (name !== "a") return;
      const self = {};
      let strayed = 0;
      owners.set(uid, self);
      starts++;
      running++;
      while (!ctx.signal.aborted) {
        if (owners.get(uid) !== self) strayed++;
        await ctx.clock.sleep(500, ctx.signal).catch(() => undefined);
      }
      running--;
      strays.push(strayed);
    }).finalize((ctx) => {
      owners.delete(ctx.object.metadata.uid ?? "");
      return Promise.resolve(done);
    }).reconcile(() => Promise.resolve(done));
  const { findings, schedules } = await simulateController(links, { workloads, storms: 15 });
  assertEquals(findings.map(({ violations }) => violations), []);
  assertEquals(running, 0);
  assert(starts > schedules, `${starts} starts in ${schedules} runs`);
  // A process that was paused for longer than its Lease needs one moment to notice that.
  assert(strays.every((count) => count <= 1), strays.filter((count) => count > 1).join());
});
