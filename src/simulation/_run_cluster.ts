/**
 * RunCluster: one API server of a run, with its users, the network between it and the operator, and the oracles that observe it.
 * A run has one; that of a fleet has a hub and several members, and every invariant is checked in each of them.
 *
 * Guarantees: nothing here advances the clock or chooses between clusters: a Run does.
 */
import type { Random, VirtualClock } from "../async/mod.ts";
import type { ClusterConnection } from "../fleet/mod.ts";
import type { AccessPlace, Manager, OperatorController, Workload } from "../manager/mod.ts";
import type { Recorder } from "../observe/mod.ts";
import { AccessOracle } from "./_access_oracle.ts";
import { FaultIndex } from "./_fault_index.ts";
import { cacheViolations, controllersIn, HandlerOracle, type ListLimits, listViolations } from "./_informer_oracles.ts";
import { MemberProcess } from "./member_process.ts";
import { NetworkProxy } from "./_network_proxy.ts";
import type { OperatorProcess } from "./_operator_process.ts";
import { OwnWriteOracle } from "./_own_write_oracle.ts";
import { RetryTracker, TimerTracker } from "./_pending_keys.ts";
import { PromptWrites } from "./_prompt_writes.ts";
import { RunRecorder } from "./_run_recorder.ts";
import { SimulatedServer } from "./_simulated_server.ts";
import { checksOf, StateChecks } from "./_state_checks.ts";
import { UserActions } from "./_user_actions.ts";
import { dependentKinds, writesForeignFields } from "./_user_objects.ts";
import type { FaultOf, FaultPlan } from "./fault_plan.ts";
import type { PointCounts } from "./fault_points.ts";
import type { ClusterResult } from "./schedule_result.ts";
import { type ServerFault, ServerLink } from "./server_link.ts";
import { outcomeOf } from "./summary.ts";
import type { Violation } from "./violation.ts";

/** A process, as one cluster sees it. */
export type ClusterProcess = OperatorProcess | MemberProcess;

/** What a cluster asks its run for. */
export interface RunClusterEvents {
  crash(process: OperatorProcess, downMs: number): void;
  scale(process: OperatorProcess, fault: FaultOf<"scale">): void;
  deleteLease(process: OperatorProcess): Promise<void>;
  /** Called before each write reaches the server. */
  onWrite(process: OperatorProcess, request: Request): void;
}

/** Options of a {@link RunCluster}. */
export interface RunClusterOptions {
  /** The name of a member, or "hub". @default it is the only cluster of the run */
  readonly name?: string;
  /** What of a fleet it is. @default "cluster" */
  readonly place?: AccessPlace;
  readonly controllers: readonly OperatorController[];
  readonly workload: Workload;
  /** The faults at the points of this cluster. */
  readonly plan: FaultPlan;
  readonly seed: number;
  readonly random: Random;
  readonly clock: VirtualClock;
  readonly recorder: Recorder | undefined;
  readonly events: RunClusterEvents;
}

/** What the oracles of a run need to know at its end. */
export interface RunLimits extends Omit<ListLimits, "controllers"> {
  /** Two processes may rightly believe to lead, and see each other's writes as conflicts. */
  readonly mayPark: boolean;
  /** What the oracles of the processes have found. */
  readonly retryCounts: readonly Violation[];
  readonly shards: readonly Violation[];
}

/** A question about keys that wait, see {@link TimerTracker}. */
export interface TimerWait {
  readonly now: number;
  readonly changedAt: number;
  readonly withinMs: number;
}

export class RunCluster {
  readonly name: string | undefined;
  readonly server: SimulatedServer;
  readonly recorder: RunRecorder | undefined;
  readonly proxy: NetworkProxy<ClusterProcess>;
  readonly faults: FaultIndex;
  readonly ownWrites: OwnWriteOracle;
  readonly checks: StateChecks;
  readonly users: UserActions;
  readonly #options: RunClusterOptions;
  readonly #controllers: readonly OperatorController[];
  readonly #handlers: HandlerOracle;
  readonly #access: AccessOracle;
  readonly #retries = new RetryTracker();
  readonly #timers = new TimerTracker();
  readonly #prompt: PromptWrites;
  readonly #stepRevisions: number[] = [];
  readonly #dependents: number[] = [];
  readonly #processes: ClusterProcess[] = [];
  readonly #links = new Map<MemberProcess, ServerLink>();
  /** The Managers that have worked in this cluster. */
  readonly #managers = new Set<Manager>();
  #link: ServerFault = { kind: "none" };
  #relists = 0;
  #troubles = 0;
  #troubleEndedAt = -Infinity;
  #isGone = false;
  #settledRevision = 0;
  #points: PointCounts | undefined;
  #writesBefore = 0;
  #lateWrites = 0;

