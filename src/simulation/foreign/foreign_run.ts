/**
 * ForeignRun: one run of a workload with the program under a fault plan, on real time: a control plane, the fault layer in
 * front of it, and one process of the program after the other.
 *
 * Guarantees: when it is disposed, no process of the program lives, and all ports are free.
 */
import { scope } from "../../async/mod.ts";
import { type Entry, Recording } from "../../observe/mod.ts";
import { joinPath, makeDirectory, removePath, type Server } from "../../runtime/mod.ts";
import { requestInfo } from "../../manager/mod.ts";
import {
  collectionOf,
  FaultIndex,
  NetworkProxy,
  requestText,
  RunRecorder,
  transientCollections,
  UserActions,
} from "../engine.ts";
import type { FaultOf } from "../fault_plan.ts";
import { ClusterState, isEqual } from "./cluster_state.ts";
import { clusterSummary } from "./cluster_summary.ts";
import { ControlPlane } from "./control_plane.ts";
import type { ForeignProcess } from "./foreign_process.ts";
import { performedSteps, stepText } from "./foreign_workload.ts";
import { type SendRequest, startFrontServer } from "./front_server.ts";
import { freeLocks, isLockWrite } from "./leader_locks.ts";
import { PassedPoints } from "./passed_points.ts";
import { hasFailed, StepRunner } from "./perform_step.ts";
import { freePorts, type Launch, launchOf, portsOf, webhookUrlOf, writeKubeconfig } from "./program.ts";
import { ProgramLeader } from "./program_leader.ts";
import { ProgramRecorder } from "./program_recorder.ts";
import { ProgramReplicas } from "./program_replicas.ts";
import type { ForeignRunOptions, ForeignRunResult, PerformedStep, StepEnd } from "./run_options.ts";
import { ProgramUsages } from "./program_usages.ts";
import { ServiceStubs } from "./service_stubs.ts";
import { revisionOf } from "./stale_revision.ts";

const pollMs = 20;
/** From the first watch of a process to the last one that a run waits for. */
const maxOpeningMs = 1_500;
/** In the state that is expected, the next step follows after this time without a change. */
const betweenStepsMs = 250;
/** How long an object is foreign, in milliseconds: programs retry within a second or two. */
const foreignMs = 3_000;
const maxOutputLines = 20;

/** One run. Dispose it to end everything that it has started. */
export class ForeignRun implements AsyncDisposable {
  readonly #options: ForeignRunOptions;
  readonly #control: ControlPlane;
  readonly #faults: FaultIndex;
  readonly #proxy: NetworkProxy<ForeignProcess>;
  readonly #recorder: RunRecorder;
  readonly #users: UserActions;
  readonly #entries: Entry[] = [];
  /** The recorded senders of processes. */
  readonly #senders = new Map<ForeignProcess, SendRequest>();
  readonly #points = new PassedPoints();
  readonly #steps: StepEnd[] = [];
  readonly #outcomes: PerformedStep[] = [];
  readonly #usages = new ProgramUsages();
  readonly #startedAt: number;
  readonly #state: ClusterState;
  readonly #replicas: ProgramReplicas;
  readonly #leader: ProgramLeader<ForeignProcess>;
  #server: Server | undefined;
  #stubs: ServiceStubs | undefined;
  #ports: readonly number[] = [];
  #step = 0;
  #isPumping = false;
  /** A process of the program has opened a watch. */
  #hasOpened = false;
  /** A step has come to rest after a fault in a state that is not the expected one. */
  #hasWaitedInVain = false;

