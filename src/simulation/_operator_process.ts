/**
 * OperatorProcess: one process of the operator, from its start to its end, with a clock that can be wrong or stop. It can be
 * killed at any moment, as by SIGKILL: after that, none of its requests reaches the server.
 */
import { resourceName } from "../api/mod.ts";
import { type Clock, drain, type Random, sleepOn } from "../async/mod.ts";
import { Client, type Transport } from "../client/mod.ts";
import type { ControllerAccounts } from "../cluster/mod.ts";
import { type ClusterProvider, Fleet } from "../fleet/mod.ts";
import {
  controllerCacheOf,
  LeaseLostError,
  Manager,
  type ManagerElection,
  type OperatorController,
  type ShardingOptions,
} from "../manager/mod.ts";
import type { Recorder } from "../observe/mod.ts";
import type { ProxiedProcess, StaleView } from "./_proxied_process.ts";

/** Options of an {@link OperatorProcess}. */
export interface OperatorProcessOptions {
  /** The number of the process in its run, from 1. */
  readonly id: number;
  readonly controllers: readonly OperatorController[];
  readonly clock: ProcessClock;
  readonly random: Random;
  /** How the server knows which controller sends a request. */
  readonly accounts: ControllerAccounts;
  /** Present when there are several replicas. @default no election */
  readonly election?: ManagerElection;
  /** Present when the replicas divide the keys. @default they do not */
  readonly sharding?: ShardingOptions;
}

/** What a process runs with. */
export interface ProcessStart {
  /** Belongs to this process. With a fleet, it leads to the hub. */
  readonly transport: Transport;
  /** Reports the members of a fleet. @default there is one cluster */
  readonly members?: ClusterProvider;
  /** @default nothing is recorded */
  readonly recorder?: Recorder;
}

/** How long a process that was asked to stop may take to end its reconciles, in milliseconds. */
const leaveGraceMs = 5_000;

/** So few turns that a member which keeps one for itself delays the others. */
const fleetTurns = 1;

/** One process. */
export class OperatorProcess implements ProxiedProcess {
  readonly id: number;
  readonly clock: ProcessClock;
  /** Set when the process sees a server that is behind. */
  staleView: StaleView | undefined;
  /** Virtual time until which no request of the process arrives. */
  unreachableUntil = 0;
  /** Virtual time until which no request about a Lease arrives. */
  leasesUnreachableUntil = 0;
  /** Virtual time until which it waits for the response to a write of its Lease that a fault delays. */
  renewsUntil = 0;
  /** The process is killed before its next request. */
  crashesNext = false;
  /** The run has noticed the end of the process. */
  isEndHandled = false;
  #hasEnded = false;
  #isLeaving = false;
  #manager: Manager | undefined;
  #fleet: Fleet | undefined;
  #failure: unknown;
  readonly #stop = new AbortController();
  readonly #options: OperatorProcessOptions;

  constructor(options: OperatorProcessOptions) {
    this.id = options.id;
    this.clock = options.clock;
    this.#options = options;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The process was asked to stop, and does so or has done so. */
  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  /** Why the process ended without being killed or asked to. */
  get failure(): unknown {
    return this.#failure;
  }

  get manager(): Manager {
    if (this.#manager === undefined) throw new Error(`Cannot use process ${this.id}: it has not been started`);
    return this.#manager;
  }

  get owner(): OperatorProcess {
    return this;
  }

  /** False before its start and after its end. */
  get isWorking(): boolean {
    return !this.#hasEnded && this.#manager !== undefined;
  }

  /** The Manager of a member; undefined while the process does not work in it. */
  managerOf(member: string): Manager | undefined {
    return this.#fleet?.managers().get(member);
  }

  /** Runs the controllers. */
  start({ transport, members, recorder }: ProcessStart): void {
    const { controllers, accounts, clock, random, election, sharding } = this.#options;
    const client = new Client(accounts.operatorTransport(transport), { clock });
    this.#manager = new Manager({
      ...{
        client,
        transportFor: accounts.transportFor,
        name: "simulation",
        clock,
        random,
        recorder,
        gracefulShutdownTimeoutMs: sharding === undefined ? 0 : leaveGraceMs,
      },
      freezeCache: true,
      instance: `process-${this.id}`,
      ...(election === undefined ? {} : { leaderElection: election }),
      ...(sharding === undefined ? {} : { sharding }),
    });
    if (members !== undefined) {
      this.#fleet = new Fleet({ hub: this.#manager, provider: members, maxConcurrentReconciles: fleetTurns });
    }
    const runner = this.#fleet ?? this.#manager;
    for (const controller of controllers) runner.add(controller);
    const asked = new Error("Cannot continue: the manager stopped without being asked to");
    runner.run(this.#stop.signal).then(
      () => this.#end(this.#isLeaving ? undefined : asked),
      // A process that stops may lose its Lease meanwhile.
      (error: unknown) => this.#end(this.#isLeaving && error instanceof LeaseLostError ? undefined : error),
    );
  }

  /** A kind whose condition does not hold is not watched. */
  needsWatch(collection: string): boolean {
    const watches = this.#options.controllers.flatMap((controller) =>
      controller.watches.flatMap(({ resource }) =>
        resourceName(resource) === collection ? [{ controller, resource }] : []
      )
    );
    return watches.length === 0 || watches.some(({ controller, resource }) => {
      const { activation } = controllerCacheOf(this.manager, controller, resource).informer;
      return activation === undefined || activation.state.kind === "active" || activation.state.kind === "syncing";
    });
  }

  kill(): void {
    this.#hasEnded = true;
    this.#stop.abort(new DOMException("The process was killed", "AbortError"));
  }

  /** Asks the process to stop, as by SIGTERM: it ends what it does, and gives its slots away. */
  leave(): void {
    this.#isLeaving = true;
    this.#stop.abort(new DOMException("The process was asked to stop", "AbortError"));
  }

  pause(wallByMs: number): void {
    this.clock.pause();
    this.clock.jump(wallByMs);
  }

  /** Ends a pause: the overdue timers fire in order. */
  async resume(): Promise<void> {
    for (const fire of this.clock.resume()) {
      fire();
      await drain();
    }
  }

  #end(reason: unknown): void {
    if (!this.#hasEnded) this.#failure = reason;
    this.#hasEnded = true;
  }
}

/** The clock of one process. Its wall clock can be wrong, and while the process is paused, no timer fires. */
export class ProcessClock implements Clock {
  readonly #base: Clock;
  #offsetMs = 0;
  /** When the wall clock runs at another speed. */
  #drift: { readonly from: number; readonly until: number; readonly rate: number } | undefined;
  /** Timers that were due during a pause. */
  readonly #overdue = new Set<() => void>();
  #isPaused = false;

  constructor(base: Clock) {
    this.#base = base;
  }

  now(): number {
    return Math.floor(this.#base.now() + this.#offsetMs + this.#driftedMs());
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

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Moves the wall clock. */
  jump(ms: number): void {
    this.#offsetMs += ms;
  }

  /** Runs the wall clock at another speed for some time. */
  drift(rate: number, forMs: number): void {
    this.#offsetMs += this.#driftedMs();
    const from = this.monotonic();
    this.#drift = { from, until: from + forMs, rate };
  }

  pause(): void {
    this.#isPaused = true;
  }

  /** Ends a pause. @returns the overdue timers, to be fired in order */
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
