/**
 * EventSource: reasons to reconcile that are no watched kind: a timer, a poller, a queue of another system.
 *
 * A source says which objects to look at and nothing else; the reconciler reads the present state as always. One that
 * ends or throws while the controller runs is started again with growing delays.
 */
import { Backoff, type Clock, type Random } from "../async/mod.ts";
import type { Logger } from "../observe/mod.ts";

/** Says when which objects should be looked at. */
export interface EventSource {
  /** For logs and causes, e.g. `dns-poller`. */
  readonly name: string;
  /**
   * Calls `enqueue` with the key of a primary object, whenever there is a reason. Runs until aborted.
   *
   * @param enqueue Takes `namespace/name`, or `name` where the kind is cluster-scoped.
   */
  run(enqueue: (key: string) => void, signal: AbortSignal): Promise<void>;
}

/** What keeps a source running. */
export interface EventSourceParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Runs a source until aborted, again whenever it ends. Never throws. */
export async function keepSourceRunning(
  source: EventSource,
  enqueue: (key: string) => void,
  stop: AbortSignal,
  parts: EventSourceParts,
): Promise<void> {
  const { clock, random, log } = parts;
  const backoff = new Backoff({ initialMs: 1_000, maxMs: 60_000, jitter: 1, resetAfterMs: 120_000, clock, random });
  while (!stop.aborted) {
    try {
      await source.run(enqueue, stop);
      if (!stop.aborted) log.warn("event source ended, will be started again", { source: source.name });
    } catch (error) {
      if (!stop.aborted) log.error("event source failed, will be started again", { source: source.name, error });
    }
    await clock.sleep(backoff.next(), stop).catch(() => undefined);
  }
}

/**
 * A source that looks at the same objects every so many milliseconds.
 *
 * @param keys The objects, asked for anew each time.
 */
export function ticker(name: string, everyMs: number, keys: () => readonly string[], clock: Clock): EventSource {
  if (!(everyMs > 0)) throw new RangeError(`Cannot create ticker "${name}": ${everyMs} ms is not a time between ticks`);
  return {
    name,
    async run(enqueue, signal) {
      while (!signal.aborted) {
        await clock.sleep(everyMs, signal);
        for (const key of keys()) enqueue(key);
      }
    },
  };
}
