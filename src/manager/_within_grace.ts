/**
 * withinGrace(): waits for work to end, but not for ever once it was told to abort. JavaScript cannot end a function
 * that ignores its signal; it can only stop waiting for it and say so.
 */
import { type Clock, onAbort, scope } from "../async/mod.ts";

/** Options of {@link withinGrace}. */
export interface WithinGraceOptions {
  /** Told the work to abort. */
  readonly kill: AbortSignal;
  /** Names what did not end, at the moment it is given up. */
  readonly what: () => string;
  readonly clock: Clock;
}

/** Milliseconds for what reacts to being aborted; what takes longer does not react. */
const abortMs = 1_000;

/** @throws Error a second after `kill` when the work has not ended; what the work throws. */
export async function withinGrace<T>(work: Promise<T>, options: WithinGraceOptions): Promise<T> {
  const { kill, what, clock } = options;
  using waiting = scope(new AbortController().signal);
  const { promise: late, reject } = Promise.withResolvers<never>();
  using _killing = onAbort(kill, () => {
    clock.sleep(abortMs, waiting.signal).then(
      () => reject(new Error(`Cannot stop ${what()}: it did not end when it was aborted`)),
      () => undefined,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    waiting.abort();
  }
}
