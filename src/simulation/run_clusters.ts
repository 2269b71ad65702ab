/**
 * RunClusters: all clusters of a run. Without a fleet there is one. A fleet has a hub with the Lease and the objects of
 * `inHub()`, and members, in each of which the workload is performed.
 *
 * Guarantees: with one cluster, it adds nothing to a run. Events of several clusters pass in an order that depends on the seed.
 */
import type { Random, VirtualClock } from "../async/mod.ts";
import type { OperatorController, Workload, WorkloadStep } from "../manager/mod.ts";
import type { EntryId, Recorder } from "../observe/mod.ts";
import type { OperatorProcess } from "./_operator_process.ts";
import { RunCluster, type RunClusterEvents, type RunLimits, type TimerWait } from "./_run_cluster.ts";
import { type FaultOf, type FaultPlan, faultText, noFaults } from "./fault_plan.ts";
import { hubName, memberNames } from "./fleet_names.ts";
import { ReportedClusters } from "./reported_clusters.ts";
import type { RunTotals } from "./run_totals.ts";
import type { ClusterResult, ScheduleResult } from "./schedule_result.ts";
import type { Violation } from "./violation.ts";

/** Options of {@link RunClusters}. */
export interface RunClustersOptions {
  readonly controllers: readonly OperatorController[];
  readonly workload: Workload;
  readonly plan: FaultPlan;
  readonly seed: number;
  /** The members of a fleet. With 0, there is no fleet. */
  readonly members: number;
  readonly random: Random;
  readonly clock: VirtualClock;
  readonly recorder: Recorder | undefined;
  readonly events: RunClusterEvents;
}

type ServerStep = Exclude<WorkloadStep, { kind: "stop" | "advance" }>;

export class RunClusters {
  /** The hub of a fleet first. */
  readonly all: readonly [RunCluster, ...RunCluster[]];
  /** The cluster with the Leases: the hub, or the only cluster. */
  readonly main: RunCluster;
  /** The cluster that the faults hit: the first member, or the only cluster. */
  readonly subject: RunCluster;
  readonly #members: ReadonlyMap<string, RunCluster>;
  readonly #reported: ReportedClusters;
  readonly #random: Random;
  readonly #clock: VirtualClock;
  readonly #violations = new Set<string>();
  /** Until when reconciles that ran when the first member was disengaged may write in it. */
  #drainsUntil = 0;
  /** What happened in all clusters but the subject. */
  #others: ReadonlyMap<string, ClusterResult> = new Map();

  constructor({ members, plan, seed, ...options }: RunClustersOptions) {
    const names = memberNames(members);
    this.#random = options.random;
    this.#clock = options.clock;
    this.#reported = new ReportedClusters(names);
    const hub = names.length === 0
      ? new RunCluster({ ...options, plan, seed })
      : new RunCluster({ ...options, plan: noFaults, seed, name: hubName, place: "hub" });
    // Servers with other seeds have other UIDs, versions and times.
    const create = (name: string, index: number) => {
      const events = this.#eventsOf(name, options.events);
      const faults = index === 0 ? plan : noFaults;
      return new RunCluster({ ...options, events, plan: faults, seed: seed + index, name, place: "members" });
    };
    this.#members = new Map(names.map((name, index) => [name, create(name, index)]));
    this.all = [hub, ...this.#members.values()];
    this.main = hub;
    this.subject = this.all[1] ?? hub;
  }

  get #isFleet(): boolean {
    return this.#members.size > 0;
  }

