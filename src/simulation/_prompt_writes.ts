/**
 * PromptWrites: how soon the operator writes after each step of a workload. In a fleet, a cluster with a problem must not delay
 * the others: what they get at once without that problem, they get at once with it.
 */
import type { Clock } from "../async/mod.ts";

/** Virtual milliseconds within which a write follows its step at once. */
const promptMs = 1_000;
/** Virtual milliseconds that it may take longer while another cluster has a problem. */
const boundMs = 1_000;

/** The writes after one step. */
export interface StepWrites {
  /** Those that come at once. */
  readonly prompt: number;
  /** Those that come within the bound. */
  readonly inTime: number;
}

export class PromptWrites {
  readonly #clock: Pick<Clock, "monotonic">;
  /** Virtual milliseconds from each step to its writes. */
  readonly #delays: number[][] = [];
  #stepAt = 0;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** A user begins a step. */
  startStep(): void {
    this.#stepAt = this.#clock.monotonic();
    this.#delays.push([]);
  }

  /** The operator writes. */
  onWrite(): void {
    this.#delays.at(-1)?.push(this.#clock.monotonic() - this.#stepAt);
  }

  /** The writes after each step. */
  steps(): readonly StepWrites[] {
    return this.#delays.map((delays) => ({
      prompt: delays.filter((delay) => delay <= promptMs).length,
      inTime: delays.filter((delay) => delay <= promptMs + boundMs).length,
    }));
  }
}
