/**
 * Waits until another process has reached a state, by polling until a deadline.
 *
 * A real process gives no signal to wait for, so this is the only place in the harness that sleeps. `until` returns as
 * soon as the value is found; its error names the expected and the last state.
 */
import { setTimeout as sleep } from "node:timers/promises";

/** The result of a probe: the expected value, or the present state. */
export type Probe<T> = { readonly kind: "found"; readonly value: T } | {
  readonly kind: "pending";
  readonly state: string;
};

/**
 * Milliseconds until a wait for another process fails. It only ends a test that hangs, so it is far longer than anything
 * takes on a slow and busy machine: a wait costs no more than the state that it waits for. A test of a time limit states
 * the limit itself.
 */
export const patienceMs = 300_000;

/** How long and how often to poll. */
export interface UntilOptions {
  /** Milliseconds until the wait fails. @default {@link patienceMs} */
  readonly timeoutMs?: number;
  /** Milliseconds between two probes. @default 50 */
  readonly everyMs?: number;
}

/**
 * Calls `probe` until it has found its value.
 *
 * @param action The expected state, as the infinitive of the error: "see Deployment \"web\" deleted".
 * @throws Error when the deadline passes, and at once whatever the probe throws.
 */
export async function until<T>(
  action: string,
  probe: () => Probe<T> | Promise<Probe<T>>,
  options: UntilOptions = {},
): Promise<T> {
  const { timeoutMs = patienceMs, everyMs = 50 } = options;
  const deadline = performance.now() + timeoutMs;
  while (true) {
    const seen = await probe();
    if (seen.kind === "found") return seen.value;
    if (performance.now() >= deadline) throw new Error(`Cannot ${action}: after ${timeoutMs} ms ${seen.state}`);
    await sleep(everyMs);
  }
}
