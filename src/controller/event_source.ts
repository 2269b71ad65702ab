/**
 * EventSource: reasons to reconcile that do not come from a watched kind, such as a timer, a poller or an external queue.
 *
 * A source only enqueues keys; the reconciler reads the current state as always. It may read the caches of its controller, to
 * know which keys there are. A source that returns or throws while the controller runs is restarted with a backoff of 1 s to
 * 1 min.
 */
import { Backoff, type Clock, type Random } from "../async/mod.ts";
import type { Logger } from "../observe/mod.ts";
import type { CacheReader } from "./caches.ts";

/**
 * A reason to reconcile that does not come from a watched kind: a poller, a queue, a webhook. It enqueues keys of primary
 * objects. A source that returns or throws is restarted with a backoff of 1 s to 1 min. {@link ticker} creates a timer.
 *
 * @example
 * ```ts
 * import { controller, done, type EventSource, Namespace } from "@pintle/controller";
 *
 * const changedZones: EventSource = {
 *   name: "dns-poller",
 *   async run(enqueue, signal) {
 *     while (!signal.aborted) {
 *       enqueue("team-a");
 *       await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
 *     }
 *   },
 * };
 * const dns = controller("dns").for(Namespace).source(changedZones).reconcile(() => Promise.resolve(done));
 * console.assert(dns.sources[0]?.name === "dns-poller");
 * ```
 */
export interface EventSource {
  /** For logs and causes, e.g. `dns-poller`. */
  readonly name: string;
  /**
   * Calls `enqueue` with the key of each primary object to reconcile. Runs until aborted, while the controller reconciles.
   *
   * @param enqueue Takes `namespace/name`, or `name` if the kind is cluster-scoped.
   * @param context The clock and the caches of the controller.
   */
  run(enqueue: (key: string) => void, signal: AbortSignal, context: SourceContext): Promise<void>;
}

/**
 * What a source can use of its controller.
 *
 * @example
 * ```ts
 * import { controller, done, type EventSource, Namespace } from "@pintle/controller";
 * import { World } from "@pintle/controller/testing";
 *
 * // Reconciles every object when an event of another system arrives.
 * const events = new EventTarget();
 * const onReload: EventSource = {
 *   name: "reload",
 *   run: (enqueue, signal, { keys }) =>
 *     new Promise((resolve) => {
 *       const reconcileAll = () => keys().forEach((key) => enqueue(key));
 *       events.addEventListener("reload", reconcileAll, { signal });
 *       signal.addEventListener("abort", () => resolve(), { once: true });
 *     }),
 * };
 * let reconciles = 0;
 * const audit = controller("audit").for(Namespace).source(onReload).reconcile(() => {
 *   reconciles++;
 *   return Promise.resolve(done);
 * });
 * await using world = await World.start({ controllers: [audit], cluster: false });
 * await world.settled();
 * const before = reconciles;
 * events.dispatchEvent(new Event("reload"));
 * await world.settled();
 * console.assert(before > 0 && reconciles === 2 * before);
 * ```
 */
export interface SourceContext {
  /** The clock of the process; that of the World in a test. */
  readonly clock: Clock;
  /** The caches of the kinds that the controller watches. */
  readonly caches: CacheReader;
  /** Returns the keys of all primary objects in the cache. */
  readonly keys: () => readonly string[];
}

/** Options of {@link keepSourceRunning}. */
export interface KeepSourceRunningOptions {
  readonly context: SourceContext;
  readonly random: Random;
  readonly log: Logger;
}

/** Runs a source until aborted, and restarts it whenever it ends. Never throws. */
export async function keepSourceRunning(
  source: EventSource,
  enqueue: (key: string) => void,
  stop: AbortSignal,
  options: KeepSourceRunningOptions,
): Promise<void> {
  const { context, random, log } = options;
  const { clock } = context;
  const backoff = new Backoff({ initialMs: 1_000, maxMs: 60_000, jitter: 1, resetAfterMs: 120_000, clock, random });
  while (!stop.aborted) {
    try {
      await source.run(enqueue, stop, context);
      if (!stop.aborted) log.warn("event source ended, restarting it", { source: source.name });
    } catch (error) {
      if (!stop.aborted) log.error("event source failed, restarting it", { source: source.name, error });
    }
    await clock.sleep(backoff.next(), stop).catch(() => undefined);
  }
}

/**
 * Creates a source that enqueues keys every `everyMs` milliseconds.
 *
 * @param name For logs and causes.
 * @param keys Called each time; returns the keys to enqueue: `namespace/name`, or `name` if the kind is cluster-scoped.
 * @throws RangeError when `everyMs` is not greater than 0.
 * @example
 * ```ts
 * import { controller, done, Namespace, ticker } from "@pintle/controller";
 *
 * const everyHour = ticker("hourly", 3_600_000, () => ["kube-system"]);
 * const auditor = controller("auditor").for(Namespace).source(everyHour).reconcile(() => Promise.resolve(done));
 * console.assert(auditor.sources.length === 1);
 * ```
 */
export function ticker(name: string, everyMs: number, keys: () => readonly string[]): EventSource {
  if (!(everyMs > 0)) throw new RangeError(`Cannot create ticker "${name}": everyMs ${everyMs} is not greater than 0`);
  return {
    name,
    async run(enqueue, signal, { clock }) {
      while (!signal.aborted) {
        await clock.sleep(everyMs, signal);
        for (const key of keys()) enqueue(key);
      }
    },
  };
}
