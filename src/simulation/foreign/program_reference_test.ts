/** Tests of what runs without faults teach, and of how other runs are compared with it. */
import type { KubeObject } from "../../api/mod.ts";
import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { type Fault, faultKinds } from "../fault_plan.ts";
import type { PassedPoint } from "./passed_points.ts";
import { programFaults } from "./program_faults.ts";
import { compareRun, wasDifferentBefore } from "./compare_run.ts";
import { referenceOf } from "./program_reference.ts";
import type { StepEnd } from "./run_options.ts";
import { configMap, runOf, stepEnd } from "./testing/program_runs.ts";

const pace = { quietMs: 1_000, patienceMs: 1_000, startMs: 1_000, settleMs: 1_000 };
const crash: Fault = { kind: "crash", write: 1, moment: "before", downMs: 1 };

const usual = runOf([configMap("a", { color: "blue", port: "8001" })]);
const reference = referenceOf([usual, runOf([configMap("a", { color: "blue", port: "8002" })])], 0, pace);

test("what differs between runs without faults is not compared", () => {
  const result = runOf([configMap("a", { color: "blue", port: "9999" })]);
  assertEquals(compareRun(reference, result, { faults: [crash] }), []);
});

test("a list item whose name the server generates is not compared, and the items beside it are", () => {
  const withVolume = (suffix: string): KubeObject & { readonly spec: unknown } => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace: "default", name: "a", uid: "a" },
    spec: {
      volumes: [
        { name: "data", hostPath: { path: "/data" } },
        { name: `token-${suffix}`, projected: { defaultMode: 420 } },
      ],
    },
  });
  const known = referenceOf([runOf([withVolume("x1")]), runOf([withVolume("x2")])], 0, pace);
  assertEquals(compareRun(known, runOf([withVolume("x3")]), { faults: [crash] }), []);
  const other = { ...withVolume("x3"), spec: { volumes: [{ name: "data", hostPath: { path: "/other" } }] } };
  const messages = compareRun(known, runOf([other]), { faults: [crash] }).map(({ message }) => message);
  assertEquals(messages, [
    'configmaps default/a .spec.volumes[name=data].hostPath.path is "/other", without faults "/data"',
  ]);
});

test("a run waits for what is missing by the slowest reaction of the program, and not by its start", () => {
  const reacting = (startGapMs: number, gapMs: number) => {
    const steps = [{ ...stepEnd([], 0), maxGapMs: startGapMs }, { ...stepEnd([]), maxGapMs: gapMs }];
    return referenceOf([runOf([], { steps })], 0, pace).pace.patienceMs;
  };
  assertEquals([reacting(10, 20), reacting(9_000, 20), reacting(10, 3_000), reacting(10, 60_000)], [
    ...[5_000, 5_000, 15_000, 30_000],
  ]);
});

test("a step that ends differently is a violation, but not when runs without faults end it differently", () => {
  const endOf = (outcome: "done" | "timedOut") => {
    const end = stepEnd([configMap("a", { color: "blue" })]);
    return runOf([], { steps: [stepEnd([], 0), { ...end, outcomes: [{ step: 1, kind: outcome, tookMs: 1 }] }] });
  };
  const same = referenceOf([endOf("done"), endOf("done")], 0, pace);
  const messages = compareRun(same, endOf("timedOut"), { faults: [crash] }).map(({ message }) => message);
  assertEquals(messages, ['step 1 ended "timedOut", without faults "done"']);
  const varied = referenceOf([endOf("done"), endOf("timedOut")], 0, pace);
  assertEquals(compareRun(varied, endOf("timedOut"), { faults: [crash] }), []);
});

test("a run that differs before the step of its fault is recognized, also when that step was seen again", () => {
  const [start, end] = [stepEnd([], 0), stepEnd([configMap("a", { color: "blue" })])];
  const known = referenceOf([runOf([], { steps: [start, end] }), runOf([], { steps: [start, end] })], 0, pace);
  const stale = { faults: [{ kind: "stale", step: 1, back: 1, thawMs: 1 } as const] };
  const other = stepEnd([configMap("a", { color: "red" })]);
  const isDifferent = (last: StepEnd) => wasDifferentBefore(known, runOf([], { steps: [start, last] }), stale);
  assertEquals([end, other].map(isDifferent), [false, true]);
  assertEquals(isDifferent({ ...other, before: end.summary }), false);
  assertEquals(isDifferent({ ...end, before: other.summary }), true);
  assertEquals(wasDifferentBefore(known, runOf([], { steps: [start, other] }), { faults: [crash] }), false);
});