  constructor(options: RunClusterOptions) {
    const { name, place = "cluster", controllers, workload, plan, seed, random, clock, recorder, events } = options;
    this.#options = options;
    this.name = name;
    this.recorder = recorder && new RunRecorder(
      place === "members" ? inCluster(recorder, name ?? "") : recorder,
      (revision, withStates) => this.server.changesSince(revision, withStates),
    );
    this.server = new SimulatedServer({ controllers, place, clock, recorder: this.recorder, seed });
    this.faults = new FaultIndex(plan);
    this.#controllers = controllersIn(place, controllers);
    this.#handlers = new HandlerOracle(this.#controllers);
    this.checks = new StateChecks(checksOf(controllers, workload), this.server);
    const kinds = dependentKinds(controllers);
    this.users = new UserActions({
      ...{ server: this.server, clock, recorder: this.recorder, mayWrite: writesForeignFields(controllers) },
      isDependentKind: (collection) => kinds.has(collection),
    });
    this.ownWrites = new OwnWriteOracle(this.server);
    this.#prompt = new PromptWrites(clock);
    this.#access = new AccessOracle({ clock, hasExisted: (path) => this.server.hasExisted(path) });
    this.proxy = new NetworkProxy({
      server: this.#access.observe((request) => this.server.fetch(request)),
      ...{ clock, random, recorder: this.recorder, faults: this.faults, revision: () => this.server.revision },
      crash: (process, downMs) => events.crash(process.owner, downMs),
      scale: (process, fault) => events.scale(process.owner, fault),
      actAsUser: (action, path, body) => this.users.act(action, path, body),
      deleteLease: (process) => events.deleteLease(process.owner),
      onWrite: (process, request) => {
        if (!this.#isForMember(request)) this.#prompt.onWrite();
        events.onWrite(process.owner, request);
        if (request.method === "DELETE") this.users.noteDelete(new URL(request.url).pathname);
      },
    });
  }

  /** True for a write in the hub by a controller of the members: it comes when the member that it is about lets it. */
  #isForMember({ url }: Request): boolean {
    const { place, controllers } = this.#options;
    if (place !== "hub") return false;
    const manager = new URL(url).searchParams.get("fieldManager");
    return !controllers.some(({ name, options }) => options.runsIn === "hub" && name === manager);
  }

