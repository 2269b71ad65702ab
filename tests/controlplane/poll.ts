/**
 * Waiting for another process to reach a state, by asking it again until a deadline.
 *
 * A real process gives no signal to wait for, so this is the one place of the harness that sleeps. `until` returns as
 * soon as the answer is there and names in its error what it waited for and what it saw last.
 */
import { setTimeout as sleep } from "node:timers/promises";

/** What a probe saw: the value that was waited for, or why it is not there yet. */
export type Probe<T> = { readonly kind: "found"; readonly value: T } | {
  readonly kind: "pending";
  readonly state: string;
};

/** How long and how often to ask. */
export interface UntilOptions {
  /** Milliseconds until waiting is given up. @default 30_000 */
  readonly timeoutMs?: number;
  /** Milliseconds between two probes. @default 50 */
  readonly everyMs?: number;
}

/**
 * Asks `probe` until it has found its value.
 *
 * @param action What is waited for, as the infinitive of the error: "see Deployment \"web\" deleted".
 * @throws Error when the deadline passes, and at once whatever the probe throws.
 */
export async function until<T>(
  action: string,
  probe: () => Probe<T> | Promise<Probe<T>>,
  options: UntilOptions = {},
): Promise<T> {
  const { timeoutMs = 30_000, everyMs = 50 } = options;
  const deadline = performance.now() + timeoutMs;
  while (true) {
    const seen = await probe();
    if (seen.kind === "found") return seen.value;
    if (performance.now() >= deadline) throw new Error(`Cannot ${action}: after ${timeoutMs} ms ${seen.state}`);
    await sleep(everyMs);
  }
}
