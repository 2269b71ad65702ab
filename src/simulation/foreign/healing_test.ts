/** Tests which violations a patient run refutes. */
import { assert, assertEquals, test } from "../../../tests/testing.ts";
import type { Fault, FaultPlan } from "../fault_plan.ts";
import type { Violation } from "../violation.ts";
import { canHeal, patienceOf } from "./healing.ts";

const write = { verb: "delete", resource: "secrets", name: "default/a", occurrence: 1, step: 2 } as const;
const crash: Fault = { kind: "crash", write, moment: "before", downMs: 50 };
const restarted: FaultPlan = { faults: [crash] };
const goingOn: FaultPlan = { faults: [{ kind: "reset", write, committed: true }] };

function broken(invariant: Violation["invariant"], isOnlyMissing?: boolean): Violation {
  return { invariant, message: "no", ...(isOnlyMissing === undefined ? {} : { isOnlyMissing }) };
}

test("after a restart, what is not done yet may still be done", () => {
  assert(canHeal(restarted, [broken("end-state"), broken("quiescence"), broken("leaked-object")]));
  assert(canHeal(restarted, [broken("object-lifecycle", true), broken("end-state")]));
});

test("after a restart, what was done too often stays so", () => {
  assert(!canHeal(restarted, [broken("object-lifecycle")]));
  assert(!canHeal(restarted, [broken("object-lifecycle", true), broken("object-lifecycle", false)]));
  assert(!canHeal(restarted, [broken("process-exit")]));
});

test("a process that goes on may repeat everything, and is waited for longer", () => {
  assert(canHeal(goingOn, [broken("object-lifecycle")]));
  assertEquals([patienceOf(restarted), patienceOf(goingOn)], [35_000, 70_000]);
});
