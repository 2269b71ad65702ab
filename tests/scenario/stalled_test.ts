/** Objects that are not retried show it: the condition Stalled and a Warning Event, through the public surface. */
import { assert, assertEquals, assertMatch, test } from "../testing.ts";
import {
  changed,
  type Condition,
  ConfigMap,
  controller,
  type ControllerDefinition,
  defineResource,
  done,
  Event,
  manifest,
  type ReconcileContext,
  type Result,
  stalledCondition,
  TerminalError,
  type Workload,
  z,
} from "../../src/mod.ts";
import { simulateController, World } from "../../src/testing.ts";

const Site = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Site",
  scope: "Namespaced",
  spec: z.object({ host: z.string() }),
  status: z.object({ conditions: z.array(z.any()).optional() }),
});

/** A kind of the same name, whose schema the objects of an older one do not satisfy. */
const StrictSite = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Site",
  scope: "Namespaced",
  spec: z.object({ host: z.string().max(3) }),
  status: z.object({ conditions: z.array(z.any()).optional() }),
});

type SiteContext = ReconcileContext<typeof Site, typeof Site | typeof ConfigMap>;

function sites(
  reconcile: (ctx: SiteContext) => Promise<Result>,
  options: { readonly maxRetries?: number; readonly ownWrites?: "deliver" } = {},
): ControllerDefinition {
  return controller("sites", options).for(Site).owns(ConfigMap).reconcile(reconcile);
}

/** Refuses the host `bad`, and writes a ConfigMap for any other. */
async function serve(ctx: SiteContext): Promise<Result> {
  const { metadata: { namespace, name = "" }, spec: { host } } = ctx.object;
  if (host === "bad") throw new TerminalError(`Cannot serve "${host}": it is reserved`);
  await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name }, data: { host } }));
  return done;
}

function conditions(world: World): readonly Condition[] {
  return world.get(Site, "default/a").status?.conditions ?? [];
}

function eventsOf(world: World): readonly (readonly [string | undefined, string | undefined])[] {
  return world.list(Event).map(({ reason, note }) => [reason, note] as const);
}

function host(value: string) {
  return { kind: "merge", value: { spec: { host: value } } } as const;
}

test("a TerminalError leaves the condition Stalled and a Warning Event, and the next success removes the condition", async () => {
  await using world = await World.start({ controllers: [sites(serve)] });
  await world.create(Site, { name: "a", spec: { host: "bad" } });
  await world.settled();
  const [condition, ...more] = conditions(world);
  assertEquals([condition?.type, condition?.status, condition?.reason], [stalledCondition, "True", "NotRetrying"]);
  assertEquals(condition?.observedGeneration, 1);
  assertMatch(condition?.message ?? "", /^the controller sites does not retry .*: Cannot serve "bad": it is reserved$/);
  assertEquals(more, []);
  const [event] = eventsOf(world);
  assertEquals(event, ["NotRetrying", 'Not retried, until something changes: Cannot serve "bad": it is reserved']);
  await world.patch(Site, "default/a", host("good"));
  await world.settled();
  assertEquals(conditions(world), []);
  assertEquals(world.get(ConfigMap, "default/a").data, { host: "good" });
});

test("a key that is given up after maxRetries leaves the condition, whose message does not change with each error", async () => {
  let failures = 0;
  const failing = sites(() => Promise.reject(new Error(`failure ${++failures}`)), {
    maxRetries: 2,
    ownWrites: "deliver",
  });
  await using world = await World.start({ controllers: [failing] });
  await world.create(Site, { name: "a", spec: { host: "x" } });
  await world.settled();
  // Its own write causes one more round of attempts, and that one writes nothing.
  assertMatch(conditions(world)[0]?.message ?? "", /failure 3$/);
  assert(failures <= 6, `${failures} attempts`);
  assertMatch(eventsOf(world)[0]?.[1] ?? "", /^Given up after 2 retries, until something changes: failure/);
});

test("an object that its kind cannot parse stalls at once, and other objects are reconciled", async () => {
  let attempts = 0;
  const strict = sites((ctx) => {
    attempts++;
    StrictSite.parse(ctx.object);
    return serve(ctx);
  });
  await using world = await World.start({ controllers: [strict] });
  await world.create(Site, { name: "a", spec: { host: "long" } });
  await world.create(Site, { name: "b", spec: { host: "ok" } });
  await world.settled();
  assertEquals(attempts, 2);
  assertMatch(conditions(world)[0]?.message ?? "", /Cannot parse Site "default\/a": spec\.host: /);
  assert(world.find(ConfigMap, "default/b") !== undefined);
});

test("an error about another object's schema is retried", async () => {
  let attempts = 0;
  const reading = sites((ctx) => {
    attempts++;
    if (attempts === 1) StrictSite.parse({ ...ctx.object, metadata: { name: "other" }, spec: { host: "long" } });
    return Promise.resolve(done);
  });
  await using world = await World.start({ controllers: [reading] });
  await world.create(Site, { name: "a", spec: { host: "x" } });
  await world.settled();
  assertEquals([attempts, conditions(world)], [2, []]);
});

test("a condition Stalled of the controller's own is neither replaced nor removed", async () => {
  const own: Condition = {
    type: "Stalled",
    status: "True",
    reason: "Quota",
    message: "no quota",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  };
  const writing = sites(async (ctx) => {
    await ctx.patchStatus({ conditions: [own] });
    return await serve(ctx);
  });
  await using world = await World.start({ controllers: [writing] });
  await world.create(Site, { name: "a", spec: { host: "bad" } });
  await world.settled();
  assertEquals(conditions(world), [own]);
  await world.patch(Site, "default/a", host("good"));
  await world.settled();
  assertEquals(conditions(world), [own]);
});

test("objects that stall and recover under faults end as without faults", async () => {
  const site = (value: string) => ({
    ...{ apiVersion: "example.dev/v1", kind: "Site" },
    metadata: { namespace: "default", name: "a" },
    spec: { host: value },
  });
  const object = { apiVersion: "example.dev/v1", kind: "Site", name: "a" };
  const recovering = () => controller("sites").for(Site, { when: changed.generation }).owns(ConfigMap).reconcile(serve);
  const workload: Workload = {
    name: "stall and recover",
    steps: [
      { kind: "create", object: site("bad") },
      { kind: "patch", object, patch: { metadata: { annotations: { note: "still bad" } } } },
      { kind: "patch", object, patch: { spec: { host: "good" } } },
    ],
  };
  const { findings } = await simulateController(recovering, { workloads: [workload], storms: 10 });
  assertEquals(findings.map(({ plan, violations, timeline }) => ({ plan, violations, timeline })), []);
});
