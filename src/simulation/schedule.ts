/**
 * runSchedule(): one run of a workload under a fault plan: the processes of the operator, in one cluster or as a fleet in many.
 *
 * Guarantees: the same controllers, workload, plan and seed give the same run, to the byte of its recording, on every runtime.
 * No timer, socket or clock of the machine is used.
 */
import { controllerOf } from "../api/mod.ts";
import { drain, type Random, runTurns, seededRandom, VirtualClock } from "../async/mod.ts";
import { LeaseLostError, type WorkloadStep } from "../manager/mod.ts";
import type { EntryId, Recorder } from "../observe/mod.ts";
import { LeaderOracle } from "./_leader_oracle.ts";
import type { OperatorProcess } from "./_operator_process.ts";
import { LoopGuard } from "./_pending_keys.ts";
import { RetryOracle } from "./_retry_oracle.ts";
import type { RunCluster, RunClusterEvents } from "./_run_cluster.ts";
import { RunClusters } from "./run_clusters.ts";
import type { StaleStart } from "./_stale_creations.ts";
import { type FaultOf, noFaults } from "./fault_plan.ts";
import { PlannedChanges } from "./planned_changes.ts";
import { ProcessCreation } from "./process_creation.ts";
import type { ScheduleOptions, ScheduleResult, Settling } from "./schedule_result.ts";
import {
  finalQuietMs,
  finalTimerMs,
  maxEventsOf,
  quietMs,
  restartMs,
  retryingQuietMs,
  settleTimeoutMs,
  stepTimerMs,
  turnsPerDrain,
} from "./schedule_timing.ts";
import { ShardOracle } from "./shard_oracle.ts";
import type { Violation } from "./violation.ts";

/** Runs a workload once. */
export async function runSchedule(options: ScheduleOptions): Promise<ScheduleResult> {
  const { controllers, workload, plan = noFaults, seed = 1, replicas = 1, sharded = false, members = 0 } = options;
  if (sharded && members > 0) throw new TypeError("Cannot run the workload: a fleet has no shards");
  const clock = new VirtualClock({ drainTurns: turnsPerDrain });
  const recorder = options.recorder?.(clock);
  await using run = new Run({
    ...{ controllers, workload, plan, replicas, sharded, members, seed, clock, recorder },
    random: seededRandom(seed),
    isRestarted: options.isRestarted ?? true,
  });
  await run.start();
  await run.runSteps(workload.steps);
  await run.checkEnd();
  await drain();
  const result = run.result();
  options.onResult?.();
  if (options.cleanUp === true) await run.cleanUp();
  return result;
}

interface RunParts extends Required<Omit<ScheduleOptions, "recorder" | "cleanUp" | "onResult">> {
  readonly clock: VirtualClock;
  readonly recorder: Recorder | undefined;
  readonly random: Random;
}

class Run implements AsyncDisposable {
  readonly #parts: RunParts;
  readonly #clusters: RunClusters;
  /** The cluster that the faults of the plan hit: the only one, or the first member. */
  readonly #subject: RunCluster;
  readonly #leader: LeaderOracle;
  readonly #shards: ShardOracle;
  readonly #retryCounts = new RetryOracle();
  readonly #loops: LoopGuard;
  readonly #processes: OperatorProcess[] = [];
  readonly #violations: Violation[] = [];
  readonly #planned: PlannedChanges;
  readonly #starter: ProcessCreation;
  #settling: Settling = "settled";
  #restarts = 0;
  #staleFrom: StaleStart | undefined;
  #isStopped = false;
  /** How far ahead requeues are waited for. */
  #timerMs = stepTimerMs;
  /** How far faults have set the wall clock back or ahead. */
  #skewedMs = 0;

  constructor(parts: RunParts) {
    const { clock } = parts;
    this.#parts = parts;
    this.#planned = new PlannedChanges(clock);
    this.#loops = new LoopGuard(clock, (message) => this.#endLoop(message));
    this.#clusters = new RunClusters({ ...parts, events: this.#events() });
    const { subject, main } = this.#clusters;
    this.#subject = subject;
    this.#leader = new LeaderOracle(main.server, parts.controllers);
    this.#shards = new ShardOracle(main.server);
    this.#starter = new ProcessCreation({
      ...parts,
      ...{ clusters: this.#clusters.all, loops: this.#loops, retryCounts: this.#retryCounts },
      ...{ leader: this.#leader, shards: this.#shards },
    });
  }

  #events(): RunClusterEvents {
    const { clock, sharded } = this.#parts;
    return {
      crash: (process, downMs) => this.#crash(process, downMs),
      scale: (process, fault) => this.#scale(process, fault),
      deleteLease: (process) =>
        sharded ? this.#shards.deleteLease(process, clock.monotonic()) : this.#leader.deleteLease(clock.monotonic()),
      onWrite: (process, request) => {
        if (this.#leader.concerns(request)) this.#checkLeader(process);
      },
    };
  }

