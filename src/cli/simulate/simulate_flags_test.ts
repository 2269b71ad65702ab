/** That every fault the simulation plays can be handed back to it as it was printed. */
import { faultKinds, singleFaults } from "../../simulation/mod.ts";
import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { parsedPlan } from "./simulate_flags.ts";

test("each kind of fault, with all that it says, is read back from the plan that was printed", () => {
  const points = { writes: 1, renewals: 1, reads: 1, events: 1, lists: new Map([["configmaps", 1]]) };
  const faults = singleFaults({ points, stepRevisions: [1], replicas: 2 }, new Set(faultKinds));
  assertEquals(new Set(faults.map(({ kind }) => kind)), new Set(faultKinds));
  assertEquals(parsedPlan(JSON.stringify({ faults })), { faults: [...faults] });
});

test("a text that is no plan is none", () => {
  for (const text of ["", "{}", '{"faults":[{"kind":"flood"}]}', '{"faults":[{"kind":"crash","write":0}]}']) {
    assert(parsedPlan(text) === undefined);
  }
});
