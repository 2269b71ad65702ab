/** Tests that controllers which act by time are not accused, and that those which never rest are. */
import { builtin } from "../api/mod.ts";
import { controller, type ControllerDefinition, done, manifest, requeueAfter } from "../controller/mod.ts";
import type { Workload } from "../manager/mod.ts";
import { assert, assertEquals, assertStringIncludes, test } from "../../tests/testing.ts";
import type { FaultKind } from "./fault_plan.ts";
import { simulate, type SimulateReport } from "./simulate.ts";

const { ConfigMap, Secret } = builtin;
const object = { apiVersion: "v1", kind: "Secret", metadata: { name: "a", namespace: "default" } };
const workloads: readonly Workload[] = [{ name: "create", steps: [{ kind: "create", object }] }];

function simulated(subject: ControllerDefinition, kinds: readonly FaultKind[] = ["crash", "reset", "stale"]) {
  return simulate({ controller: subject, workloads, kinds: new Set(kinds), maxFindings: 1 });
}

function violations({ findings }: SimulateReport): readonly string[] {
  return findings.flatMap((finding) => finding.violations.map(({ invariant, message }) => `${invariant}: ${message}`));
}

/** Sets the phase to what `phaseAt` says about the seconds since the creation, and looks again after `everyMs`. */
function phased(everyMs: number, phaseAt: (seconds: number) => string): ControllerDefinition {
  return controller("phased").for(Secret).owns(ConfigMap).reconcile(async (ctx) => {
    const createdAt = Date.parse(ctx.object.metadata.creationTimestamp ?? "");
    const phase = phaseAt(Math.floor((ctx.clock.now() - createdAt) / 1_000));
    await ctx.apply(manifest(ConfigMap, { metadata: { name: "a", namespace: "default" }, data: { phase } }));
    return requeueAfter(everyMs);
  });
}

test("a requeue that is due later is waited for", async () => {
  const late = phased(20_000, (seconds) => seconds < 20 ? "waiting" : "done");
  assertEquals(violations(await simulated(late)), []);
});

test("a heartbeat is not accused of restlessness, and its values are not compared", async () => {
  const heartbeat = phased(15_000, (seconds) => `alive for ${seconds} s`);
  assertEquals(violations(await simulated(heartbeat)), []);
});

test("two values that take turns have no end", async () => {
  const flapping = phased(10_000, (seconds) => Math.floor(seconds / 10) % 2 === 0 ? "one" : "other");
  assertStringIncludes(violations(await simulated(flapping))[0] ?? "", "alternates between");
});

test("a controller that requeues without a delay is found early, and called a hot loop", async () => {
  let reconciles = 0;
  const hot = controller("hot").for(Secret).reconcile(() => {
    reconciles++;
    return Promise.resolve(requeueAfter(0));
  });
  const report = await simulated(hot);
  assertStringIncludes(violations(report)[0] ?? "", "quiescence: hot loop: controller hot default/a was reconciled");
  assert(reconciles < 20_000, `${reconciles} reconciles`);
});

test("a controller that does nothing is at rest", async () => {
  assertEquals(violations(await simulated(controller("idle").for(Secret).reconcile(() => Promise.resolve(done)))), []);
});
