/**
 * runSchedule(): one run of a workload under a fault plan.
 *
 * Guarantees: the same controllers, workload, plan and seed give the same run, to the byte of its recording, on every runtime.
 * No timer, socket or clock of the machine is used.
 */
import { controllerOf } from "../api/mod.ts";
import { drain, type Random, runTurns, seededRandom, VirtualClock } from "../async/mod.ts";
import { LeaseLostError, type WorkloadStep } from "../manager/mod.ts";
import type { EntryId, Recorder } from "../observe/mod.ts";
import { AccessOracle } from "./_access_oracle.ts";
import { cacheViolations, HandlerOracle, listViolations } from "./_informer_oracles.ts";
import { LeaderOracle } from "./_leader_oracle.ts";
import { NetworkProxy } from "./_network_proxy.ts";
import { OwnWriteOracle } from "./_own_write_oracle.ts";
import { PlannedChanges } from "./planned_changes.ts";
import { LoopGuard, RetryTracker, TimerTracker } from "./_pending_keys.ts";
import type { OperatorProcess } from "./_operator_process.ts";
import { ProcessCreation } from "./process_creation.ts";
import { RetryOracle } from "./_retry_oracle.ts";
import { RunRecorder } from "./_run_recorder.ts";
import { ShardOracle } from "./shard_oracle.ts";
import { SimulatedServer } from "./_simulated_server.ts";
import { UserActions } from "./_user_actions.ts";
import { dependentKinds, writesForeignFields } from "./_user_objects.ts";
import { FaultIndex } from "./_fault_index.ts";
import { type FaultOf, noFaults } from "./fault_plan.ts";
import type { PointCounts } from "./fault_points.ts";
import type { StaleStart } from "./_stale_creations.ts";
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
import { checksOf, StateChecks } from "./_state_checks.ts";
import { outcomeOf } from "./summary.ts";
import type { Violation } from "./violation.ts";

