/** RunTotals: how much happened in runs, for the reports of a simulation. Plain JSON, so that processes can exchange it. */

/** How much happened in one or more runs. */
export interface RunTotals {
  /** Requests of the operator. */
  readonly requests: number;
  /** Faults that took place: a plan can name a point that its run does not reach. */
  readonly faults: number;
  readonly reconciles: number;
  /** Milliseconds on the virtual clocks. */
  readonly virtualMs: number;
}

/** Returns the sum of the totals of several runs. */
export function sumOf(totals: readonly RunTotals[]): RunTotals {
  return totals.reduce((sum, one) => ({
    requests: sum.requests + one.requests,
    faults: sum.faults + one.faults,
    reconciles: sum.reconciles + one.reconciles,
    virtualMs: sum.virtualMs + one.virtualMs,
  }), { requests: 0, faults: 0, reconciles: 0, virtualMs: 0 });
}
