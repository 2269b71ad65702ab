/** PassedPoints: the points that a run has passed, named by what happened there. Faults can be planned at each of them. */
import type { PointKind } from "../engine.ts";
import type { Fault, NamedPoint, PointName } from "../fault_plan.ts";

/** A point that a run has passed. */
export interface PassedPoint extends NamedPoint {
  readonly kind: PointKind;
  /** The step that was going on; 0 is the start. */
  readonly step: number;
  /** Empty for a request that names no object. */
  readonly name: string;
}

/** The points of one run. */
export class PassedPoints {
  readonly list: PassedPoint[] = [];
  /** The collections that the program has watched. */
  readonly collections: Set<string> = new Set();
  readonly #occurrences = new Map<string, number>();
  #step = 0;

  /** Occurrences count from here. */
  startStep(step: number): void {
    this.#step = step;
    this.#occurrences.clear();
  }

  add(kind: PointKind, { verb, resource, name }: PointName): void {
    if (kind === "read" && verb === "watch") this.collections.add(resource);
    const key = `${kind} ${verb} ${resource} ${name}`;
    const occurrence = (this.#occurrences.get(key) ?? 0) + 1;
    this.#occurrences.set(key, occurrence);
    this.list.push({ kind, verb, resource, name, occurrence, step: this.#step });
  }
}

/** The first step of a run that can have a fault: the state before that step is the same as without it. */
export function firstStepOf(fault: Fault): number {
  // A stale start follows its step, and the program starts anyway.
  if (fault.kind === "stale") return fault.step + 1;
  return stepOf(fault) ?? 1;
}

/** The step that a fault names, if it names one. */
export function stepOf(fault: Fault): number | undefined {
  return fault.kind === "stale" ? fault.step : pointOf(fault)?.step;
}

/** The point of a fault, if it has a name. */
export function pointOf(fault: Fault): NamedPoint | undefined {
  const point = "write" in fault
    ? fault.write
    : "event" in fault
    ? fault.event
    : "request" in fault
    ? fault.request
    : undefined;
  return typeof point === "object" ? point : undefined;
}
