/**
 * OperatorProcess: one life of the operator, from its start to its end. It can end without a word, as by SIGKILL: from that
 * moment on nothing that is left of it reaches the server.
 */
import { type Clock, type Random, sleepOn } from "../async/mod.ts";
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

/** The clock of one process: its wall may be wrong, and while the process stands still, no timer of it fires. */
export class ProcessClock implements Clock {
  readonly #base: Clock;
  #offsetMs = 0;
  /** From when until when the wall runs at another rate. */
  #drift: { readonly from: number; readonly until: number; readonly rate: number } | undefined;
  /** What is due and has not fired, because the process stands still. */
  readonly #overdue = new Set<() => void>();
  #isPaused = false;

  constructor(base: Clock) {
    this.#base = base;
  }

  now(): number {
    return this.#base.now() + this.#offsetMs + this.#driftedMs();
  }

  monotonic(): number {
    return this.#base.monotonic();
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  timer(ms: number, fire: () => void): Disposable {
    const timer = this.#base.timer(ms, () => {
      if (this.#isPaused) this.#overdue.add(fire);
      else fire();
    });
    return {
      [Symbol.dispose]: () => {
        timer[Symbol.dispose]();
        this.#overdue.delete(fire);
      },
    };
  }

  /** Moves the wall clock. */
  jump(ms: number): void {
    this.#offsetMs += ms;
  }

  /** Makes the wall clock run at another rate for a while. */
  drift(rate: number, forMs: number): void {
    this.#offsetMs += this.#driftedMs();
    const from = this.monotonic();
    this.#drift = { from, until: from + forMs, rate };
  }

  /** No timer fires from now on. */
  pause(): void {
    this.#isPaused = true;
  }

  /** Timers fire again. @returns what was due meanwhile, to be called in order */
  *resume(): Generator<() => void> {
    this.#isPaused = false;
    for (const fire of this.#overdue) {
      this.#overdue.delete(fire);
      yield fire;
    }
  }

  #driftedMs(): number {
    if (this.#drift === undefined) return 0;
    const { from, until, rate } = this.#drift;
    return Math.round((rate - 1) * (Math.min(this.monotonic(), until) - from));
  }
}

/** A server that stands still, as one process sees it. */
export interface Lag {
  readonly revision: number;
  /** The one collection that stands still. @default all do */
  readonly only: string | undefined;
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