  constructor(options: ForeignRunOptions) {
    const { clock, random, plan, program, storage, onError, removedVersions, signingKey, signal } = options;
    const { creators, hasRules } = options;
    this.#options = options;
    this.#startedAt = clock.monotonic();
    this.#control = new ControlPlane({
      ...{ clock, random, storage, onError, removedVersions, signingKey, creators, hasRules },
      identity: program.identity,
      ca: options.certificates.ca,
      callWebhook: program.webhooks?.callerOf(() => webhookUrlOf(program, this.#ports)),
      execAnswers: (call) => this.#stubs?.execAnswers(call),
      onWrite: (actor, request, since) => this.#noteWrite(actor, request, since),
    });
    this.#state = new ClusterState(this.#control, options.firstRevision);
    this.#recorder = this.#newRecorder();
    this.#faults = new FaultIndex(plan, (kind, point) => this.#points.add(kind, point));
    this.#users = new UserActions({
      ...{ server: this.#control, clock, recorder: this.#recorder, foreignMs },
      isDependentKind: (collection) => !this.#isCustom(collection),
    });
    this.#proxy = new NetworkProxy<ForeignProcess>({
      server: this.#control.transportOf("program"),
      ...{ clock, random, faults: this.#faults, recorder: this.#recorder },
      revision: () => this.#control.revision,
      onReady: () => this.#wake(),
      crash: (process, downMs) => this.#replicas.crash(process, downMs),
      actAsUser: (action, path, body) => this.#users.act(action, path, body),
      deleteLease: () => freeLocks(this.#control),
      isLock: (request) => isLockWrite(request, this.#control),
      onWrite: (_, request) => {
        if (request.method === "DELETE") this.#users.noteDelete(new URL(request.url).pathname);
      },
    });
    this.#leader = new ProgramLeader((request) => isLockWrite(request, this.#control), () => clock.monotonic());
    this.#replicas = new ProgramReplicas({
      ...{ clock, signal, onError, recorder: this.#recorder, count: options.podNames.length },
      workingDirectory: program.workingDirectory,
      launch: (replica, token) => this.#launch(replica, token),
      disconnect: (process) => this.#proxy.disconnect(process),
      onPause: (process) => this.#onPause(process),
      onEnd: (process) => this.#onEnd(process),
      faults: () => this.#faults.applied,
    });
  }

  /** Runs the workload to its end. */
  async run(): Promise<ForeignRunResult> {
    const { workload, firstStep = 1, endsAtFailure = false, clock, signal } = this.#options;
    await this.#control.ready();
    await this.#listen();
    this.#step = firstStep - 1;
    this.#points.startStep(this.#step);
    // The process of the snapshot has ended, and the first one of this run does not wait for the end of its locks.
    if (firstStep > 1) await freeLocks(this.#control);
    if (!await this.#startStale()) this.#replicas.start();
    await this.#settle();
    const runner = new StepRunner({
      client: this.#control.user,
      clock,
      namespace: workload.namespace,
      restartOperator: () => this.#replicas.restart(),
    });
    for (const number of performedSteps(workload)) {
      const step = workload.steps[number - 1];
      if (number < firstStep || step === undefined) continue;
      if (this.#isDecided()) break;
      this.#step = number;
      this.#points.startStep(this.#step);
      this.#faults.startStep(this.#step);
      this.#recorder.note("user", stepText(step));
      const since = this.#control.revision;
      const stepAt = clock.monotonic();
      const outcome = await runner.perform(step, signal);
      if (outcome.kind !== "done") this.#recorder.note("user", "the step is not done", { detail: outcome.message });
      this.#control.noteCreated(since);
      this.#outcomes.push({ step: number, ...outcome, tookMs: clock.monotonic() - stepAt });
      if (step.atOnce !== true) await this.#settle();
      if (await this.#restartStale(this.#step)) await this.#settle(true);
      if (this.#replicas.isLooping || (endsAtFailure && hasFailed(outcome))) break;
    }
    await this.#undoForeign();
    return this.#result();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#replicas.end();
    await this.#server?.close();
    await this.#stubs?.[Symbol.asyncDispose]();
    await this.#control[Symbol.asyncDispose]();
    await removePath(this.#options.folder).catch(() => {});
  }

  #result(): ForeignRunResult {
    const isWhole = this.#step === this.#lastStep;
    return {
      firstStep: this.#options.firstStep ?? 1,
      steps: this.#steps,
      points: this.#points.list,
      hasStarted: this.#hasOpened,
      watches: this.#openWatches(),
      collections: [...this.#points.collections],
      violations: [this.#control.access, this.#users, this.#leader].flatMap((one) => one.violations()),
      performed: this.#outcomes,
      usage: this.#usages.sum,
      exits: this.#replicas.exits,
      leftovers: isWhole ? this.#state.leftovers() : [],
      applied: this.#faults.applied,
      requests: this.#proxy.requests,
      entries: this.#entries,
      output: [
        ...(this.#stubs?.unanswered ?? []).map((request) => `no answer is recorded for ${request}`),
        ...this.#replicas.lastOutput(maxOutputLines),
      ],
      errors: this.#replicas.errors(),
      ms: this.#options.clock.monotonic() - this.#startedAt,
    };
  }

  async #listen(): Promise<void> {
    const { certificates, clientCa, onError, program, folder, podNames } = this.#options;
    await makeDirectory(folder);
    const serviceToken = crypto.randomUUID();
    this.#server = await startFrontServer({
      ...{ certificates, clientCa, onError },
      senderOf: (token) => {
        if (token === serviceToken) return this.#control.transportOf("user");
        const process = this.#replicas.running.find((one) => one.token === token);
        return process && this.#senderOf(process);
      },
      senderOfCertificate: () => {
        const [process] = this.#replicas.running;
        return process && this.#senderOf(process);
      },
      isCustom: (collection) => this.#isCustom(collection),
      direct: this.#control.transportOf("program"),
    });
    this.#ports = await freePorts(portsOf(program) * podNames.length);
    const { services = [], hasOwnNetwork, clock, signal } = this.#options;
    const { workingDirectory } = program;
    // The applications that the program talks to may ask the server, and no fault applies to that.
    const kubeconfig = await writeKubeconfig(program, {
      path: joinPath(folder, "services.yaml"),
      token: serviceToken,
      port: this.#server.port,
    });
    const env = { ...program.env, KUBECONFIG: kubeconfig };
    this.#stubs = await ServiceStubs.start(services, {
      ...{ env, workingDirectory, hasOwnNetwork, clock, signal, onError },
    });
  }

  /** The next process does not wait for the end of a lock: that of a killed leader is free. */
  async #onEnd(process: ForeignProcess | undefined): Promise<void> {
    if (!this.#hasStandby || this.#leader.isLeader(process)) await freeLocks(this.#control);
    await this.#stubs?.operatorEnded();
  }

  /** A paused leader loses its lock to another replica at once, as after a pause that is longer than its duration. */
  #onPause(process: ForeignProcess): void {
    if (!this.#hasStandby || !this.#leader.isLeader(process)) return;
    this.#recorder.note("fault", "the lock of the paused process expires", { process: process.id });
    freeLocks(this.#control).catch(this.#options.onError);
  }

  get #hasStandby(): boolean {
    return this.#options.podNames.length > 1;
  }

  #isCustom(collection: string): boolean {
    const { storage } = this.#control.api.server;
    return storage.get("customresourcedefinitions.apiextensions.k8s.io", "", collection) !== undefined;
  }

  /** How a process of a replica is started. Replicas have no file and no port in common. */
  #launch(replica: number, token: string): Promise<Launch> {
    const { program, podNames, folder } = this.#options;
    const ports = portsOf(program);
    return launchOf(program, {
      ...{ token, stubs: this.#stubs, port: this.#server?.port ?? 0 },
      folder: this.#hasStandby ? joinPath(folder, `replica-${replica}`) : folder,
      podName: podNames[replica - 1] ?? "",
      freePorts: this.#ports.slice((replica - 1) * ports, replica * ports),
    });
  }

  /**
   * True when the rest of the run is known: a process that has started after all faults, in the state that is expected, has
   * nothing of them in its memory, and needs nothing from before for the next step.
   */
  #isDecided(): boolean {
    const { plan, expected, starts } = this.#options;
    const last = this.#steps.at(-1);
    const isRestarted = !this.#hasStandby && plan.faults.length > 0 &&
      plan.faults.every(({ kind }) => kind === "crash" || kind === "stale");
    if (!isRestarted || this.#faults.applied < plan.faults.length || last === undefined) return false;
    const hasNoMemory = starts?.has(this.#step + 1) === true;
    return expected !== undefined && hasNoMemory && last.isSettled && this.#isExpected(last.summary.fields);
  }

  /** A run from a snapshot whose fault is a stale start there begins with it. @returns true if there was such a fault */
  async #startStale(): Promise<boolean> {
    const [fault] = this.#step === 0 ? [] : this.#faults.afterStep(this.#step);
    if (fault === undefined) return false;
    await this.#startOn(fault, () => this.#replicas.start());
    return true;
  }

  /** Restarts the program on a server whose lists and watches show an older state. @returns true if the run must settle */
  async #restartStale(step: number): Promise<boolean> {
    const faults = this.#faults.afterStep(step);
    for (const fault of faults) await this.#startOn(fault, () => this.#replicas.restart());
    return faults.some(({ early }) => early !== true);
  }

  async #startOn(fault: FaultOf<"stale">, start: () => void | Promise<void>): Promise<void> {
    const { storage } = this.#control.api.server;
    const revision = revisionOf(fault, { storage, firstRevision: this.#options.firstRevision });
    const details = { resourceVersion: String(revision), detail: fault.only ?? "" };
    this.#recorder.note("fault", "restart on a stale server", details);
    await start();
    for (const process of await this.#replicas.started()) {
      process.staleView = { revision, thawsAt: Infinity, only: fault.only };
      void this.#thaw(process, fault);
    }
  }

  /** The server catches up some time after the process has begun to watch. */
  async #thaw(process: ForeignProcess, { thawMs }: FaultOf<"stale">): Promise<void> {
    const { clock, signal, pace } = this.#options;
    const deadline = clock.monotonic() + pace.startMs;
    try {
      while (this.#proxy.watchesOf(process) === 0 && clock.monotonic() < deadline && !process.hasEnded) {
        await clock.sleep(pollMs, signal);
      }
    } catch {
      return; // the run ends
    }
    const { staleView } = process;
    if (staleView === undefined) return;
    process.staleView = { ...staleView, thawsAt: clock.monotonic() + thawMs };
    this.#proxy.updateThaw(process);
  }

  /** Foreign objects become the program's again; it must leave them alone before. */
  async #undoForeign(): Promise<void> {
    const { clock, signal } = this.#options;
    if (!this.#users.isBusy()) return;
    while (this.#users.isBusy()) {
      if (!await this.#users.undoNext()) await clock.sleep(pollMs, signal);
    }
    await this.#settle(true);
  }

  /** Waits until nothing changes any more. @param replacesLast it is the end of the same step once more */
  async #settle(replacesLast = false): Promise<void> {
    const { clock, pace, signal, keepsSnapshots, learned } = this.#options;
    const startedAt = clock.monotonic();
    let [changedAt, seen, maxGapMs] = [startedAt, -1, 0];
    let fields: ReadonlyMap<string, string> = new Map();
    let isSettled = true;
    using waiting = scope(signal);
    while (true) {
      await this.#users.undoNext();
      const now = clock.monotonic();
      const revision = this.#control.revision;
      if (revision !== seen && this.#state.hasChangedSince(seen)) {
        const next = clusterSummary(this.#state.outcome(), learned).fields;
        if (seen >= 0 && !isEqual(fields, next)) {
          maxGapMs = Math.max(maxGapMs, now - changedAt);
          changedAt = now;
        }
        fields = next;
      }
      seen = revision;
      const isBusy = this.#isBusy(now - startedAt, now - changedAt);
      if (isBusy) changedAt = Math.max(changedAt, Math.min(now, changedAt + pollMs * 2));
      const neededMs = this.#neededQuietMs(fields);
      if (!isBusy && now - changedAt >= neededMs) break;
      if (this.#replicas.isLooping) break;
      if (now - startedAt > pace.settleMs) {
        isSettled = false;
        break;
      }
      await clock.sleep(pollMs, waiting.signal);
    }
    const tookMs = clock.monotonic() - startedAt;
    await this.#usages.note(this.#replicas.running);
    if (this.#faults.applied > 0 && !this.#isExpected(fields)) this.#hasWaitedInVain = true;
    const { api: { server: { storage } }, creators } = this.#control;
    const snapshot = keepsSnapshots === true ? { storage: storage.copy(), creators } : undefined;
    const state = this.#state.outcome();
    const outcomes = [...this.#outcomes];
    const { revision } = this.#control;
    const end: StepEnd = {
      ...{ step: this.#step, state, outcomes, summary: clusterSummary(state, learned) },
      ...{ isSettled, maxGapMs, tookMs, revision, snapshot },
    };
    const replaced = replacesLast ? this.#steps.pop() : undefined;
    this.#steps.push(replaced === undefined ? end : { ...end, before: replaced.before ?? replaced.summary });
  }

  /** True while the program starts, or something is delayed. A watch that the program has given up is not waited for. */
  #isBusy(sinceStartMs: number, quietMs: number): boolean {
    const { running, isStarting, isLooping } = this.#replicas;
    if (isStarting) return true;
    if (running.length === 0) return !isLooping;
    const now = this.#options.clock.monotonic();
    if (running.some(({ staleView }) => staleView !== undefined && staleView.thawsAt > now)) return true;
    if (this.#users.isBusy()) return false;
    if (!this.#hasStarted(running, sinceStartMs)) return true;
    return this.#proxy.isBusy() && quietMs < this.#options.pace.patienceMs;
  }

  /** True when all replicas have reached the server, and one of them has opened its watches. */
  #hasStarted(running: readonly ForeignProcess[], sinceStartMs: number): boolean {
    const { watches = 1, pace, clock } = this.#options;
    if (running.some((process) => !process.hasAnswer) && sinceStartMs < pace.startMs) return false;
    if (running.some(({ hasWatched }) => hasWatched)) return true;
    const busiest = running.toSorted((one, other) => this.#proxy.watchesOf(other) - this.#proxy.watchesOf(one))[0];
    if (busiest === undefined) return false;
    const open = this.#proxy.watchesOf(busiest);
    if (open === 0 && sinceStartMs < pace.startMs) return false;
    this.#hasOpened ||= open > 0;
    busiest.watchesSince ??= clock.monotonic();
    // A program may open some of its watches only when it needs them.
    if (open < watches && clock.monotonic() - busiest.watchesSince < maxOpeningMs) return false;
    busiest.hasWatched = true;
    return true;
  }

  #openWatches(): number {
    return Math.max(0, ...this.#replicas.running.map((process) => this.#proxy.watchesOf(process)));
  }

  /** In the state that is expected, a step is over soon; after the last one, a late change would be missed. */
  #neededQuietMs(fields: ReadonlyMap<string, string>): number {
    const { pace } = this.#options;
    const isLast = this.#step >= this.#lastStep;
    if (this.#isExpected(fields)) return isLast ? pace.quietMs : Math.min(pace.quietMs, betweenStepsMs);
    const { patienceMs, laterPatienceMs = patienceMs } = pace;
    return isLast || !this.#hasWaitedInVain ? patienceMs : laterPatienceMs;
  }

  get #lastStep(): number {
    return performedSteps(this.#options.workload).at(-1) ?? 0;
  }

  #isExpected(fields: ReadonlyMap<string, string>): boolean {
    const { expected, masked = new Set() } = this.#options;
    const wanted = expected?.get(this.#step);
    return wanted !== undefined && isEqual(fields, wanted, masked);
  }

  /** Lets pass what is ready, soon. */
  #wake(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    queueMicrotask(() => {
      this.#isPumping = false;
      for (let pass = this.#proxy.takeNext(); pass !== undefined; pass = this.#proxy.takeNext()) {
        this.#pass(pass).catch(this.#options.onError);
      }
    });
  }

  async #pass(pass: () => Promise<void> | void): Promise<void> {
    await pass();
    while (await this.#users.undoAfterWrite());
  }

  #newRecorder(): RunRecorder {
    const { clock, isRecorded = false } = this.#options;
    const sink = { keepsStates: isRecorded, write: (entry: Entry) => void this.#entries.push(entry) };
    const recording = new Recording({ now: () => clock.now(), maxBytes: 0, sink });
    if (!isRecorded) return new RunRecorder(recording, () => []);
    let known = this.#control.revision;
    return new RunRecorder(recording, (since, withStates) => {
      // Each change belongs to one note, also when several writes are under way.
      const changes = this.#control.changesSince(Math.max(since, known), withStates);
      known = this.#control.revision;
      return changes;
    });
  }

  /** Notes what users and the cluster do to what programs are about. */
  #noteWrite(actor: "user" | "cluster", request: Request, since: number): void {
    const info = requestInfo(request);
    if (this.#options.isRecorded !== true || info === undefined || unnoted.has(collectionOf(info))) return;
    this.#recorder.note(actor, requestText({ request, info }), { since });
  }

  /** Sends the requests of a process through the fault layer. */
  #senderOf(process: ForeignProcess): SendRequest {
    const send: SendRequest = async (request, key) => {
      const response = await this.#proxy.send(process, request, key);
      process.hasAnswer = true;
      if (response.ok && request.method !== "GET" && this.#hasStandby) this.#leader.noteWrite(process, request);
      return response;
    };
    if (this.#options.isRecorded !== true) return send;
    const known = this.#senders.get(process);
    const { clock } = this.#options;
    const recorder = this.#recorder.recorderOf(process);
    const kindOf = (collection: string) => this.#control.kindOf(collection);
    const recorded = known ?? new ProgramRecorder({ recorder, clock, kindOf }).recorded(send);
    this.#senders.set(process, recorded);
    return recorded;
  }
}

/** What changes all the time. */
const unnoted: ReadonlySet<string> = new Set([...transientCollections, "nodes"]);
