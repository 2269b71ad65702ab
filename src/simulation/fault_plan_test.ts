/** Tests of the list of faults: everything else that knows the kinds follows from it. */
import { assert, assertEquals, test } from "../../tests/testing.ts";
import { faultKinds, faultPlanSchema, faultSchemas, faultText } from "./fault_plan.ts";
import { singleFaults } from "./fault_points.ts";

const points = { writes: 1, renewals: 1, reads: 1, events: 1, lists: new Map([["configmaps", 1]]) };
const where = { points, stepRevisions: [1, 1], dependents: [1, 1], replicas: 2, sharded: true };
const faults = [
  ...singleFaults(where, new Set(faultKinds)),
  ...singleFaults({ ...where, members: 2 }, new Set(["member"] as const)),
];

test("faultKinds lists the kind of each schema once", () => {
  assertEquals(faultKinds.length, faultSchemas.length);
  assertEquals(new Set<string>(faultKinds).size, faultKinds.length);
});

test("singleFaults() makes faults of every kind, and the schema accepts each of them", () => {
  assertEquals(new Set(faults.map(({ kind }) => kind)), new Set(faultKinds));
  assertEquals(faultPlanSchema.parse(JSON.parse(JSON.stringify({ faults }))), { faults: [...faults] });
});

test("faultText() describes different faults in different texts", () => {
  assertEquals(new Set(faults.map(faultText)).size, faults.length);
});

test("the schema rejects an unknown kind and a point below 1", () => {
  for (const fault of [{ kind: "flood" }, { kind: "crash", write: 0, moment: "before", downMs: 1 }, {}]) {
    assert(!faultPlanSchema.safeParse({ faults: [fault] }).success);
  }
});