  /** Starts the servers and the operator, and waits until they have settled. */
  async start(): Promise<void> {
    const delayMs = await this.#clusters.start();
    this.#startAll();
    await this.#settle();
    await this.#runUntil(this.#parts.clock.monotonic() + delayMs);
  }

  /** Performs the steps, and waits after each one until everything has settled. */
  async runSteps(steps: readonly WorkloadStep[]): Promise<void> {
    for (const [index, step] of steps.entries()) {
      if (this.#loops.isEnded) return;
      this.#clusters.startStep(index + 1);
      this.#skewClocks(index + 1);
      const restarts = this.#subject.faults.restartsAt(index + 1);
      if (step.kind === "stop" || restarts.some(({ down }) => down === true)) this.#stopAll();
      this.#timerMs = this.#timerMsAfter(step, steps.slice(index + 1));
      if (step.kind !== "stop") await this.#perform(step);
      this.#clusters.endStep(step.kind !== "stop");
      if (step.kind === "stop") continue;
      for (const restart of restarts) if (restart.down !== true) await this.#restart(restart);
      if (this.#restartStale(index + 1)) await this.#settle();
    }
    await this.#settle(Infinity, finalTimerMs + this.#skewedMs);
  }

  /**
   * How far ahead requeues are waited for after a step. The time between two steps that wait for a time of day belongs to the
   * workload: a wait for a requeue must not pass it.
   */
  #timerMsAfter(step: WorkloadStep, later: readonly WorkloadStep[]): number {
    if (step.kind === "advance" && later.length > 0) return quietMs;
    const next = later.find(({ kind }) => kind === "advance");
    return next?.kind === "advance" ? Math.min(stepTimerMs, next.toMs - this.#parts.clock.monotonic()) : stepTimerMs;
  }

  async #perform(step: Exclude<WorkloadStep, { kind: "stop" }>): Promise<void> {
    if (step.kind === "advance") {
      this.#subject.recorder?.note("user", `waits until ${step.toMs / 1000} s`);
      await this.#runUntil(step.toMs);
    } else {
      await this.#clusters.perform(step);
    }
    if (this.#isStopped) this.#startStopped();
    if (step.atOnce !== true) await this.#settle(step.untilWrites);
  }

  /** Counts the writes of another minute, and checks the state at the end. */
  async checkEnd(): Promise<void> {
    this.#clusters.startLastMinute();
    await this.#runUntil(this.#parts.clock.monotonic() + finalQuietMs);
    this.#clusters.endLastMinute();
    this.#checkState();
  }

  /** Deletes what users have created, so that the operator deletes and forgets the rest. */
  async cleanUp(): Promise<void> {
    for (const { server } of this.#clusters.all) {
      for (const { path, object } of server.objects()) {
        if (controllerOf(object) === undefined) await server.trySend(path, "DELETE", {});
      }
      server.noteChange();
    }
    await this.#settle();
  }

  result(): ScheduleResult {
    return {
      ...this.#clusters.result(),
      staleFrom: this.#staleFrom,
      settling: this.#settling,
      isHotLoop: this.#loops.isEnded,
      violations: [...this.#violations],
      totals: {
        ...this.#clusters.totals(),
        reconciles: this.#loops.reconciles,
        virtualMs: this.#parts.clock.monotonic(),
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of this.#running()) this.#kill(process);
    await drain();
    for (const cluster of this.#clusters.all) cluster[Symbol.dispose]();
    await drain();
  }

  /** Runs everything that happens until a time, in milliseconds since the start of the run. */
  async #runUntil(untilMs: number): Promise<void> {
    const { clock } = this.#parts;
    const hours = Math.ceil(Math.max(0, untilMs - clock.monotonic()) / 3_600_000);
    for (let events = 0; events < maxEventsOf(this.#parts) * (1 + hours); events++) {
      await runTurns();
      if (await this.#runNext()) continue;
      const leftMs = untilMs - clock.monotonic();
      if (leftMs <= 0) return;
      await clock.advance(Math.min(clock.nextTimerInMs ?? leftMs, leftMs));
    }
  }

  /**
   * Advances the clock until everything has settled, or until the operator has made a number of writes. Keys that are requeued
   * for a time within `timerMs` must have been reconciled again since the last change.
   */
  async #settle(untilWrites = Infinity, timerMs = this.#timerMs): Promise<void> {
    const { clock } = this.#parts;
    this.#loops.start();
    this.#clusters.startWait();
    const maxWrites = this.#subject.proxy.successfulWrites + untilWrites;
    const startedAt = clock.monotonic();
    let quietSince = startedAt;
    const mostEvents = maxEventsOf(this.#parts) * (1 + Math.ceil(this.#skewedMs / settleTimeoutMs));
    for (let events = 0; events < mostEvents; events++) {
      await runTurns();
      if (this.#subject.proxy.successfulWrites >= maxWrites || this.#loops.isEnded) return;
      if (await this.#runNext()) continue;
      const now = clock.monotonic();
      const { changedAt } = this.#clusters;
      const hasWaiting = this.#clusters.hasWaitingKeys({ now, changedAt, withinMs: timerMs });
      const state = hasWaiting ? "busy" : this.#state();
      quietSince = Math.max(state === "busy" ? now : quietSince, changedAt);
      const neededMs = state === "retrying" ? retryingQuietMs : quietMs;
      if (now - quietSince >= neededMs) {
        this.#settling = state === "retrying" ? "retrying" : "settled";
        return;
      }
      if (now - startedAt > settleTimeoutMs + this.#skewedMs) break;
      await clock.advance(Math.min(clock.nextTimerInMs ?? quietMs, quietMs));
    }
    this.#settling = "unsettled";
    this.#report("quiescence", `the run had not settled after ${(clock.monotonic() - startedAt) / 1000} s`);
  }

  /** Runs one event. @returns false when there is nothing to do before the clock advances */
  #runNext(): Promise<true> | boolean {
    this.#handleEnded();
    this.#clusters.observe();
    const now = this.#parts.clock.monotonic();
    const { starts, leaves } = this.#planned.takeDue();
    for (const causes of starts) this.#start(causes);
    for (let left = leaves; left > 0; left--) this.#leaveSurplus();
    if (this.#parts.sharded) this.#shards.observe(now);
    else if (this.#parts.replicas > 1) this.#leader.observe(now);
    return starts.length + leaves > 0 || this.#clusters.runNext();
  }

  /** Ends a run in which the operator works without end. */
  #endLoop(message: string): void {
    this.#report("quiescence", message);
    for (const process of this.#running()) this.#kill(process);
    this.#planned.dropStarts();
  }

  #state(): "idle" | "retrying" | "busy" {
    const running = this.#running();
    if (!this.#planned.isEmpty() || running.some(({ isLeaving }) => isLeaving)) return "busy";
    const { waitedFor } = this.#clusters;
    if (waitedFor.some((cluster) => cluster.isBusy())) return "busy";
    if (running.length === 0) return "idle";
    // Nobody waits for a slot of a replica whose end nobody has noticed yet.
    if (this.#parts.sharded && this.#shards.hasUnheldSlot) return "busy";
    const states = waitedFor.map((cluster) => this.#stateIn(cluster));
    return states.includes("busy") ? "busy" : states.includes("retrying") ? "retrying" : "idle";
  }

  #stateIn(cluster: RunCluster): "idle" | "retrying" | "busy" {
    const working = cluster.running();
    if (working.length === 0) return this.#clusters.isWorkedIn(cluster) ? "busy" : "idle";
    // A standby is not idle; of replicas that divide the keys, each must be.
    const idle = working.filter(({ manager }) => manager.isIdle()).length;
    if (idle < (this.#parts.sharded ? working.length : 1)) return "busy";
    if (working.some(({ manager }) => this.#leader.hasOtherWork(manager))) return "busy";
    return working.some(({ manager }) => manager.retrying().length > 0) ? "retrying" : "idle";
  }

  #startAll(causes?: readonly EntryId[]): readonly OperatorProcess[] {
    return Array.from({ length: this.#parts.replicas }, () => this.#start(causes));
  }

  /** @param causes Why it starts, in the recording. */
  #start(causes: readonly EntryId[] = []): OperatorProcess {
    const process = this.#starter.create();
    this.#processes.push(process);
    this.#shards.add(process, this.#parts.clock.monotonic());
    this.#clusters.connect(process, causes);
    return process;
  }

  #crash(process: OperatorProcess, downMs: number): void {
    const note = this.#clusters.noteEnd("fault", "the process is killed", { process: process.id });
    this.#kill(process);
    if (downMs !== Infinity) this.#startIn(downMs, note);
  }

  #kill(process: OperatorProcess): void {
    process.kill();
    this.#clusters.disconnect(process);
  }

  #startIn(ms: number, cause: EntryId | undefined): void {
    this.#restarts++;
    this.#planned.startIn(ms, cause);
  }

  /** Another replica joins for some time, or the one that is about to write leaves. */
  #scale(process: OperatorProcess, { by, forMs }: FaultOf<"scale">): void {
    if (!this.#parts.sharded || process.isLeaving) return;
    if (by === "join") {
      this.#restarts++;
      this.#start();
      return this.#planned.leaveIn(forMs);
    }
    process.leave();
    this.#startIn(forMs, undefined);
  }

  /** The newest replica leaves, if there are more than usual. A process that is paused does not hear of it. */
  #leaveSurplus(): void {
    const staying = this.#running().filter(({ isLeaving, clock }) => !isLeaving && !clock.isPaused);
    if (staying.length + this.#planned.starts > this.#parts.replicas) staying.at(-1)?.leave();
  }

  /** Restarts the processes that have ended, as a kubelet would. Only the loss of the Lease is a valid reason to end. */
  #handleEnded(): void {
    for (const process of this.#processes) {
      const { failure } = process;
      const hasLeft = process.isLeaving && process.hasEnded;
      if ((failure === undefined && !hasLeft) || process.isEndHandled) continue;
      process.isEndHandled = true;
      this.#clusters.disconnect(process);
      if (failure === undefined) {
        this.#clusters.noteEnd("operator", "leaves", { process: process.id });
        continue;
      }
      if (!(failure instanceof LeaseLostError)) this.#report("process-exit", `process ${process.id} ended: ${failure}`);
      const note = this.#clusters.noteEnd("operator", "ends", { process: process.id, detail: String(failure) });
      this.#startIn(restartMs, note);
    }
  }

  #skewClocks(step: number): void {
    for (const { byMs, rate, forMs = 0 } of this.#subject.faults.beforeStep(step)) {
      const what = rate === undefined ? `jumps by ${byMs} ms` : `runs ${rate} times as fast for ${forMs} ms`;
      this.#subject.recorder?.note("fault", `the wall clock ${what}`);
      this.#skewedMs += Math.abs(byMs) + (rate === undefined ? 0 : forMs * rate);
      const [first, ...others] = this.#running();
      for (const process of [first, ...others]) process?.clock.jump(byMs);
      if (rate !== undefined) first?.clock.drift(rate, forMs);
    }
  }

  #stopAll(): void {
    for (const process of this.#running()) this.#crash(process, Infinity);
    this.#isStopped = true;
  }

  #startStopped(): void {
    this.#startAll();
    this.#restarts++;
    this.#isStopped = false;
  }

  /** Restarts the operator. A user may delete a dependent in the meantime. */
  async #restart({ deletes = 0 }: FaultOf<"restart">): Promise<void> {
    if (this.#parts.isRestarted) this.#stopAll();
    const { server } = this.#subject;
    const deleted = server.dependents()[deletes - 1];
    if (deleted !== undefined) await server.changeAsUser("delete", deleted.path, "");
    if (this.#parts.isRestarted) this.#startStopped();
    await this.#settle();
  }

  /** Restarts the operator on a stale server. @returns true when the run must settle before the next step */
  #restartStale(step: number): boolean {
    const { server, recorder } = this.#subject;
    const faults = this.#subject.faults.afterStep(step);
    for (const fault of faults) {
      for (const process of this.#running()) this.#kill(process);
      // The processes that were to start later start now.
      this.#planned.dropStarts();
      this.#staleFrom ??= { revision: server.revision, step };
      const revision = Math.max(server.firstRevision, server.revision - fault.back);
      const detail = fault.only ?? "";
      const details = { resourceVersion: String(revision), detail };
      const note = recorder?.note("fault", "restart on a stale server", details);
      const thawsAt = this.#parts.clock.monotonic() + fault.thawMs;
      for (const process of this.#startAll(note === undefined ? [] : [note])) {
        const view = this.#subject.viewOf(process);
        if (view !== undefined) view.staleView = { revision, thawsAt, only: fault.only };
      }
      this.#restarts++;
    }
    return faults.some(({ early }) => early !== true);
  }

  #checkLeader(process: OperatorProcess): void {
    if (this.#parts.sharded) return this.#shards.onWrite(process, this.#parts.clock.monotonic());
    if (this.#parts.replicas === 1) return;
    const other = this.#leader.otherHolder(process, this.#parts.clock.monotonic());
    if (other !== undefined) this.#report("one-leader", `process ${process.id} writes while ${other} holds the Lease`);
  }

  #checkState(): void {
    // After the deletion of the Lease, two processes may rightly believe to lead, and see each other's writes as conflicts.
    const mayPark = this.#leader.wasDeleted || this.#shards.wasDeleted;
    this.#violations.push(...this.#clusters.violations({
      ...{ mayPark, retryCounts: this.#retryCounts.violations(), shards: this.#shards.violations },
      ...{ replicas: this.#parts.replicas, sharded: this.#parts.sharded },
      ...{ processes: this.#processes, starts: 1 + this.#restarts },
    }));
  }

  #running(): readonly OperatorProcess[] {
    return this.#processes.filter(({ hasEnded }) => !hasEnded);
  }

  #report(invariant: Violation["invariant"], message: string): void {
    this.#violations.push({ invariant, message });
  }
}