  /** The events of a member, in which nothing is written while it is not engaged. */
  #eventsOf(name: string, events: RunClusterEvents): RunClusterEvents {
    return {
      ...events,
      onWrite: (process, request) => {
        if (!this.#reported.names.has(name) && this.#clock.monotonic() >= this.#drainsUntil) {
          this.#violations.add(`the operator writes in ${name}, which is not engaged`);
        }
        events.onWrite(process, request);
      },
    };
  }

  /** The clusters in which everything must settle. */
  get waitedFor(): readonly RunCluster[] {
    return this.#isFleet ? this.all.filter(({ isGone }) => !isGone) : this.all;
  }

  /** Starts the servers. @returns how long to wait before the first step */
  async start(): Promise<number> {
    for (const { server } of this.all) await server.start();
    return Math.max(...this.all.map(({ server }) => server.delayMs));
  }

  /** Starts a process, with connections to all clusters. @param causes Why it starts, in the recording */
  connect(process: OperatorProcess, causes: readonly EntryId[]): void {
    const note = this.main.recorder?.starts(process.id, causes);
    for (const { recorder } of this.#members.values()) if (note !== undefined) recorder?.startedBy(process.id, note);
    const connect = (name: string) => {
      const member = this.#members.get(name);
      if (member === undefined) throw new Error(`Cannot connect to "${name}": there is no such member`);
      return member.connect(process);
    };
    for (const member of this.#members.values()) member.add(process);
    process.start({
      transport: this.main.proxy.transport(process),
      ...(this.#isFleet ? { members: this.#reported.provider(connect) } : {}),
      recorder: this.#recorderOf(process),
    });
    this.main.add(process);
  }

  /** What a process does in a member is recorded there. */
  #recorderOf(process: OperatorProcess): Recorder | undefined {
    const main = this.main.recorder?.recorderOf(process);
    if (main === undefined || !this.#isFleet) return main;
    const byName = new Map([...this.#members].map(([name, { recorder }]) => [name, recorder?.recorderOf(process)]));
    return { ...main, record: (entry) => (byName.get(entry.cluster ?? "") ?? main).record(entry) };
  }

  /** Records that a process ends. */
  noteEnd(actor: "fault" | "operator", what: string, { process, detail }: NotedEnd): EntryId | undefined {
    const causes = [...this.#members.values()].flatMap(({ recorder }) => recorder?.unfinished(process) ?? []);
    return this.main.recorder?.ends(actor, what, { process, causes, ...(detail === undefined ? {} : { detail }) });
  }

  /** A process has ended. */
  disconnect(process: OperatorProcess): void {
    this.subject.checks.forgetProcess();
    for (const cluster of this.all) cluster.disconnect(process);
  }

  /** A step of the workload begins. @param step from 1 */
  startStep(step: number): void {
    for (const cluster of this.all) cluster.startStep(step);
    for (const fault of this.subject.faults.membersAt(step)) this.#disturb(fault);
  }

  /** A user makes a step, in each member or in the hub. */
  async perform({ inHub = false, ...step }: ServerStep): Promise<void> {
    const clusters = !this.#isFleet || inHub ? [this.main] : [...this.#members.values()];
    for (const { server } of clusters) await server.perform(step);
  }

  endStep(isCounted: boolean): void {
    for (const cluster of this.all) cluster.endStep(isCounted);
  }

  /** Something happens to the first member. */
  #disturb(fault: FaultOf<"member">): void {
    const { name = "", recorder } = this.subject;
    recorder?.note("fault", faultText(fault));
    const forMs = fault.forMs ?? Infinity;
    switch (fault.state) {
      case "disengaged": {
        const isWorking = this.subject.isBusy() || this.subject.running().some(({ manager }) => !manager.isIdle());
        this.#drainsUntil = this.#clock.monotonic() + (isWorking ? drainMs : 0);
        this.#reported.disengage(name);
        return this.subject.noteTrouble(forMs, () => this.#reported.engage(name));
      }
      case "slow":
        return this.subject.setTrouble({ kind: "slow", delayMs: slowMs }, forMs);
      default:
        return this.subject.setTrouble({ kind: fault.state }, forMs);
    }
  }

  /** Looks at what has changed since the last event. */
  observe(): void {
    for (const cluster of this.all) {
      cluster.checks.observe();
      cluster.observeManagers();
    }
  }

  /** Runs one event. @returns false when there is nothing to do before the clock advances */
  runNext(): Promise<true> | boolean {
    const { all } = this;
    const first = all.length === 1 ? 0 : Math.floor(this.#random.next() * all.length);
    for (let index = 0; index < all.length; index++) {
      const ran = all[(first + index) % all.length]?.runNext() ?? false;
      if (ran !== false) return ran;
    }
    return false;
  }

  /** When something was last changed. */
  get changedAt(): number {
    return Math.max(...this.all.map((cluster) => cluster.changedAt));
  }

  /** Begins to wait until everything has settled. */
  startWait(): void {
    for (const cluster of this.all) cluster.startWait();
  }

  /** True while a key waits for a retry or a requeue that may change something. */
  hasWaitingKeys(wait: TimerWait): boolean {
    return this.waitedFor.map((cluster) => cluster.hasWaitingKeys(wait)).includes(true);
  }

  /** True when processes work in a cluster, or will. */
  isWorkedIn(cluster: RunCluster): boolean {
    return cluster === this.main || this.#reported.names.has(cluster.name ?? "");
  }

  startLastMinute(): void {
    for (const cluster of this.all) cluster.startLastMinute();
  }

  endLastMinute(): void {
    for (const cluster of this.all) cluster.endLastMinute();
  }

  /** What the oracles have found in the subject. What they have found in others is in {@link result}. */
  violations(limits: RunLimits): readonly Violation[] {
    const written = [...this.#violations].map((message): Violation => ({ invariant: "isolation", message }));
    const shared = [...limits.retryCounts, ...limits.shards];
    this.#others = new Map(
      this.all.filter((cluster) => cluster !== this.subject).map((cluster) => {
        const violations = cluster.violations({ ...limits, retryCounts: [], shards: [] });
        return [cluster.name ?? "", { ...cluster.result(), violations }];
      }),
    );
    return [...written, ...this.subject.isGone ? shared : this.subject.violations(limits)];
  }

  /** What happened in the subject, and in the others. */
  result(): Omit<ClusterResult, "violations"> & Pick<ScheduleResult, "others"> {
    return { ...this.subject.result(), others: this.#others };
  }

  totals(): Pick<RunTotals, "requests" | "faults"> {
    const sum = (numberOf: (cluster: RunCluster) => number) =>
      this.all.reduce((all, cluster) => all + numberOf(cluster), 0);
    return { requests: sum(({ proxy }) => proxy.requests), faults: sum(({ faults }) => faults.applied) };
  }
}

/** The end of a process, in the recording. */
interface NotedEnd {
  readonly process: number;
  readonly detail?: string;
}

/** Running reconciles may finish when their cluster is disengaged. */
const drainMs = 5_000;
/** Each request and each part of a response of a slow server takes this long: less than a client waits. */
const slowMs = 2_000;
