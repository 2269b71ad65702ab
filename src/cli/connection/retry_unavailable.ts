/**
 * retryUnavailable(): work of a process that has reached its server once, and whose server may be away at any moment since.
 * The caches wait for its return, so the requests before them do as well: a process that ends would only be started again.
 */
import { Backoff, type Clock, type Random } from "../../async/mod.ts";
import { isTemporary } from "../../client/mod.ts";
import { logger } from "../../observe/mod.ts";

/** What {@link retryUnavailable} needs. */
interface RetryUnavailableOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/**
 * Runs `work` until the server responds to all its requests.
 *
 * @param action What the work does, as an infinitive, for the log.
 * @param work It is repeated as a whole.
 * @throws Whatever `work` throws that does not mean an absent server; the signal's reason when aborted
 */
export async function retryUnavailable<T>(
  action: string,
  work: () => Promise<T>,
  { clock, random, signal }: RetryUnavailableOptions,
): Promise<T> {
  const backoff = new Backoff({ initialMs: 500, maxMs: 5_000, jitter: 1, clock, random });
  while (true) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || !isTemporary(error)) throw error;
      const delayMs = backoff.next();
      logger("cli").warn(`cannot ${action} yet, retrying`, { error, delayMs });
      await clock.sleep(delayMs, signal);
    }
  }
}
