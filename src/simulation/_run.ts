/** Run: one run from its start to its end. See schedule.ts for what it promises. */
import { drain, hop, type Random, seededRandom, type VirtualClock } from "../async/mod.ts";
import { Client } from "../client/mod.ts";
import { LeaseLostError, type OperatorController, type WorkloadStep } from "../manager/mod.ts";
import { cacheViolations } from "./_cache_check.ts";
import { FaultIndex } from "./_fault_index.ts";
import { Gate } from "./_gate.ts";
import { LeaseWatch } from "./_lease_watch.ts";
import { OperatorProcess, ProcessClock } from "./_operator_process.ts";
import { Retries } from "./_retries.ts";
import { Stage } from "./_stage.ts";
import { Strangers } from "./_strangers.ts";
import { summaryOf } from "./_summary.ts";
import { Told } from "./_told.ts";
import type { Act, FaultPlan } from "./fault_plan.ts";
import type { ScheduleResult } from "./schedule.ts";
import type { Trace } from "./trace.ts";
import type { Violation } from "./violation.ts";

/** What a run is made with. */
export interface RunParts {
  readonly controllers: readonly OperatorController[];
  readonly plan: FaultPlan;
  readonly replicas: number;
  readonly clock: VirtualClock;
  readonly trace: Trace;
  readonly random: Random;
  readonly seed: number;
}

/** How things came to rest. */
export type Settling = "settled" | "retrying" | "restless";

/** Virtual milliseconds without a write that count as rest. */
const quietMs = 3_000;
/** The same while keys are still retried. */
const retryingQuietMs = 45_000;
/** Virtual milliseconds after which it is not going to settle. */
const patienceMs = 1_200_000;
/** Things that happen within one settling at most. */
const mostTurns = 5_000;
/** Virtual milliseconds that are watched at the end. */
const afterwardsMs = 60_000;

/** One run. */
export class Run implements AsyncDisposable {
  readonly #parts: RunParts;
  readonly #stage: Stage;
  readonly #gate: Gate;
  readonly #faults: FaultIndex;
  readonly #lease: LeaseWatch;
  readonly #told: Told;
  readonly #strangers: Strangers;
  readonly #retries = new Retries();
  readonly #processes: OperatorProcess[] = [];
  readonly #violations: Violation[] = [];
  /** Processes that are to start, by virtual time. */
  #starts: number[] = [];
  readonly #stepRevisions: number[] = [];
  #settling: Settling = "settled";
  #restarts = 0;
  /** Revision at which a process first started on a server that lags. */
  #lagsFrom = Infinity;

