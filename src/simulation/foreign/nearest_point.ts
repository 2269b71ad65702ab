/**
 * atNearestPoint(): a fault whose point a run did not come to, at the point of that run that is most like it. Where a step ends
 * is a matter of time: with a timer that is longer than the step, what a program does after it belongs to the next step in one
 * run, and not in another.
 */
import type { PointKind } from "../engine.ts";
import type { Fault, NamedPoint } from "../fault_plan.ts";
import { type PassedPoint, pointOf } from "./passed_points.ts";

/**
 * The same fault at another point.
 *
 * @param passed the points of the run that did not come to it
 * @returns undefined when the run did nothing like it, or the point has no name
 */
export function atNearestPoint(fault: Fault, passed: readonly PassedPoint[]): Fault | undefined {
  const point = pointOf(fault);
  if (point === undefined) return undefined;
  const { verb, resource, name } = point;
  const kind = kindOf(fault);
  const [nearest] = passed
    .filter((one) => one.kind === kind && one.verb === verb && one.resource === resource)
    .filter((one) => name === undefined || one.name === name)
    .toSorted((a, b) => distance(a, point) - distance(b, point));
  if (nearest === undefined) return undefined;
  const { occurrence, step } = nearest;
  const named = { verb, resource, ...(name === undefined ? {} : { name }) };
  return movedTo(fault, { ...named, occurrence, ...(step === 0 ? {} : { step }) });
}

function kindOf(fault: Fault): PointKind {
  if (fault.kind === "event") return "event";
  return fault.kind === "answer" || fault.kind === "pause" ? fault.of : "write";
}

/** Another step is further away than any occurrence in the same one. */
function distance(passed: PassedPoint, { step = 0, occurrence }: NamedPoint): number {
  return Math.abs(passed.step - step) * 1_000 + Math.abs(passed.occurrence - occurrence);
}

function movedTo(fault: Fault, point: NamedPoint): Fault {
  switch (fault.kind) {
    case "event":
      return { ...fault, event: point };
    case "answer":
    case "pause":
      return { ...fault, request: point };
    case "crash":
    case "reset":
    case "slow":
    case "partition":
    case "scale":
    case "actor":
    case "lease":
      return { ...fault, write: point };
    default:
      return fault;
  }
}
