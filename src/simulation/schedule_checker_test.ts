/** Tests which runs show that users alone lead to a difference. */
import { assertEquals, test } from "../../tests/testing.ts";
import { controlsOf } from "./schedule_checker.ts";

const object = { apiVersion: "v1", kind: "Secret", metadata: { name: "a" } } as const;
const workload = { name: "w", steps: [{ kind: "create", object }, { kind: "create", object }] } as const;

test("controlsOf() keeps the deletion of a restart, without the restart", () => {
  const deletion = { kind: "restart", step: 2, deletes: 1 } as const;
  const plan = { faults: [deletion, { kind: "slow", write: 1, forMs: 20_000 } as const] };
  assertEquals(controlsOf(workload, plan), [{ workload, plan: { faults: [deletion] }, isRestarted: false }]);
});

test("controlsOf() keeps a step that comes early, without the stale start", () => {
  const plan = { faults: [{ kind: "stale", step: 1, back: 2, thawMs: 20_000, early: true } as const] };
  const [control, ...others] = controlsOf(workload, plan);
  assertEquals(others, []);
  assertEquals([control?.plan, control?.workload.steps.map(({ atOnce }) => atOnce)], [{ faults: [] }, [
    true,
    undefined,
  ]]);
});

test("controlsOf() has none for faults that only the operator sees", () => {
  assertEquals(controlsOf(workload, { faults: [{ kind: "restart", step: 1 }] }), []);
});