test("another value is a violation that names the object, shows both values, and says what it means", () => {
  const result = runOf([configMap("a", { color: "red", port: "8001" })]);
  assertEquals(compareRun(reference, result, { faults: [crash] }), [{
    invariant: "end-state",
    message: 'configmaps default/a .data.color is "red", without faults "blue"',
    consequence: "The ConfigMap default/a ends with another .data.color.",
    object: "configmaps default/a",
  }]);
});

test("an object that does not exist is one violation of the end state", () => {
  const found = compareRun(reference, runOf([]), { faults: [crash] });
  assertEquals(found.map(({ message }) => message), [
    "configmaps default/a is missing, without faults created 1, deleted 0",
    "configmaps default/a does not exist, without faults it does",
  ]);
  assertEquals(found.map(({ consequence }) => consequence), [
    "The ConfigMap default/a was never created.",
    "The ConfigMap default/a is missing at the end.",
  ]);
  assertEquals(found.map(({ isOnlyMissing }) => isOnlyMissing), [true, undefined]);
});

test("an object whose name has a UID is named by the object with that UID", () => {
  const uid = "11111111-2222-3333-4444-555555555555";
  const named = referenceOf(
    [runOf([{ ...configMap("a", {}), metadata: { namespace: "default", name: "a", uid } }])],
    0,
    pace,
  );
  const [, extra] = compareRun(
    named,
    runOf([
      { ...configMap("a", {}), metadata: { namespace: "default", name: "a", uid } },
      configMap(`b-${uid}`, {}),
    ]),
    { faults: [crash] },
  );
  assertEquals(extra?.message, "configmaps default/b-<UID of configmaps default/a> exists, without faults it does not");
});

test("what stays when its object was deleted is a leak, unless it stays without faults, too", () => {
  const site: KubeObject = { apiVersion: "v1", kind: "Site", metadata: { namespace: "default", name: "a" } };
  const secret: KubeObject = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: "default", name: "a", uid: "s" },
  };
  const leftovers = [{ view: { collection: "secrets", object: secret }, of: site }];
  const leaky = { ...usual, leftovers };
  assertEquals(compareRun(reference, leaky, { faults: [crash] }), [{
    invariant: "leaked-object",
    message: "secrets default/a stays after the deletion of Site default/a, without faults it does not",
    consequence: "The Secret default/a stays after the deletion of Site default/a.",
    object: "secrets default/a",
  }]);
  assertEquals(compareRun(referenceOf([leaky], 0, pace), leaky, { faults: [crash] }), []);
});

test("a program that ends after a fault is started again, and only a crash loop is a violation", () => {
  const after = (exits: number, faults = 1) => ({
    ...usual,
    exits: Array.from({ length: exits }, () => ({ text: "exits with code 1", faults })),
  });
  assertEquals(compareRun(reference, after(1), { faults: [crash] }), []);
  assertEquals(compareRun(reference, after(3), { faults: [crash] }).map(({ message }) => message), [
    "the program exits with code 1, 3 times after the last fault",
  ]);
  // Each of several faults may end a process.
  const several = { ...usual, exits: [0, 1, 2].map((faults) => ({ text: "exits with code 1", faults })) };
  assertEquals(compareRun(reference, several, { faults: [crash, crash] }), []);
  assertEquals(compareRun(reference, after(1), { faults: [] }).length, 1);
});

test("faults are planned only at points that every run has passed, with names", () => {
  const point = (name: string): PassedPoint => {
    return { kind: "write", verb: "create", resource: "configmaps", name, occurrence: 1, step: 1 };
  };
  const runs = [["default/a", "default/b-x1"], ["default/a", "default/b-x2"]].map((names) =>
    runOf([], { points: names.map(point) })
  );
  const faults = programFaults(referenceOf(runs, 0, pace), new Set(["crash"]));
  const write = { verb: "create", resource: "configmaps", name: "default/a", occurrence: 1, step: 1 };
  assertEquals(faults.map((fault) => "write" in fault && fault.write), [write, write]);
});

test("a user interferes only with objects of collections that the program watches", () => {
  const points = ["configmaps", "secrets"].map((resource): PassedPoint => {
    return { kind: "write", verb: "create", resource, name: "default/a", occurrence: 1, step: 1 };
  });
  const faults = programFaults(referenceOf([runOf([], { points })], 0, pace), new Set(faultKinds));
  const resources = new Set(
    faults.flatMap((fault) => fault.kind === "actor" && typeof fault.write === "object" ? [fault.write.resource] : []),
  );
  assertEquals(resources, new Set(["configmaps"]));
  assert(faults.some((fault) => fault.kind === "crash"));
});
