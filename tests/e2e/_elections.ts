/**
 * electionTest(): registers a test of an election between processes.
 *
 * A leader whose machine stalls for two seconds loses a Lease of three, which is right, but not what the test is about. So
 * a test that fails runs again with longer times: it fails when it fails with the longest ones, whose Lease lasts as long
 * as an operator's default.
 */
import type { ControlPlane } from "../controlplane/mod.ts";
import { controlPlaneTest } from "../controlplane/test.ts";

/** The times of an election, in milliseconds. */
export interface ElectionTimes {
  readonly leaseMs: number;
  readonly renewDeadlineMs: number;
  readonly retryMs: number;
}

const factors = [1, 5, 15] as const;
let factor: number = factors[0];

/** Short times for tests. */
const shortest: ElectionTimes = { leaseMs: 3_000, renewDeadlineMs: 2_000, retryMs: 400 };

/** The times of the present run: short at first, longer after a failure. */
export function electionTimes(): ElectionTimes {
  const { leaseMs, renewDeadlineMs, retryMs } = shortest;
  return { leaseMs: leaseMs * factor, renewDeadlineMs: renewDeadlineMs * factor, retryMs: retryMs * factor };
}

/** Registers a test whose replicas use {@link electionTimes}. */
export function electionTest(name: string, fn: (controlPlane: ControlPlane) => Promise<void>): void {
  controlPlaneTest(name, async (controlPlane) => {
    const failures: unknown[] = [];
    for (factor of factors) {
      try {
        return await fn(controlPlane);
      } catch (error) {
        console.log(`failed with a Lease of ${electionTimes().leaseMs} ms: ${error}`);
        failures.push(error);
      }
    }
    throw failures.at(-1);
  });
}
