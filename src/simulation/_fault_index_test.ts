/** Tests of points that are named by what happens there. */
import { assertEquals, test } from "../../tests/testing.ts";
import { FaultIndex } from "./_fault_index.ts";
import { type Fault, faultPlanSchema, faultText } from "./fault_plan.ts";

const create = { verb: "create", resource: "services", name: "default/web" };
const kindsAt = (faults: readonly Fault[]) => faults.map(({ kind }) => kind);

test("a named point is that occurrence of the request, whatever number it has", () => {
  const index = new FaultIndex({ faults: [{ kind: "reset", write: { ...create, occurrence: 2 }, committed: true }] });
  assertEquals(kindsAt(index.atWrite(7, create)), []);
  assertEquals(kindsAt(index.atWrite(8, { ...create, name: "default/other" })), []);
  assertEquals(kindsAt(index.atWrite(9, create)), ["reset"]);
  assertEquals(kindsAt(index.atWrite(10, create)), []);
  assertEquals(index.applied, 1);
});

test("a named point without an object counts the requests for all objects", () => {
  const write = { verb: "create", resource: "services", occurrence: 2 };
  const index = new FaultIndex({ faults: [{ kind: "slow", write, forMs: 1 }] });
  assertEquals(kindsAt(index.atWrite(1, create)), []);
  assertEquals(kindsAt(index.atWrite(2, { ...create, name: "default/other" })), ["slow"]);
});

test("a crash with again happens once more at the next write, also after a named point", () => {
  const write = { ...create, occurrence: 1 };
  const index = new FaultIndex({ faults: [{ kind: "crash", write, moment: "before", downMs: 5, again: "committed" }] });
  assertEquals(kindsAt(index.atWrite(4, create)), ["crash"]);
  assertEquals(index.atWrite(5), [{ kind: "crash", write: 5, moment: "committed", downMs: 5 }]);
  assertEquals(index.atWrite(6), []);
});

test("a plan with named points is read back from JSON, and its text says the point", () => {
  const at = { verb: "DELETED", resource: "services", name: "default/web", occurrence: 1 };
  const faults: readonly Fault[] = [{ kind: "stale", step: 2, back: 0, at, thawMs: 1 }];
  assertEquals(faultPlanSchema.parse(JSON.parse(JSON.stringify({ faults }))), { faults: [...faults] });
  assertEquals(
    faults.map(faultText),
    ["restart after step 2 on a server that shows the state after the first DELETED of services default/web"],
  );
});

test("a named point with a step counts from the start of that step", () => {
  const write = { ...create, occurrence: 1, step: 2 };
  const index = new FaultIndex({ faults: [{ kind: "reset", write, committed: false }] });
  index.startStep(1);
  assertEquals(kindsAt(index.atWrite(1, create)), []);
  index.startStep(2);
  assertEquals(kindsAt(index.atWrite(2, create)), ["reset"]);
});
