/** Tests of runs without faults and of what is reported of them, with results in the place of a program. */
import { assertEquals, test } from "../../../tests/testing.ts";
import { faultFreeReport, runsWithoutFaults } from "./fault_free_runs.ts";
import type { ForeignWorkload } from "./foreign_workload.ts";
import type { ForeignRunResult, PerformedStep } from "./run_options.ts";
import { configMap, runOf, stepEnd } from "./testing/program_runs.ts";

const target = { kind: "ConfigMap", name: "a" };
const workload: ForeignWorkload = {
  name: "delete",
  namespace: "default",
  steps: [
    { kind: "delete", target },
    { kind: "wait", target, until: { kind: "deleted" }, timeoutMs: 1_000 },
  ],
};
const deleted: PerformedStep = { step: 1, kind: "done", tookMs: 20 };
const waited: PerformedStep = { step: 2, kind: "done", tookMs: 300 };
const timedOut: PerformedStep = { step: 2, kind: "timedOut", message: "it is still there", tookMs: 1_000 };

/** Runs the workload so that it has these results. */
async function report(...results: readonly ForeignRunResult[]) {
  const left = [...results];
  const paces: number[] = [];
  const { runs } = await runsWithoutFaults(
    {
      runOnce: (_, { pace, endsAtFailure }) => {
        assertEquals(endsAtFailure, true);
        paces.push(pace.patienceMs);
        return Promise.resolve(left.shift() ?? runOf([]));
      },
    },
    workload,
    { runs: results.length, endsAtFailure: true },
  );
  return { ...faultFreeReport(workload, runs), paces };
}

function runWith(...performed: readonly PerformedStep[]): ForeignRunResult {
  const steps = [0, 1, 2].map((step) => ({ ...stepEnd([], step), tookMs: 3_200 }));
  return runOf([], { performed, steps, output: ["stopped"], usage: { cpuMs: 70, maxRssBytes: 1024 } });
}

test("a report has the time of each step without the quiet time after it, and what the program uses", async () => {
  const { runs: [run], failures, differences } = await report(runWith(deleted, waited));
  assertEquals(run?.steps.map(({ text, ms, kind }) => [text, ms, kind]), [
    ["start the operator", 200, "done"],
    ["delete ConfigMap a", 220, "done"],
    ["wait for ConfigMap a to be deleted", 500, "done"],
  ]);
  assertEquals([run?.ms, run?.cpuMs, run?.maxRssBytes], [920, 70, 1024]);
  assertEquals([failures, differences], [[], []]);
});

test("later runs wait no longer than the gaps between the changes of the first one need", async () => {
  const { paces } = await report(runWith(deleted, waited), runWith(deleted, waited));
  assertEquals(paces, [3_000, 1_000]);
});

test("a step that times out in one of three runs is a failure that says so, and the run is not compared", async () => {
  const good = runWith(deleted, waited);
  const bad = { ...runOf([configMap("a", {})]), performed: [deleted, timedOut] };
  const { failures, differences } = await report(good, bad, good);
  assertEquals(failures, ["step 2, wait for ConfigMap a to be deleted, fails in 1 of 3 runs: it is still there"]);
  assertEquals(differences, []);
});

test("a change that is rejected in all runs belongs to the workload, and in one of them is a failure", async () => {
  const rejected: PerformedStep = { step: 1, kind: "rejected", message: "it may not", tookMs: 1 };
  const always = await report(runWith(rejected, waited), runWith(rejected, waited));
  assertEquals(always.failures, []);
  const once = await report(runWith(rejected, waited), runWith(deleted, waited));
  assertEquals(once.failures, ["step 1, delete ConfigMap a, fails in 1 of 2 runs: it may not"]);
});

test("a program that ends without a fault is a failure", async () => {
  const ended = { ...runWith(deleted, waited), exits: [{ text: "exits with code 1", faults: 0 }] };
  const { failures } = await report(ended, runWith(deleted, waited));
  assertEquals(failures, ["the program exits with code 1, in 1 of 2 runs"]);
});

test("no run follows one in which the program has opened no watch", async () => {
  const { runs } = await report({ ...runWith(deleted), hasStarted: false }, runWith(deleted, waited));
  assertEquals(runs.length, 1);
});