  constructor(parts: RunParts) {
    const { controllers, clock, trace, random, plan } = parts;
    this.#parts = parts;
    this.#stage = new Stage({ controllers, clock, trace, seed: parts.seed });
    this.#faults = new FaultIndex(plan);
    this.#told = new Told(controllers);
    this.#strangers = new Strangers({ stage: this.#stage, clock, trace });
    this.#lease = new LeaseWatch(this.#stage);
    this.#gate = new Gate({
      server: (request) => this.#stage.fetch(request),
      ...{ clock, random, trace, faults: this.#faults },
      crash: (process, downMs) => this.#crash(process, downMs),
      act: (act, path, wanted) => this.#act(act, path, wanted),
      seize: () => this.#lease.seize(clock.monotonic()),
      onWrite: (process, request) => {
        this.#checkLeader(process);
        if (request.method === "DELETE") this.#strangers.noteDelete(new URL(request.url).pathname);
      },
    });
  }

  /** Sets the stage and starts the operator. */
  async begin(): Promise<void> {
    await this.#stage.begin();
    this.#startAll();
    await this.#settle();
  }

  /** Plays the steps; between two of them everything settles. */
  async play(steps: readonly WorkloadStep[]): Promise<void> {
    let isStopped = false;
    for (const [index, step] of steps.entries()) {
      this.#jump(index + 1);
      if (step.kind === "stop") {
        for (const process of this.#living()) this.#crash(process, Infinity);
        isStopped = true;
        this.#stepRevisions.push(0);
        continue;
      }
      await this.#stage.perform(step);
      if (isStopped) {
        this.#startAll();
        this.#restarts++;
        isStopped = false;
      }
      if (step.atOnce !== true) await this.#settle(step.untilWrites);
      this.#stepRevisions.push(this.#stage.revision - this.#stage.firstRevision);
      if (this.#goStale(index + 1)) await this.#settle();
    }
    await this.#settle();
  }

  /** Looks on for a while: nothing may happen any more. */
  async watchOver(): Promise<void> {
    const { clock } = this.#parts;
    const { writes } = this.#gate.counts;
    const until = clock.monotonic() + afterwardsMs;
    let turns = 0;
    while (turns++ < mostTurns) {
      await hop();
      if (await this.#turn()) continue;
      const leftMs = until - clock.monotonic();
      if (leftMs <= 0) break;
      await clock.advance(Math.min(clock.nextTimerInMs ?? leftMs, leftMs));
    }
    const more = this.#gate.counts.writes - writes;
    if (more > 0) this.#violate("rest", `${more} writes within ${afterwardsMs / 1000} s after everything had settled`);
    this.#checkEnd();
  }

  result(): ScheduleResult {
    return {
      summary: summaryOf(this.#stage, this.#lagsFrom),
      trace: this.#parts.trace,
      points: this.#gate.counts,
      stepRevisions: this.#stepRevisions,
      settling: this.#settling,
      violations: this.#violations,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of this.#living()) this.#end(process);
    await drain();
    this.#stage[Symbol.dispose]();
    await drain();
  }

  /** Lets time pass until nothing happens any more, or the operator has written so often. */
  async #settle(untilWrites = Infinity): Promise<void> {
    const { clock } = this.#parts;
    const enough = this.#gate.done + untilWrites;
    const startedAt = clock.monotonic();
    let quietSince = startedAt;
    for (let turns = 0; turns < mostTurns; turns++) {
      await hop();
      if (this.#gate.done >= enough) return;
      if (await this.#turn()) continue;
      const now = clock.monotonic();
      const isWaiting = this.#retries.isWaitedFor(this.#living(), now, this.#gate.lastTroubleAt);
      const state = isWaiting ? "busy" : this.#state();
      quietSince = Math.max(state === "busy" ? now : quietSince, this.#gate.lastWriteAt, this.#stage.lastChangeAt);
      const neededMs = state === "retrying" ? retryingQuietMs : quietMs;
      if (now - quietSince >= neededMs) {
        this.#settling = state === "retrying" ? "retrying" : "settled";
        return;
      }
      if (now - startedAt > patienceMs) break;
      await clock.advance(Math.min(clock.nextTimerInMs ?? quietMs, quietMs));
    }
    this.#settling = "restless";
    this.#violate("rest", `nothing had settled after ${(clock.monotonic() - startedAt) / 1000} s`);
  }

  /** One thing happens. @returns false when there is nothing but waiting for time */
  async #turn(): Promise<boolean> {
    this.#mourn();
    const now = this.#parts.clock.monotonic();
    const due = this.#starts.filter((at) => at <= now);
    this.#starts = this.#starts.filter((at) => at > now);
    for (const _ of due) this.#start();
    if (this.#parts.replicas > 1) this.#lease.look(now);
    return due.length > 0 || await this.#gate.turn() || await this.#stage.turn() || await this.#strangers.turn();
  }

  async #act(act: Act, path: string, wanted: string): Promise<void> {
    switch (act) {
      case "replace":
        return await this.#strangers.replace(path, wanted);
      case "takeover":
        return await this.#strangers.takeOver(path);
      default:
        // Two people at once: what one of them took is not the operator's, and so not the other's to spoil.
        return this.#strangers.isTaken(path) ? undefined : await this.#stage.act(act, path, wanted);
    }
  }

  #state(): "idle" | "retrying" | "busy" {
    const living = this.#living();
    if (this.#starts.length > 0 || this.#gate.isBusy() || this.#stage.isBusy() || this.#strangers.isBusy()) {
      return "busy";
    }
    if (living.length === 0) return "idle";
    if (living.some((process) => process.lag !== undefined && process.lag.thawsAt > this.#parts.clock.monotonic())) {
      return "busy";
    }
    if (!living.some(({ manager }) => manager.isIdle())) return "busy";
    return living.some(({ manager }) => manager.retrying().length > 0) ? "retrying" : "idle";
  }

  #startAll(): readonly OperatorProcess[] {
    return Array.from({ length: this.#parts.replicas }, () => this.#start());
  }

  #start(): OperatorProcess {
    const { controllers, clock, trace, replicas, seed } = this.#parts;
    const id = this.#processes.length + 1;
    const process = new OperatorProcess({
      ...{ id, controllers, clock: new ProcessClock(clock), random: seededRandom(seed * 1_000 + id) },
      election: replicas > 1 ? this.#lease.electionOf(id) : undefined,
    });
    this.#processes.push(process);
    trace.add("operator", "starts", { process: id });
    process.start(new Client(this.#gate.transport(process), { clock: process.clock }));
    this.#told.listen(process);
    return process;
  }

  #crash(process: OperatorProcess, downMs: number): void {
    this.#parts.trace.add("fault", "the process ends", { process: process.id });
    this.#end(process);
    if (downMs !== Infinity) this.#startIn(downMs);
  }

  #end(process: OperatorProcess): void {
    process.kill();
    this.#gate.forget(process);
  }

  #startIn(ms: number): void {
    const { clock } = this.#parts;
    this.#restarts++;
    this.#starts.push(clock.monotonic() + ms);
    clock.timer(ms, () => {});
  }

  /** Whoever lost the Lease ends, and is started again, as a Pod would be. Nobody else may end. */
  #mourn(): void {
    for (const process of this.#processes) {
      const { failure } = process;
      if (failure === undefined || process.isMourned) continue;
      process.isMourned = true;
      this.#gate.forget(process);
      if (!(failure instanceof LeaseLostError)) this.#violate("process", `process ${process.id} ended: ${failure}`);
      this.#parts.trace.add("operator", "ends", { process: process.id, detail: String(failure) });
      this.#startIn(1_000);
    }
  }

  #jump(step: number): void {
    for (const { byMs, rate, forMs = 0 } of this.#faults.beforeStep(step)) {
      const what = rate === undefined ? `jumps by ${byMs} ms` : `runs ${rate} times as fast for ${forMs} ms`;
      this.#parts.trace.add("fault", `the wall clock ${what}`);
      const [first, ...others] = this.#living();
      for (const process of [first, ...others]) process?.clock.jump(byMs);
      if (rate !== undefined) first?.clock.drift(rate, forMs);
    }
  }

  /** Starts anew on a server that lags, where the plan says so. @returns true when that is to settle first */
  #goStale(step: number): boolean {
    const faults = this.#faults.afterStep(step);
    for (const fault of faults) {
      for (const process of this.#living()) this.#end(process);
      // Those that were to start again do so now.
      this.#starts = [];
      this.#lagsFrom = Math.min(this.#lagsFrom, this.#stage.revision);
      const revision = Math.max(this.#stage.firstRevision, this.#stage.revision - fault.back);
      const detail = fault.only ?? "";
      this.#parts.trace.add("fault", "restart on a server that lags", { resourceVersion: String(revision), detail });
      const thawsAt = this.#parts.clock.monotonic() + fault.thawMs;
      for (const process of this.#startAll()) process.lag = { revision, thawsAt, only: fault.only };
      this.#restarts++;
    }
    return faults.some(({ early }) => early !== true);
  }

  #checkLeader(process: OperatorProcess): void {
    const other = this.#parts.replicas > 1
      ? this.#lease.otherHolder(process, this.#parts.clock.monotonic())
      : undefined;
    if (other !== undefined) this.#violate("one leader", `process ${process.id} writes while ${other} leads`);
  }

  #checkEnd(): void {
    // Two who both rightly believe that they lead may take each other for a loop.
    const parked = this.#lease.wasSeized ? [] : this.#living().flatMap(({ manager }) => manager.parked());
    for (const { controller, key, reason } of parked) {
      this.#violate("starved key", `${controller} gave up ${key}: ${reason}`);
    }
    this.#violations.push(...cacheViolations(this.#stage, this.#living(), this.#parts.controllers));
    this.#violations.push(...this.#told.violations(this.#stage), ...this.#strangers.violations);
    const { lists, relists } = this.#gate.counts;
    const most = this.#parts.replicas + this.#restarts * this.#parts.replicas + relists;
    for (const [resource, count] of lists) {
      if (count > most) this.#violate("load", `${resource} was listed ${count} times, ${most} would do`);
    }
  }

  #living(): readonly OperatorProcess[] {
    return this.#processes.filter(({ isDead }) => !isDead);
  }

  #violate(invariant: Violation["invariant"], message: string): void {
    this.#violations.push({ invariant, message });
  }
}
