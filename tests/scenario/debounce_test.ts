/** Collecting the changes of a watched kind, through the public surface. */
import { assertEquals, assertThrows, test } from "../testing.ts";
import { ConfigMap, controller, type ControllerDefinition, done, Secret } from "../../src/mod.ts";
import { simulateController, World } from "../../src/testing.ts";

/** Reconciles the Secret `a` after changes of ConfigMaps. */
function bursts(onReconcile: (causes: number) => void): ControllerDefinition {
  return controller("bursts").for(Secret).watches(ConfigMap, {
    to: ({ metadata }) => metadata.name?.startsWith("x") ? ["default/a"] : [],
    debounceMs: 500,
    maxMs: 2_000,
  }).reconcile((ctx) => {
    onReconcile(ctx.causes.length);
    return Promise.resolve(done);
  });
}

async function worldWithSecret(onReconcile: (causes: number) => void): Promise<World> {
  const world = await World.start({ controllers: [bursts(onReconcile)], cluster: false });
  await world.create(Secret, { name: "a" });
  await world.settled();
  return world;
}

/** Advances the clock in small steps, so that the events of the server arrive in between. */
async function pass(world: World, ms: number): Promise<void> {
  for (let step = 0; step < ms / 10; step++) await world.clock.advance(10);
}

test("a burst of changes is one reconcile, when the changes have stopped", async () => {
  const reconciles: { at: number; causes: number }[] = [];
  let started = 0;
  let world: World | undefined = undefined;
  await using running = await worldWithSecret((causes) => {
    if (world !== undefined) reconciles.push({ at: running.clock.now() - started, causes });
  });
  world = running;
  started = running.clock.now();
  for (const name of ["x1", "x2", "x3"]) {
    await running.create(ConfigMap, { name });
    await pass(running, 400);
  }
  await running.settled();
  assertEquals(reconciles.map(({ causes }) => causes), [3]);
  assertEquals(reconciles.every(({ at }) => at >= 1_300 && at < 1_400), true, JSON.stringify(reconciles));
});

test("changes without end are reconciled after the maximum, and a deletion counts as a change", async () => {
  let reconciles = 0;
  await using world = await worldWithSecret(() => reconciles++);
  reconciles = 0;
  for (let index = 0; index < 12; index++) {
    await world.create(ConfigMap, { name: `x${index}` });
    await pass(world, 400);
  }
  assertEquals(reconciles, 2);
  await world.settled();
  assertEquals(reconciles, 3);
  await world.delete(ConfigMap, "default/x0");
  await world.settled();
  assertEquals(reconciles, 4);
});

test("times that cannot be used are refused", () => {
  const to = () => [];
  for (const times of [{ debounceMs: -1 }, { debounceMs: 10, maxMs: 5 }, { maxMs: 5 }, { debounceMs: Infinity }]) {
    assertThrows(() => controller("x").for(Secret).watches(ConfigMap, { to, ...times }), /Cannot debounce changes/);
  }
});

test("simulate finds nothing wrong with a controller that collects changes", async () => {
  const map = { apiVersion: "v1", kind: "ConfigMap" };
  const create = (name: string) =>
    ({ kind: "create", object: { ...map, metadata: { name, namespace: "default" } }, atOnce: true }) as const;
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "a", namespace: "default" } };
  const steps = [{ kind: "create", object: secret }, create("x1"), create("x2")] as const;
  const { findings } = await simulateController(() => bursts(() => {}), {
    workloads: [{ name: "burst", steps }],
    storms: 10,
  });
  assertEquals(findings.map(({ plan, violations }) => ({ plan, violations })), []);
});
