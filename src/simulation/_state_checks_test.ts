/** Tests what authors can declare: invariants, equally right results, external systems, and factories. */
import { builtin } from "../api/mod.ts";
import { controller, type ControllerDefinition, done, manifest } from "../controller/mod.ts";
import {
  eventually,
  never,
  type OperatorController,
  type SimulationChecks,
  withChecks,
  withFactory,
} from "../manager/mod.ts";
import { assert, assertEquals, assertStringIncludes, test } from "../../tests/testing.ts";
import type { FaultKind } from "./fault_plan.ts";
import { simulate } from "./simulate.ts";
import { simulateController } from "./simulate_controller.ts";

const { ConfigMap, Secret } = builtin;
const metadata = { name: "a", namespace: "default" };
const object = { apiVersion: "v1", kind: "Secret", metadata };
const touch = { kind: "patch", object: { ...object, name: "a" }, patch: { metadata: { labels: { a: "b" } } } } as const;
const workloads = [{ name: "create", steps: [{ kind: "create", object }, touch] }] as const;

/** The messages of the first finding. */
async function found(subject: OperatorController, kinds: readonly FaultKind[]): Promise<readonly string[]> {
  const { findings: [first] } = await simulate({
    controller: subject,
    workloads,
    kinds: new Set(kinds),
    maxFindings: 1,
  });
  return first?.violations.map(({ invariant, message }) => `${invariant}: ${message}`) ?? [];
}

/** Writes the data one after the other. */
function writes(...steps: readonly Readonly<Record<string, string>>[]): ControllerDefinition {
  return controller("writes").for(Secret).owns(ConfigMap).reconcile(async (ctx) => {
    for (const data of steps) await ctx.apply(manifest(ConfigMap, { metadata, data }));
    return done;
  });
}

test("never() finds a state that heals at once", async () => {
  const invariant = never("the phase is wrong", (state) => state.find(ConfigMap, "default/a")?.data?.phase === "wrong");
  const healing = withChecks(writes({ phase: "wrong" }, { phase: "right" }), { invariants: [invariant] });
  assertEquals((await found(healing, []))[0], "never: the phase is wrong: it must never be so");
  assertEquals(await found(withChecks(writes({ phase: "right" }), { invariants: [invariant] }), []), []);
});

test("eventually() is checked at the end", async () => {
  const invariant = eventually("there are two", (state) => state.list(ConfigMap, "default").length === 2);
  assertEquals(
    (await found(withChecks(writes({}), { invariants: [invariant] }), []))[0],
    "eventually: there are two: not so at the end",
  );
});

/** Writes another value in each further process of a run. @param checks further ones */
function varies(checks: SimulationChecks): OperatorController {
  let starts = 0;
  const create = () => writes({ random: starts++ === 0 ? "1" : "2" });
  const counter = { name: "starts", reset: () => void (starts = 0) };
  return { ...withFactory(create), checks: { externalSystems: [counter], ...checks } };
}

test("equivalent() decides which differences are right", async () => {
  assertStringIncludes((await found(varies({}), ["restart"]))[0] ?? "", '"2" with these faults, "1" without');
  const equivalent: SimulationChecks["equivalent"] = (actual, expected) => actual?.kind === expected?.kind;
  assertEquals(await found(varies({ equivalent }), ["restart"]), []);
});

test("an external system survives a crash, is emptied before each run, and is compared", async () => {
  const records: string[] = [];
  let resets = 0;
  const checks: SimulationChecks = {
    externalSystems: [{
      name: "dns",
      reset: () => {
        resets++;
        records.length = 0;
      },
      state: () => ({ records: [...records] }),
    }],
  };
  const careless = controller("dns").for(Secret).owns(ConfigMap).reconcile(async (ctx) => {
    if (ctx.find(ConfigMap, "default/a") !== undefined) return done;
    records.push("a.example.com"); // not idempotent: a crash before the ConfigMap leaves two records
    await ctx.apply(manifest(ConfigMap, { metadata, data: { record: "a" } }));
    return done;
  });
  assertStringIncludes(
    (await found(withChecks(careless, checks), ["crash"]))[0] ?? "",
    "external dns .state.records[1]",
  );
  assert(resets > 3);
});

test("a controller that is made by a function loses its memory with its process", async () => {
  const remembers = () => {
    const names = new Map<string, string>();
    return controller("remembers").for(Secret).owns(ConfigMap, { deletes: true }).reconcile(async (ctx) => {
      const { name = "", namespace, labels } = ctx.object.metadata;
      const child = `${name}-${labels?.["a"] ?? "none"}`;
      const old = names.get(name);
      await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name: child }, data: {} }));
      // Wrong: only this process knows that the old one exists.
      if (old !== undefined && old !== child) await ctx.client.delete(ConfigMap, `${namespace}/${old}`);
      names.set(name, child);
      return done;
    });
  };
  const { findings: [finding] } = await simulateController(remembers, { workloads });
  assert(/"kind":"(?:crash|restart)"/.test(finding?.plan ?? ""), finding?.plan);
  assertStringIncludes(finding?.violations[0]?.message ?? "", "configmaps default/a-none");
});