  /** True for a member of a fleet. */
  get #isMember(): boolean {
    return this.#options.place === "members";
  }

  /** The process as this cluster sees it. @returns undefined before {@link add} */
  viewOf(process: OperatorProcess): ClusterProcess | undefined {
    return this.#processes.find(({ owner }) => owner === process);
  }

  /** Adds a process that was just started. */
  add(process: OperatorProcess): void {
    if (!this.#isMember) {
      this.#processes.push(process);
      return this.#observe(process);
    }
    const member = new MemberProcess(process, this.name ?? "");
    const link = new ServerLink(this.proxy.transport(member), this.#options.clock);
    link.set(this.#link);
    this.#links.set(member, link);
    this.#processes.push(member);
  }

  /** The connection of a process to this member. */
  connect(process: OperatorProcess): ClusterConnection {
    const [member, link] = [...this.#links].find(([{ owner }]) => owner === process) ?? [];
    if (member === undefined || link === undefined) {
      throw new Error(`Cannot connect to "${this.name}": it is no member`);
    }
    const { operatorTransport, transportFor } = this.server.accounts;
    return {
      server: `https://${this.name}.example.dev`,
      transport: operatorTransport(link.transport),
      transportFor,
      [Symbol.dispose]: () => this.proxy.disconnect(member),
    };
  }

  /** Observes the Managers that have begun to work in this member since the last call. */
  observeManagers(): void {
    if (this.#isMember) { for (const process of this.#processes) this.#observe(process); }
  }

  #observe(process: ClusterProcess): void {
    if (!process.isWorking || this.#managers.has(process.manager)) return;
    const { id, manager } = process;
    this.#managers.add(manager);
    const hasEnded = () => !process.isWorking || process.manager !== manager;
    this.#handlers.observe({
      ...{ id, manager },
      get hasEnded() {
        return hasEnded();
      },
    });
  }

  /** The processes that work in this cluster. */
  running(): readonly ClusterProcess[] {
    return this.#processes.filter(({ isWorking }) => isWorking);
  }

  /** A process has ended. */
  disconnect(process: OperatorProcess): void {
    const view = this.viewOf(process);
    if (view !== undefined) this.proxy.disconnect(view);
  }

  /** Changes the network between the operator and this member. @param forMs after which it is over; Infinity: never */
  setTrouble(fault: ServerFault, forMs: number): void {
    this.noteTrouble(forMs, () => this.#setLink({ kind: "none" }));
    this.#setLink(fault);
  }

  /** Something is wrong with this cluster. @param end is called when it is over */
  noteTrouble(forMs: number, end: () => void): void {
    this.#relists++;
    if (forMs === Infinity) return void (this.#isGone = true);
    this.#troubles++;
    this.#options.clock.timer(forMs, () => {
      this.#troubles--;
      this.#troubleEndedAt = this.#options.clock.monotonic();
      end();
    });
  }

  #setLink(fault: ServerFault): void {
    this.#link = fault;
    for (const link of this.#links.values()) link.set(fault);
  }

  /** Never comes back: nothing is expected of it any more. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Runs one event. @returns false when there is nothing to do before the clock advances */
  runNext(): Promise<true> | boolean {
    return this.users.undoAfterWrite() || this.proxy.passNext() || this.server.runCluster() || this.users.undoNext();
  }

  /** True while anything is under way, or a process sees an older state. */
  isBusy(): boolean {
    if (this.#troubles > 0 || this.proxy.isBusy() || this.server.isBusy() || this.users.isBusy()) return true;
    if ([...this.#links.values()].some(({ isBusy }) => isBusy)) return true;
    const now = this.#options.clock.monotonic();
    return this.running().some(({ staleView }) => staleView !== undefined && staleView.thawsAt > now);
  }

  /** When something was last changed. */
  get changedAt(): number {
    return Math.max(this.proxy.lastWriteAt, this.server.lastChangeAt);
  }

  /** Begins to wait until everything has settled. */
  startWait(): void {
    this.#timers.start();
  }

  /** True while a key waits for a retry or a requeue that may change something. Must be called before the clock advances. */
  hasWaitingKeys({ now, changedAt, withinMs }: TimerWait): boolean {
    const running = this.running();
    const { lastStepAt: since } = this.server;
    const troubledAt = Math.max(this.proxy.lastFaultAt, this.#troubleEndedAt, since);
    // Both are asked each time, because they see when keys begin to wait.
    const hasUntried = this.#retries.hasUntried(running, now, troubledAt);
    const hasDue = this.#timers.hasDue(running, { now, changedAt, since, withinMs });
    return hasUntried || hasDue;
  }

  /** A step of the workload begins. @param step from 1 */
  startStep(step: number): void {
    this.faults.startStep(step);
    this.#prompt.startStep();
  }

  /** A step has ended. @param isCounted false if it has changed nothing */
  endStep(isCounted: boolean): void {
    this.#stepRevisions.push(isCounted ? this.server.revision - this.server.firstRevision : 0);
    this.#dependents.push(isCounted ? this.server.dependents().length : 0);
  }

  /** Everything has settled. Faults after that would not be over at the end. */
  startLastMinute(): void {
    this.#settledRevision = this.server.revision;
    this.#points = { ...this.proxy.counts, lists: new Map(this.proxy.counts.lists) };
    this.#writesBefore = this.proxy.counts.writes;
  }

  /** The last minute is over. */
  endLastMinute(): void {
    this.#lateWrites = this.proxy.counts.writes - this.#writesBefore;
  }

  /** What the oracles have found, at the end of the run. */
  violations({ mayPark, retryCounts, shards, ...limits }: RunLimits): readonly Violation[] {
    const { counts } = this.proxy;
    return [
      ...mayPark ? [] : this.#parkedKeys(),
      ...cacheViolations(this.server, this.running(), this.#controllers),
      ...this.#handlers.violations(this.server),
      ...this.users.violations(),
      ...this.ownWrites.violations(),
      ...retryCounts,
      ...this.#access.violations,
      ...this.checks.violations(),
      ...shards,
      ...listViolations({ ...counts, relists: counts.relists + this.#relists }, {
        ...{ ...limits, controllers: this.#controllers },
        // A member is listed by each Manager that has worked in it.
        ...(this.#isMember ? { replicas: 1, starts: this.#managers.size } : {}),
      }),
    ];
  }

  #parkedKeys(): readonly Violation[] {
    return this.running().flatMap(({ manager }) => manager.parked()).map(({ controller, key, reason }) => ({
      invariant: "starved-key",
      message: `${controller} gave up ${key}: ${reason}`,
    }));
  }

  /** What happened here. */
  result(): Omit<ClusterResult, "violations"> {
    return {
      outcome: outcomeOf(this.server, this.checks.objects()),
      writes: this.server.writes,
      firstRevision: this.server.firstRevision,
      settledRevision: this.#settledRevision,
      lateWrites: this.#lateWrites,
      points: this.#points ?? this.proxy.counts,
      stepRevisions: this.#stepRevisions,
      changedCollections: this.server.changedCollections(),
      dependents: this.#dependents,
      stepWrites: this.#prompt.steps(),
      isGone: this.#isGone,
    };
  }

  [Symbol.dispose](): void {
    this.server[Symbol.dispose]();
  }
}

/** Notes and entries of one cluster of a fleet. The hub has no name in a recording. */
function inCluster(recorder: Recorder, cluster: string): Recorder {
  return {
    keepsStates: recorder.keepsStates,
    record: (entry) => recorder.record({ ...entry, cluster }),
  };
}
