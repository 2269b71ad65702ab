/**
 * One run of a program: its slots, what it has cost so far, and the shape of a planned node. A run ends when it costs more than it may.
 */
import type { Value } from "./values.ts";

/** The state of one run. */
export interface Frame {
  /** The variables, then those of loops. */
  readonly slots: Value[];
  cost: number;
  readonly limit: number;
}

/** One planned node. */
export type Evaluate = (frame: Frame) => Value;

/** Ends a run that costs more than it may. */
export class CostExceeded extends Error {}

/** Adds to what the run has cost. @throws CostExceeded */
export function charge(frame: Frame, cost: number): void {
  frame.cost += cost;
  if (frame.cost > frame.limit) throw new CostExceeded();
}
