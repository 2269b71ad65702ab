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
    "configmaps default/two differs between runs: missing with these faults, present without",
  );
  assertEquals(missing?.consequence, "The ConfigMap default/two is missing at the end.");
  assert(lifecycle?.invariant === "object-lifecycle");
});
