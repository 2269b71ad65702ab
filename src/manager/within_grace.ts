/**
 * withinGrace(): waits for work of a Manager, but not much longer than its grace period.
 *
 * Guarantees: it returns at most a second after the work was aborted, and names work that has not ended by then.
 */
import { type Clock, onAbort, scope } from "../async/mod.ts";

/** Options of {@link withinGrace}. */
export interface WithinGraceOptions {
  /** Aborts the work. */
  readonly kill: AbortSignal;
  /** The name of the work that did not end, for the error. */
  readonly nameWork: () => string;
  readonly clock: Clock;
}

/** Milliseconds that work has to end after the abort. */
const maxAbortMs = 1_000;

/** A part of the process did not end when it was aborted. The others have ended. */
export class StopTimeoutError extends Error {
  override readonly name = "StopTimeoutError";

  /** @param work What did not end. */
  constructor(work: string) {
    super(`Cannot stop ${work}: it did not end when it was aborted`);
  }
}

/**
 * Waits for work to end, but not longer than a second after `kill`. JavaScript cannot end a function that ignores its
 * signal; it can only stop waiting and report it.
 *
 * @throws Error when the work has not ended in time; the error of the work.
 */
export async function withinGrace<T>(work: Promise<T>, options: WithinGraceOptions): Promise<T> {
  const { kill, nameWork, clock } = options;
  using waiting = scope(new AbortController().signal);
  const { promise: timedOut, reject } = Promise.withResolvers<never>();
  using _killing = onAbort(kill, () => {
    clock.sleep(maxAbortMs, waiting.signal).then(
      () => reject(new StopTimeoutError(nameWork())),
      () => undefined,
    );
  });
  try {
    return await Promise.race([work, timedOut]);
  } finally {
    waiting.abort();
  }
}
