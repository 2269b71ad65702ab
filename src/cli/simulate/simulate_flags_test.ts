import { faultKinds, singleFaults } from "../../simulation/mod.ts";
import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { parseFaultPlan } from "./simulate_flags.ts";

test("a printed fault plan is read back with every kind of fault and all fields", () => {
  const points = { writes: 1, renewals: 1, reads: 1, events: 1, lists: new Map([["configmaps", 1]]) };
  const all = { points, stepRevisions: [1], dependents: [1], replicas: 2, sharded: true };
  const ofMembers = singleFaults({ ...all, members: 2 }, new Set(["member"] as const));
  const faults = [...singleFaults(all, new Set(faultKinds)), ...ofMembers];
  assertEquals(new Set(faults.map(({ kind }) => kind)), new Set(faultKinds));
  assertEquals(parseFaultPlan(JSON.stringify({ faults })), { faults: [...faults] });
});

test("parseFaultPlan() returns undefined for a text that is not a fault plan", () => {
  for (const text of ["", "{}", '{"faults":[{"kind":"flood"}]}', '{"faults":[{"kind":"crash","write":0}]}']) {
    assert(parseFaultPlan(text) === undefined);
  }
});
