/**
 * OperatorProcess: one life of the operator, from its start to its end. It can end without a word, as by SIGKILL: from that
 * moment on nothing that is left of it reaches the server.
 */
import type { Clock, Random } from "../async/mod.ts";
import type { Client } from "../client/mod.ts";
import { Manager, type ManagerElection, type OperatorController } from "../manager/mod.ts";

/** What a process is started with. */
export interface OperatorProcessOptions {
  /** Counts the processes of a run, from 1. */
  readonly id: number;
  readonly controllers: readonly OperatorController[];
  readonly clock: ProcessClock;
  readonly random: Random;
  /** Its election, when there are several. @default it leads */
  readonly election?: ManagerElection;
}

/** The clock of one process: its wall may be wrong. */
export class ProcessClock implements Clock {
  readonly #base: Clock;
  #offsetMs = 0;

  constructor(base: Clock) {
    this.#base = base;
  }

  now(): number {
    return this.#base.now() + this.#offsetMs;
  }

  monotonic(): number {
    return this.#base.monotonic();
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return this.#base.sleep(ms, signal);
  }

  timer(ms: number, fire: () => void): Disposable {
    return this.#base.timer(ms, fire);
  }

  /** Moves the wall clock. */
  jump(ms: number): void {
    this.#offsetMs += ms;
  }
}

/** A server that stands still, as one process sees it. */
export interface Lag {
  readonly revision: number;
  /** Virtual time at which it catches up. */
  readonly thawsAt: number;
}

/** One process. */
export class OperatorProcess {
  readonly id: number;
  readonly clock: ProcessClock;
  /** It sees a server that lags behind. */
  lag: Lag | undefined;
  /** Virtual time until which no request of it arrives. */
  unreachableUntil = 0;
  /** It ends as soon as it wants something more. */
  isDoomed = false;
  /** Its end was noticed. */
  isMourned = false;
  #isDead = false;
  #manager: Manager | undefined;
  #failure: unknown;
  readonly #stop = new AbortController();
  readonly #options: OperatorProcessOptions;

  constructor(options: OperatorProcessOptions) {
    this.id = options.id;
    this.clock = options.clock;
    this.#options = options;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Why it ended although nobody ended it. */
  get failure(): unknown {
    return this.#failure;
  }

  get manager(): Manager {
    if (this.#manager === undefined) throw new Error(`Cannot ask process ${this.id}: it was not started`);
    return this.#manager;
  }

  /** Begins to run. @param client one whose transport knows this process */
  start(client: Client): void {
    const { controllers, clock, random, election } = this.#options;
    this.#manager = new Manager({
      ...{ client, name: "simulation", clock, random, gracefulShutdownTimeoutMs: 0 },
      instance: `process-${this.id}`,
      ...(election === undefined ? {} : { leaderElection: election }),
    });
    for (const controller of controllers) this.#manager.add(controller);
    this.#manager.run(this.#stop.signal).then(
      () => this.#ended(new Error("Cannot go on: the process ended by itself")),
      (error: unknown) => this.#ended(error),
    );
  }

  /** Ends it at once. */
  kill(): void {
    this.#isDead = true;
    this.#stop.abort(new DOMException("The process was killed", "AbortError"));
  }

  #ended(reason: unknown): void {
    if (!this.#isDead) this.#failure = reason;
    this.#isDead = true;
  }
}