/** Runs a workload once. */
export async function runSchedule(options: ScheduleOptions): Promise<ScheduleResult> {
  const { controllers, workload, plan = noFaults, seed = 1, replicas = 1, sharded = false } = options;
  const clock = new VirtualClock({ drainTurns: turnsPerDrain });
  const recorder = options.recorder?.(clock);
  await using run = new Run({
    ...{ controllers, workload, plan, replicas, sharded, seed, clock, recorder },
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
  readonly #recorder: RunRecorder | undefined;
  readonly #server: SimulatedServer;
  readonly #proxy: NetworkProxy<OperatorProcess>;
  readonly #faults: FaultIndex;
  readonly #leader: LeaderOracle;
  readonly #shards: ShardOracle;
  readonly #handlers: HandlerOracle;
  readonly #users: UserActions;
  readonly #ownWrites: OwnWriteOracle;
  readonly #retryCounts = new RetryOracle();
  readonly #access: AccessOracle;
  readonly #retries = new RetryTracker();
  readonly #timers = new TimerTracker();
  readonly #loops: LoopGuard;
  readonly #checks: StateChecks;
  readonly #processes: OperatorProcess[] = [];
  readonly #violations: Violation[] = [];
  readonly #planned: PlannedChanges;
  readonly #starter: ProcessCreation;
  readonly #stepRevisions: number[] = [];
  readonly #dependents: number[] = [];
  #settling: Settling = "settled";
  #restarts = 0;
  #staleFrom: StaleStart | undefined;
  #settledRevision = 0;
  #points: PointCounts | undefined;
  #isStopped = false;
  #lateWrites = 0;
  /** How far ahead requeues are waited for. */
  #timerMs = stepTimerMs;
  /** How far faults have set the wall clock back or ahead. */
  #skewedMs = 0;

  constructor(parts: RunParts) {
    const { clock, random, plan } = parts;
    const recorder = parts.recorder && new RunRecorder(
      parts.recorder,
      (revision, withStates) => this.#server.changesSince(revision, withStates),
    );
    this.#recorder = recorder;
    this.#planned = new PlannedChanges(clock);
    this.#loops = new LoopGuard(clock, (message) => this.#endLoop(message));
    this.#parts = parts;
    this.#server = new SimulatedServer({ controllers: parts.controllers, clock, recorder, seed: parts.seed });
    this.#faults = new FaultIndex(plan);
    this.#handlers = new HandlerOracle(parts.controllers);
    this.#checks = new StateChecks(checksOf(parts.controllers, parts.workload), this.#server);
    const kinds = dependentKinds(parts.controllers);
    const isDependentKind = (collection: string) => kinds.has(collection);
    const mayWrite = writesForeignFields(parts.controllers);
    this.#users = new UserActions({ server: this.#server, isDependentKind, mayWrite, clock, recorder });

    this.#ownWrites = new OwnWriteOracle(this.#server);
    this.#access = new AccessOracle({ clock, hasExisted: (path) => this.#server.hasExisted(path) });
    this.#leader = new LeaderOracle(this.#server, parts.controllers);
    this.#shards = new ShardOracle(this.#server);
    this.#starter = new ProcessCreation({
      ...parts,
      ...{ server: this.#server, loops: this.#loops, ownWrites: this.#ownWrites, retryCounts: this.#retryCounts },
      ...{ leader: this.#leader, shards: this.#shards },
    });
    this.#proxy = new NetworkProxy({
      server: this.#access.observe((request) => this.#server.fetch(request)),
      ...{ clock, random, recorder, faults: this.#faults, revision: () => this.#server.revision },
      crash: (process, downMs) => this.#crash(process, downMs),
      scale: (process, fault) => this.#scale(process, fault),
      actAsUser: (action, path, body) => this.#users.act(action, path, body),
      deleteLease: (process) =>
        parts.sharded
          ? this.#shards.deleteLease(process, clock.monotonic())
          : this.#leader.deleteLease(clock.monotonic()),
      onWrite: (process, request) => {
        if (this.#leader.concerns(request)) this.#checkLeader(process);
        if (request.method === "DELETE") this.#users.noteDelete(new URL(request.url).pathname);
      },
    });
  }

  /** Starts the server and the operator, and waits until they have settled. */
  async start(): Promise<void> {
    await this.#server.start();
    this.#startAll();
    await this.#settle();
    await this.#runUntil(this.#parts.clock.monotonic() + this.#server.delayMs);
  }

  /** Performs the steps, and waits after each one until everything has settled. */
  async runSteps(steps: readonly WorkloadStep[]): Promise<void> {
    for (const [index, step] of steps.entries()) {
      if (this.#loops.isEnded) return;
      this.#faults.startStep(index + 1);
      this.#skewClocks(index + 1);
      const restarts = this.#faults.restartsAt(index + 1);
      if (step.kind === "stop" || restarts.some(({ down }) => down === true)) this.#stopAll();
      this.#timerMs = this.#timerMsAfter(step, steps.slice(index + 1));
      if (step.kind !== "stop") await this.#perform(step);
      this.#stepRevisions.push(step.kind === "stop" ? 0 : this.#server.revision - this.#server.firstRevision);
      this.#dependents.push(step.kind === "stop" ? 0 : this.#server.dependents().length);
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
      this.#recorder?.note("user", `waits until ${step.toMs / 1000} s`);
      await this.#runUntil(step.toMs);
    } else {
      await this.#server.perform(step);
    }
    if (this.#isStopped) this.#startStopped();
    if (step.atOnce !== true) await this.#settle(step.untilWrites);
  }

  /** Counts the writes of another minute, and checks the state at the end. */
  async checkEnd(): Promise<void> {
    const { writes } = this.#proxy.counts;
    this.#settledRevision = this.#server.revision;
    // Faults in the last minute would not be over at its end.
    this.#points = { ...this.#proxy.counts, lists: new Map(this.#proxy.counts.lists) };
    await this.#runUntil(this.#parts.clock.monotonic() + finalQuietMs);
    this.#lateWrites = this.#proxy.counts.writes - writes;
    this.#checkState();
  }

  /** Deletes what users have created, so that the operator deletes and forgets the rest. */
  async cleanUp(): Promise<void> {
    for (const { path, object } of this.#server.objects()) {
      if (controllerOf(object) === undefined) await this.#server.trySend(path, "DELETE", {});
    }
    this.#server.noteChange();
    await this.#settle();
  }

  result(): ScheduleResult {
    return {
      outcome: outcomeOf(this.#server, this.#checks.objects()),
      writes: this.#server.writes,
      firstRevision: this.#server.firstRevision,
      staleFrom: this.#staleFrom,
      settledRevision: this.#settledRevision,
      lateWrites: this.#lateWrites,
      points: this.#points ?? this.#proxy.counts,
      stepRevisions: this.#stepRevisions,
      dependents: this.#dependents,
      settling: this.#settling,
      isHotLoop: this.#loops.isEnded,
      violations: [...this.#violations],
      totals: {
        requests: this.#proxy.requests,
        faults: this.#faults.applied,
        reconciles: this.#loops.reconciles,
        virtualMs: this.#parts.clock.monotonic(),
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of this.#running()) this.#kill(process);
    await drain();
    this.#server[Symbol.dispose]();
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
    this.#timers.start();
    const maxWrites = this.#proxy.successfulWrites + untilWrites;
    const startedAt = clock.monotonic();
    let quietSince = startedAt;
    const mostEvents = maxEventsOf(this.#parts) * (1 + Math.ceil(this.#skewedMs / settleTimeoutMs));
    for (let events = 0; events < mostEvents; events++) {
      await runTurns();
      if (this.#proxy.successfulWrites >= maxWrites || this.#loops.isEnded) return;
      if (await this.#runNext()) continue;
      const now = clock.monotonic();
      const { lastFaultAt, lastWriteAt } = this.#proxy;
      const changedAt = Math.max(lastWriteAt, this.#server.lastChangeAt);
      // Both are asked each time, because they see when keys begin to wait.
      const hasUntried = this.#retries.hasUntried(this.#running(), now, Math.max(lastFaultAt, this.#server.lastStepAt));
      const since = this.#server.lastStepAt;
      const hasDue = this.#timers.hasDue(this.#running(), { now, changedAt, since, withinMs: timerMs });
      const state = hasUntried || hasDue ? "busy" : this.#state();
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
    this.#checks.observe();
    const now = this.#parts.clock.monotonic();
    const { starts, leaves } = this.#planned.takeDue();
    for (const causes of starts) this.#start(causes);
    for (let left = leaves; left > 0; left--) this.#leaveSurplus();
    if (this.#parts.sharded) this.#shards.observe(now);
    else if (this.#parts.replicas > 1) this.#leader.observe(now);
    return starts.length + leaves > 0 || this.#users.undoAfterWrite() || this.#proxy.passNext() ||
      this.#server.runCluster() ||
      this.#users.undoNext();
  }

  /** Ends a run in which the operator works without end. */
  #endLoop(message: string): void {
    this.#report("quiescence", message);
    for (const process of this.#running()) this.#kill(process);
    this.#planned.dropStarts();
  }

  #state(): "idle" | "retrying" | "busy" {
    const running = this.#running();
    if (
      !this.#planned.isEmpty() || running.some(({ isLeaving }) => isLeaving) || this.#proxy.isBusy() ||
      this.#server.isBusy() || this.#users.isBusy()
    ) {
      return "busy";
    }
    if (running.length === 0) return "idle";
    const now = this.#parts.clock.monotonic();
    if (running.some(({ staleView }) => staleView !== undefined && staleView.thawsAt > now)) return "busy";
    // A standby is not idle; of replicas that divide the keys, each must be.
    const idle = running.filter(({ manager }) => manager.isIdle()).length;
    if (idle < (this.#parts.sharded ? running.length : 1)) return "busy";
    if (running.some(({ manager }) => this.#leader.hasOtherWork(manager))) return "busy";
    return running.some(({ manager }) => manager.retrying().length > 0) ? "retrying" : "idle";
  }

  #startAll(causes?: readonly EntryId[]): readonly OperatorProcess[] {
    return Array.from({ length: this.#parts.replicas }, () => this.#start(causes));
  }

  /** @param causes Why it starts, in the recording. */
  #start(causes: readonly EntryId[] = []): OperatorProcess {
    const process = this.#starter.create();
    this.#processes.push(process);
    this.#shards.add(process, this.#parts.clock.monotonic());
    this.#recorder?.starts(process.id, causes);
    const recorder = this.#recorder?.recorderOf(process);
    process.start({ transport: this.#proxy.transport(process), recorder });
    this.#handlers.observe(process);
    return process;
  }

  #crash(process: OperatorProcess, downMs: number): void {
    const note = this.#recorder?.ends("fault", "the process is killed", { process: process.id });
    this.#kill(process);
    if (downMs !== Infinity) this.#startIn(downMs, note);
  }

  #kill(process: OperatorProcess): void {
    process.kill();
    this.#checks.forgetProcess();
    this.#proxy.disconnect(process);
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
      this.#checks.forgetProcess();
      this.#proxy.disconnect(process);
      if (failure === undefined) {
        this.#recorder?.ends("operator", "leaves", { process: process.id });
        continue;
      }
      if (!(failure instanceof LeaseLostError)) this.#report("process-exit", `process ${process.id} ended: ${failure}`);
      const note = this.#recorder?.ends("operator", "ends", { process: process.id, detail: String(failure) });
      this.#startIn(restartMs, note);
    }
  }

  #skewClocks(step: number): void {
    for (const { byMs, rate, forMs = 0 } of this.#faults.beforeStep(step)) {
      const what = rate === undefined ? `jumps by ${byMs} ms` : `runs ${rate} times as fast for ${forMs} ms`;
      this.#recorder?.note("fault", `the wall clock ${what}`);
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
    const deleted = this.#server.dependents()[deletes - 1];
    if (deleted !== undefined) await this.#server.changeAsUser("delete", deleted.path, "");
    if (this.#parts.isRestarted) this.#startStopped();
    await this.#settle();
  }

  /** Restarts the operator on a stale server. @returns true when the run must settle before the next step */
  #restartStale(step: number): boolean {
    const faults = this.#faults.afterStep(step);
    for (const fault of faults) {
      for (const process of this.#running()) this.#kill(process);
      // The processes that were to start later start now.
      this.#planned.dropStarts();
      this.#staleFrom ??= { revision: this.#server.revision, step };
      const revision = Math.max(this.#server.firstRevision, this.#server.revision - fault.back);
      const detail = fault.only ?? "";
      const details = { resourceVersion: String(revision), detail };
      const note = this.#recorder?.note("fault", "restart on a stale server", details);
      const thawsAt = this.#parts.clock.monotonic() + fault.thawMs;
      for (const process of this.#startAll(note === undefined ? [] : [note])) {
        process.staleView = { revision, thawsAt, only: fault.only };
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
    const parked = this.#leader.wasDeleted || this.#shards.wasDeleted
      ? []
      : this.#running().flatMap(({ manager }) => manager.parked());
    for (const { controller, key, reason } of parked) {
      this.#report("starved-key", `${controller} gave up ${key}: ${reason}`);
    }
    this.#violations.push(...cacheViolations(this.#server, this.#running(), this.#parts.controllers));
    this.#violations.push(...this.#handlers.violations(this.#server), ...this.#users.violations());
    this.#violations.push(...this.#ownWrites.violations(), ...this.#retryCounts.violations());
    this.#violations.push(...this.#access.violations, ...this.#checks.violations(), ...this.#shards.violations);
    this.#violations.push(...listViolations(this.#proxy.counts, {
      ...this.#parts,
      processes: this.#processes,
      starts: 1 + this.#restarts,
    }));
  }

  #running(): readonly OperatorProcess[] {
    return this.#processes.filter(({ hasEnded }) => !hasEnded);
  }

  #report(invariant: Violation["invariant"], message: string): void {
    this.#violations.push({ invariant, message });
  }
}
