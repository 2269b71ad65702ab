/** Tests of provenStarts(): at which steps a run may start from a snapshot. */
import { ObjectStorage } from "../../apiserver/mod.ts";
import { assertEquals, test } from "../../../tests/testing.ts";
import { clusterSummary } from "./cluster_summary.ts";
import type { PassedPoint } from "./passed_points.ts";
import { referenceOf } from "./program_reference.ts";
import { provenStarts } from "./proven_starts.ts";
import type { ForeignRunResult, StepEnd } from "./run_options.ts";

const pace = { quietMs: 1_000, patienceMs: 1_000, startMs: 1_000, settleMs: 1_000 };

function stepEnd(step: number, data: string, outcomes: StepEnd["outcomes"]): StepEnd {
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name: "a" }, data: { data } };
  const objects = [{ collection: "configmaps", object }];
  const state = { objects, changes: [], deletedNamespaces: new Set<string>(), outcomes: [] };
  const summary = clusterSummary(state);
  const snapshot = { storage: new ObjectStorage(), creators: { steps: new Set<string>(), program: new Set<string>() } };
  return { step, state, outcomes, summary, isSettled: true, maxGapMs: 10, tookMs: 100, revision: 1, snapshot };
}

function updateIn(step: number): PassedPoint {
  return { kind: "write", verb: "update", resource: "configmaps", name: "default/a", occurrence: 1, step };
}

/** A run of three steps, or of its end. */
function runFrom(firstStep: number, more: Partial<ForeignRunResult> = {}): ForeignRunResult {
  const steps = ["0", "1", "2", "3"].map((data, step) => {
    const performed = [1, 2, 3].filter((number) => number >= firstStep && number <= step);
    return stepEnd(step, data, performed.map((number) => ({ step: number, kind: "done", tookMs: 1 })));
  });
  const points = [1, 2, 3].filter((step) => step >= firstStep).map(updateIn);
  return {
    ...{
      firstStep,
      steps: steps.slice(firstStep - 1),
      points,
      hasStarted: true,
      watches: 1,
      collections: ["configmaps"],
    },
    ...{ violations: [], performed: [], exits: [], leftovers: [], applied: 0, requests: 0, entries: [] },
    ...{ output: [], errors: [], ms: 1, ...more },
  };
}

const reference = referenceOf([runFrom(1), runFrom(1)], 0, pace);

async function starts(differing: Partial<ForeignRunResult>): Promise<readonly number[]> {
  return [...await provenStarts(reference, (step) => Promise.resolve(runFrom(step, step === 3 ? differing : {})))];
}

test("runs may start at each step where a run without faults does the same", async () => {
  assertEquals(await starts({}), [2, 3, 4]);
});

test("runs do not start at a step where the program does not write what it writes after the steps before", async () => {
  assertEquals(await starts({ points: [] }), [2, 4]);
});

test("runs do not start at a step where the state or the outcome of a step is another one", async () => {
  const [start, end] = runFrom(3).steps;
  assertEquals(
    await starts({
      steps: start === undefined ? [] : [start, stepEnd(3, "other", [{ step: 3, kind: "done", tookMs: 1 }])],
    }),
    [2, 4],
  );
  assertEquals(
    await starts({
      steps: start === undefined ? [] : [start, stepEnd(3, "3", [{ step: 3, kind: "timedOut", tookMs: 1 }])],
    }),
    [2, 4],
  );
  assertEquals(await starts({ steps: end === undefined ? [] : [end] }), [2, 4]);
});

test("runs do not start at a step whose state was not kept", async () => {
  const steps = reference.steps.map((end) => ({ ...end, snapshot: undefined }));
  assertEquals([...await provenStarts({ ...reference, steps }, (step) => Promise.resolve(runFrom(step)))], []);
});
