/**
 * What the keys of the operator wait for: whether failed keys were retried, whether requeues are due, and whether keys are
 * reconciled without end. A run has settled only when none of this is so.
 */
import type { Clock } from "../async/mod.ts";
import type { Manager, OperatorController } from "../manager/mod.ts";

/** The part of a process that {@link RetryTracker} reads. */
export interface RetryingProcess {
  readonly id: number;
  readonly manager: Pick<Manager, "retrying">;
}

interface Attempts {
  readonly count: number;
  /** Virtual time at which this count was first seen. */
  readonly seenAt: number;
}

/**
 * Whether each failed key was tried again since the last fault. The delay doubles with each retry, so the next one may be
 * minutes away; only after it is known whether the key still fails without a fault.
 */
export class RetryTracker {
  readonly #attempts = new Map<string, Attempts>();

  /** True while a key has not been tried since the last fault. Must be called before the clock advances. */
  hasUntried(processes: readonly RetryingProcess[], now: number, lastFaultAt: number): boolean {
    const keys = processes.flatMap(({ id, manager }) =>
      manager.retrying().map(({ controller, key, retries }) => this.#update(`${id} ${controller} ${key}`, retries, now))
    );
    return keys.some(({ seenAt }) => seenAt <= lastFaultAt);
  }

  #update(key: string, count: number, now: number): Attempts {
    const known = this.#attempts.get(key);
    if (known?.count === count) return known;
    const attempts = { count, seenAt: now };
    this.#attempts.set(key, attempts);
    return attempts;
  }
}

/** The part of a process that {@link TimerTracker} reads. */
export interface RequeueingProcess {
  readonly id: number;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly manager: Pick<Manager, "requeued">;
}

/** Requeues of a key without a change after which it is at rest: the first one may come a moment too early. */
const silentRounds = 2;
/** Requeues of a key after which it is taken for one that works by time, and is not waited for. */
const maxRounds = 6;

/** What {@link TimerTracker.hasDue} is asked. */
export interface TimerQuestion {
  /** Virtual time. */
  readonly now: number;
  /** When something was last changed. */
  readonly changedAt: number;
  /** When a user last gave the operator something to do: requeues are counted from here. @default the start of the wait */
  readonly since?: number;
  /** Only requeues that are due within this time count. */
  readonly withinMs: number;
}

interface Requeues {
  dueAt: number;
  /** When each of the requeues was first seen, the latest one last. */
  readonly seenAt: number[];
}

/**
 * Whether each requeued key was reconciled twice since the last change. A controller that looks again after 20 s may change
 * something then; one that has looked since the last change and has changed nothing is at rest. One that changes something
 * each time works by time, and would never be.
 */
export class TimerTracker {
  readonly #requeues = new Map<string, Requeues>();

  /** Begins to wait until everything has settled. */
  start(): void {
    for (const { seenAt } of this.#requeues.values()) seenAt.splice(0, seenAt.length - 1);
  }

  /** True while a key waits for a requeue that may change something. Must be called before the clock advances. */
  hasDue(
    processes: readonly RequeueingProcess[],
    { now, changedAt, since = -Infinity, withinMs }: TimerQuestion,
  ): boolean {
    const requeues = processes.flatMap(({ id, clock, manager }) =>
      manager.requeued().map(({ controller, key, dueAt }) => {
        const inMs = dueAt - clock.now();
        // The wall clock may run at another speed, which makes no new requeue of the same one.
        const dueSince = Math.round(clock.monotonic() + inMs);
        return { seenAt: this.#update(`${id} ${controller} ${key}`, dueSince, now), inMs };
      })
    );
    return requeues.some(({ seenAt, inMs }) =>
      inMs <= withinMs && seenAt.filter((at) => at >= since).length <= maxRounds &&
      seenAt.filter((at) => at > changedAt).length < silentRounds
    );
  }

  #update(key: string, dueAt: number, now: number): readonly number[] {
    const known = this.#requeues.get(key);
    if (known === undefined) this.#requeues.set(key, { dueAt, seenAt: [now] });
    else if (known.dueAt !== dueAt) {
      known.dueAt = dueAt;
      known.seenAt.push(now);
    }
    return this.#requeues.get(key)?.seenAt ?? [];
  }
}

/** Reconciles at one moment of the virtual clock, and until everything has settled, beyond which a controller loops. */
const maxAtOnce = 1_000;
const maxUntilSettled = 5_000;

/** Ends a run whose controllers reconcile without end. */
export class LoopGuard {
  readonly #clock: Clock;
  readonly #onLoop: (message: string) => void;
  readonly #keys = new Map<string, number>();
  #reconciles = 0;
  #startedAt = 0;
  #sinceStart = 0;
  #at = -1;
  #atOnce = 0;
  #isEnded = false;

  /** @param onLoop ends the run; it is called once, from within a reconcile */
  constructor(clock: Clock, onLoop: (message: string) => void) {
    this.#clock = clock;
    this.#onLoop = onLoop;
  }

  /** All reconciles of the run. */
  get reconciles(): number {
    return this.#reconciles;
  }

  /** True after a loop was found. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Begins to wait until everything has settled. */
  start(): void {
    this.#sinceStart = 0;
    this.#startedAt = this.#clock.monotonic();
    this.#keys.clear();
  }

  /** Counts a reconcile. */
  count(controller: string, key: string): void {
    const now = this.#clock.monotonic();
    this.#reconciles++;
    this.#sinceStart++;
    this.#atOnce = now === this.#at ? this.#atOnce + 1 : 1;
    this.#at = now;
    const name = `${controller} ${key}`;
    this.#keys.set(name, (this.#keys.get(name) ?? 0) + 1);
    if (this.#isEnded || (this.#atOnce <= maxAtOnce && this.#sinceStart <= maxUntilSettled)) return;
    this.#isEnded = true;
    const [most = "", count = 0] = [...this.#keys].toSorted(([, one], [, other]) => other - one)[0] ?? [];
    const seconds = (now - this.#startedAt) / 1000;
    this.#onLoop(
      `hot loop: controller ${most} was reconciled ${count} times in ${seconds} s without coming to rest. ` +
        "Its own writes or requeues cause the next reconcile",
    );
  }
}

/** Returns a controller that calls `onReconcile` with the key before each reconcile. */
export function withOnReconcile(
  controller: OperatorController,
  onReconcile: (key: string) => void,
): OperatorController {
  return {
    ...controller,
    reconciler: (request, toolbox) => {
      onReconcile(request.key);
      return controller.reconciler(request, toolbox);
    },
  };
}
