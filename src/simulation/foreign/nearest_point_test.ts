/** Tests of atNearestPoint(): where a fault happens whose point a run did not come to. */
import { assertEquals, test } from "../../../tests/testing.ts";
import type { Fault } from "../fault_plan.ts";
import { atNearestPoint } from "./nearest_point.ts";
import type { PassedPoint } from "./passed_points.ts";

const point = { verb: "update", resource: "configmaps", name: "default/a", occurrence: 1, step: 4 };
const crash: Fault = { kind: "crash", write: point, moment: "before", downMs: 50 };

function passed(step: number, occurrence: number, more: Partial<PassedPoint> = {}): PassedPoint {
  return { ...point, kind: "write", step, occurrence, ...more };
}

test("a fault moves to the same write in the nearest step, and there to the nearest occurrence", () => {
  const points = [passed(1, 1), passed(3, 1), passed(3, 2)];
  assertEquals(atNearestPoint(crash, points), { ...crash, write: { ...point, step: 3, occurrence: 1 } });
  assertEquals(atNearestPoint({ ...crash, write: { ...point, occurrence: 3 } }, points), {
    ...crash,
    write: { ...point, step: 3, occurrence: 2 },
  });
});

test("a fault moves to the start of the run, which no step names", () => {
  const { step: _, ...first } = point;
  assertEquals(atNearestPoint(crash, [passed(0, 1)]), { ...crash, write: first });
});

test("a fault does not move to another object, verb, resource or kind of point", () => {
  const others = [{ name: "default/b" }, { verb: "create" }, { resource: "secrets" }, { kind: "event" as const }];
  assertEquals(atNearestPoint(crash, others.map((more) => passed(4, 2, more))), undefined);
});

test("faults of events and of answers move within their kind of point", () => {
  const event: Fault = { kind: "event", event: point, action: "gone", forMs: 0 };
  const answer: Fault = { kind: "answer", of: "write", request: point, code: 409 };
  const points = [passed(3, 1), passed(2, 1, { kind: "event" })];
  assertEquals(atNearestPoint(event, points), { ...event, event: { ...point, step: 2 } });
  assertEquals(atNearestPoint(answer, points), { ...answer, request: { ...point, step: 3 } });
});

test("a fault that a number names, or a step, does not move", () => {
  assertEquals(atNearestPoint({ kind: "stale", step: 1, back: 1, thawMs: 1 }, [passed(4, 1)]), undefined);
  assertEquals(atNearestPoint({ ...crash, write: 3 }, [passed(4, 1)]), undefined);
});
