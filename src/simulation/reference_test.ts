/** Tests what is learned from runs without faults, and how it is compared. */
import { builtin } from "../api/mod.ts";
import { controller, type ControllerDefinition, done, manifest } from "../controller/mod.ts";
import type { OperatorController } from "../manager/mod.ts";
import { assert, assertEquals, assertStringIncludes, test } from "../../tests/testing.ts";
import { compareWithReference } from "./reference.ts";
import { runSchedule } from "./schedule.ts";
import { learnReference } from "./schedule_checker.ts";

const { ConfigMap, Secret } = builtin;
const object = { apiVersion: "v1", kind: "Secret", metadata: { name: "a", namespace: "default" } };
const workload = { name: "create", steps: [{ kind: "create", object }] } as const;

/** Makes the ConfigMaps that `namesIn` says for each run, counted from 0. */
function makes(namesIn: (run: number) => readonly string[]): OperatorController {
  let runs = 0;
  const create = (names: readonly string[]): ControllerDefinition =>
    controller("makes").for(Secret).owns(ConfigMap).reconcile(async (ctx) => {
      const { namespace } = ctx.object.metadata;
      for (const name of names) await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name }, data: { name } }));
      return done;
    });
  return { ...create([]), create: () => create(namesIn(runs++)) };
}

async function learned(subject: OperatorController) {
  const options = { controllers: [subject], workload };
  const reference = await learnReference(options);
  return {
    reference,
    compare: async () => compareWithReference(reference, await runSchedule(options), { faults: [] }),
  };
}

test("one object in the place of another is an outcome that is right, too", async () => {
  const { reference } = await learned(makes((run) => [run === 1 ? "east" : "west"]));
  assertEquals(reference.violations, []);
});

test("an object that only some runs without faults have is a violation, which calls no run right", async () => {
  const { reference } = await learned(makes((run) => run === 1 ? ["one"] : ["one", "two"]));
  const [violation] = reference.violations;
  assertStringIncludes(violation?.message ?? "", "configmaps default/two differs between runs without faults");
  assertEquals(reference.violations.length, 1);
});

test("a value that differs between runs without faults is compared by its presence", async () => {
  const values = await learned(makes((run) => [`name-${run}`]));
  assertEquals(await values.compare(), []);
});

test("a missing object is one difference, and its consequence is told", async () => {
  const { compare } = await learned(makes((run) => run === 3 ? ["one"] : ["one", "two"]));
  const [missing, lifecycle] = await compare();
  assertEquals(
    missing?.message,
    "configmaps default/two differs between orders of events: missing in this one, present in another",
  );
  assertEquals(missing?.consequence, "The ConfigMap default/two is missing at the end.");
  assert(lifecycle?.invariant === "object-lifecycle");
});

/** Creates a ConfigMap for each Secret that it does not remember. @param forgets Whether it forgets those that are deleted */
function remembers(forgets: boolean): ControllerDefinition {
  const known = new Set<string>();
  return controller("remembers").for(Secret).owns(ConfigMap).reconcileKey(async ({ key, namespace, name }, toolbox) => {
    const secret = toolbox.find(Secret, key);
    if (secret === undefined) {
      if (forgets) known.delete(key);
    } else if (!known.has(key)) {
      const owner = { resource: Secret, object: secret };
      await toolbox.apply(ConfigMap, manifest(ConfigMap, { metadata: { namespace, name }, data: {} }), owner);
      known.add(key);
    }
    return done;
  });
}

test("a memory that follows the objects is no violation, though all runs share it", async () => {
  const { reference } = await learned(remembers(true));
  assertEquals([reference.violations, reference.cleanUp], [[], true]);
});

test("a memory of deleted objects is a violation, without any fault", async () => {
  const { reference: { violations: [violation] } } = await learned(remembers(false));
  assertStringIncludes(violation?.message ?? "", "configmaps default/a differs between two runs of the same steps");
});

test("a controller without a memory costs no clean-up", async () => {
  assertEquals((await learned(makes(() => ["one"]))).reference.cleanUp, false);
});
