/**
 * ReconcileTurns: a limit of concurrent reconciles that all clusters of a Fleet share.
 *
 * Guarantees: a cluster without a running reconcile gets a turn at once, even if others use up the limit, so a slow cluster
 * delays no other one. Beyond that, free turns go to the waiting cluster that has the fewest running reconciles, and among
 * equals to the one that was served least recently; within a cluster, to the one that has waited longest.
 */
import { onAbort } from "../async/mod.ts";

/** One reconcile that waits. */
interface Waiter {
  grant(turn: Disposable): void;
}

/** The state of one cluster. */
interface Lane {
  running: number;
  readonly waiting: Set<Waiter>;
  /** When it was served last, by the count of turns. */
  servedAt: number;
}

export class ReconcileTurns {
  readonly #max: number;
  readonly #lanes = new Map<string, Lane>();
  #running = 0;
  #served = 0;

  /** @param max Reconciles at the same time. @throws RangeError when it is not a number from 1 up */
  constructor(max: number) {
    if (!(max >= 1)) throw new RangeError(`Cannot limit reconciles: ${max} is not a number from 1 up`);
    this.#max = max;
  }

  /** Waits for a turn. Dispose the result when the reconcile has ended. @throws the signal's reason */
  async take(cluster: string, signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    const lane = this.#lane(cluster);
    if (lane.running === 0 || this.#running < this.#max) return this.#begin(cluster, lane);
    const { promise, resolve, reject } = Promise.withResolvers<Disposable>();
    const waiter = { grant: resolve };
    lane.waiting.add(waiter);
    using _aborting = onAbort(signal, () => {
      lane.waiting.delete(waiter);
      reject(signal.reason);
    });
    return await promise;
  }

  /** Reconciles that wait for a turn. */
  waiting(cluster: string): number {
    return this.#lanes.get(cluster)?.waiting.size ?? 0;
  }

  #lane(cluster: string): Lane {
    let lane = this.#lanes.get(cluster);
    if (lane === undefined) this.#lanes.set(cluster, lane = { running: 0, waiting: new Set(), servedAt: 0 });
    return lane;
  }

  #begin(cluster: string, lane: Lane): Disposable {
    this.#running++;
    lane.running++;
    lane.servedAt = ++this.#served;
    let isRunning = true;
    return {
      [Symbol.dispose]: () => {
        if (!isRunning) return;
        isRunning = false;
        this.#running--;
        lane.running--;
        this.#serve();
        if (lane.running === 0 && lane.waiting.size === 0) this.#lanes.delete(cluster);
      },
    };
  }

  #serve(): void {
    while (true) {
      const next = this.#next();
      const [waiter] = next?.[1].waiting ?? [];
      if (next === undefined || waiter === undefined) return;
      const [cluster, lane] = next;
      lane.waiting.delete(waiter);
      waiter.grant(this.#begin(cluster, lane));
    }
  }

  /** The cluster whose turn it is; undefined when none may begin. */
  #next(): readonly [string, Lane] | undefined {
    let best: readonly [string, Lane] | undefined;
    for (const entry of this.#lanes) {
      const [, lane] = entry;
      if (lane.waiting.size === 0 || (lane.running > 0 && this.#running >= this.#max)) continue;
      if (best === undefined || isBefore(lane, best[1])) best = entry;
    }
    return best;
  }
}

/** The turns of one cluster. Disposing it gives back those of reconciles that have not ended with their Manager. */
export class ClusterTurns implements Disposable {
  readonly #turns: ReconcileTurns;
  readonly #cluster: string;
  readonly #held = new Set<Disposable>();

  constructor(turns: ReconcileTurns, cluster: string) {
    this.#turns = turns;
    this.#cluster = cluster;
  }

  /** Waits for a turn. @throws the signal's reason */
  readonly take = async (signal: AbortSignal): Promise<Disposable> => {
    const turn = await this.#turns.take(this.#cluster, signal);
    this.#held.add(turn);
    return {
      [Symbol.dispose]: () => {
        this.#held.delete(turn);
        turn[Symbol.dispose]();
      },
    };
  };

  [Symbol.dispose](): void {
    for (const turn of this.#held) turn[Symbol.dispose]();
    this.#held.clear();
  }
}

function isBefore(one: Lane, other: Lane): boolean {
  return one.running === other.running ? one.servedAt < other.servedAt : one.running < other.running;
}
