/** How a WorkQueue is made, and how keys are added to it. */
import type { Clock } from "../async/mod.ts";
import type { QueueMetrics } from "./metrics.ts";
import type { RateLimiter } from "./rate_limiter.ts";

/** For adds that nobody is waiting for, such as those of a first list or a resync; as controller-runtime's. */
export const lowPriority = -100;

/** How a key is added. */
export interface AddOptions<C = unknown> {
  /** Higher goes first. A key that is added several times has the highest of its priorities. @default 0 */
  readonly priority?: number;
  /** Why the key is added; carried, bounded, to whoever takes it. */
  readonly cause?: C;
}

/** Options of a `WorkQueue`. */
export interface WorkQueueOptions<K> {
  /** Names the queue in listings. */
  readonly name: string;
  /** Delays of `addRateLimited`. @default defaultRateLimiter({ clock }) */
  readonly rateLimiter?: RateLimiter<K>;
  /** @default systemClock */
  readonly clock?: Clock;
  /** Told of everything that happens, e.g. `queueMetrics(registry, { name })`. @default none */
  readonly metrics?: QueueMetrics;
  /** Sorts keys into lanes that take turns within a priority, e.g. by namespace. @default one lane, first in first out */
  readonly laneOf?: (key: K) => string;
  /** How many keys a lane gives per turn, at least 1. @default 1 for every lane */
  readonly laneWeight?: (lane: string) => number;
  /** Takes by which a priority may be passed over before one of its keys has its turn. @default 10 */
  readonly ageingTurns?: number;
  /** How many causes a key carries: the first and the latest ones. @default 8 */
  readonly causeLimit?: number;
}
