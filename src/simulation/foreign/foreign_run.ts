/**
 * ForeignRun: one run of a workload with the program under a fault plan, on real time: a control plane, the fault layer in
 * front of it, and one process of the program after the other.
 *
 * Guarantees: when it is disposed, no process of the program lives, and all ports are free.
 */
import { scope } from "../../async/mod.ts";
import type { Entry, NewEntry, Recorder } from "../../observe/mod.ts";
import { joinPath, listenTcp, makeDirectory, type ProgramEnd, removePath, type Server } from "../../runtime/mod.ts";
import { FaultIndex, NetworkProxy, RunRecorder, UserActions } from "../engine.ts";
import type { FaultOf } from "../fault_plan.ts";
import type { Violation } from "../violation.ts";
import { ClusterState, isEqual } from "./cluster_state.ts";
import { clusterSummary } from "./cluster_summary.ts";
import { ControlPlane } from "./control_plane.ts";
import { ForeignProcess } from "./foreign_process.ts";
import { stepText } from "./foreign_workload.ts";
import { startFrontServer } from "./front_server.ts";
import { freeLocks, isLockWrite } from "./leader_locks.ts";
import { PassedPoints } from "./passed_points.ts";
import { StepRunner } from "./perform_step.ts";
import { launchOf, portsOf, webhookUrlOf, writeKubeconfig } from "./program.ts";
import type { ForeignRunOptions, ForeignRunResult, StepEnd } from "./run_options.ts";
import { ServiceStubs } from "./service_stubs.ts";
import { revisionOf } from "./stale_revision.ts";

const pollMs = 20;
/** From the first watch of a process to the last one that a run waits for. */
const maxOpeningMs = 1_500;
/** In the state that is expected, the next step follows after this time without a change. */
const betweenStepsMs = 250;
/** How long an object is foreign, in milliseconds: programs retry within a second or two. */
const foreignMs = 3_000;
/** From the end of a process that no fault ended to the next start, as the kubelet waits. */
const restartMs = 500;
/** Exits without a fault after which a run ends. */
const maxExits = 3;
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
  readonly #points = new PassedPoints();
  readonly #violations: Violation[] = [];
  readonly #steps: StepEnd[] = [];
  readonly #outcomes: string[] = [];
  readonly #startedAt: number;
  readonly #state: ClusterState;
  #server: Server | undefined;
  #stubs: ServiceStubs | undefined;
  #ports: readonly number[] = [];
  #process: ForeignProcess | undefined;
  #lastOutput: readonly string[] = [];
  #processes = 0;
  #isStarting = false;
  #exits = 0;
  #step = 0;
  #isPumping = false;

  constructor(options: ForeignRunOptions) {
    const { clock, random, plan, program, storage, onError, removedVersions, signingKey } = options;
    this.#options = options;
    this.#startedAt = clock.monotonic();
    this.#control = new ControlPlane({
      ...{ clock, random, storage, onError, removedVersions, signingKey },
      identity: program.identity,
      ca: options.certificates.ca,
      callWebhook: program.webhooks?.callerOf(() => webhookUrlOf(program, this.#ports)),
      execAnswers: (call) => this.#stubs?.execAnswers(call),
    });
    this.#state = new ClusterState(this.#control, options.firstRevision);
    this.#recorder = new RunRecorder(this.#recorderOf(), () => []);
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
      crash: (process, downMs) => this.#crash(process, downMs),
      actAsUser: (action, path, body) => this.#users.act(action, path, body),
      deleteLease: () => freeLocks(this.#control),
      isLock: (request) => isLockWrite(request, this.#control),
      onWrite: (_, request) => {
        if (request.method === "DELETE") this.#users.noteDelete(new URL(request.url).pathname);
      },
    });
  }

  /** Runs the workload to its end. */
  async run(): Promise<ForeignRunResult> {
    const { workload, firstStep = 1, signal } = this.#options;
    await this.#control.ready();
    await this.#listen();
    this.#step = firstStep - 1;
    this.#points.startStep(this.#step);
    if (!await this.#startStale()) this.#start();
    await this.#settle();
    const runner = new StepRunner({
      client: this.#control.user,
      clock: this.#options.clock,
      namespace: workload.namespace,
      restartOperator: () => this.#restart(),
    });
    for (const [index, step] of workload.steps.entries()) {
      if (index + 1 < firstStep) continue;
      if (this.#isDecided()) break;
      this.#step = index + 1;
      this.#points.startStep(this.#step);
      this.#faults.startStep(this.#step);
      this.#recorder.note("user", stepText(step));
      const since = this.#control.revision;
      const outcome = await runner.perform(step, signal);
      this.#control.noteCreated(since);
      this.#outcomes.push(outcome.kind);
      if (step.atOnce !== true) await this.#settle();
      if (await this.#restartStale(this.#step)) await this.#settle(true);
      if (this.#exits >= maxExits) break;
    }
    await this.#undoForeign();
    return this.#result();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const process = this.#process;
    process?.kill();
    if (process !== undefined) this.#proxy.disconnect(process);
    await process?.gone();
    await this.#server?.close();
    await this.#stubs?.[Symbol.asyncDispose]();
    await this.#control[Symbol.asyncDispose]();
    await removePath(this.#options.folder).catch(() => {});
  }

  #result(): ForeignRunResult {
    return {
      firstStep: this.#options.firstStep ?? 1,
      steps: this.#steps,
      points: this.#points.list,
      watches: this.#process === undefined ? 0 : this.#proxy.watchesOf(this.#process),
      collections: [...this.#points.collections],
      violations: [...this.#violations, ...this.#users.violations()],
      applied: this.#faults.applied,
      requests: this.#proxy.requests,
      entries: this.#entries,
      output: [
        ...(this.#stubs?.unanswered ?? []).map((request) => `no answer is recorded for ${request}`),
        ...this.#process?.lastOutput(maxOutputLines) ?? this.#lastOutput,
      ],
      ms: this.#options.clock.monotonic() - this.#startedAt,
    };
  }

  async #listen(): Promise<void> {
    const { certificates, clientCa, onError, program, folder } = this.#options;
    await makeDirectory(folder);
    const send = (process: ForeignProcess) => (request: Request, key: string | undefined) =>
      this.#proxy.send(process, request, key);
    const serviceToken = crypto.randomUUID();
    this.#server = await startFrontServer({
      ...{ certificates, clientCa, onError },
      senderOf: (token) => {
        if (token === serviceToken) return this.#control.transportOf("user");
        return this.#process?.token === token ? send(this.#process) : undefined;
      },
      senderOfCertificate: () => this.#process && send(this.#process),
      isCustom: (collection) => this.#isCustom(collection),
      direct: this.#control.transportOf("program"),
    });
    this.#ports = await freePorts(portsOf(program));
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

  #isCustom(collection: string): boolean {
    const { storage } = this.#control.api.server;
    return storage.get("customresourcedefinitions.apiextensions.k8s.io", "", collection) !== undefined;
  }

  /** Starts a process of the program. */
  #start(): void {
    const { program, podName, folder, onError } = this.#options;
    this.#isStarting = true;
    const id = ++this.#processes;
    const token = crypto.randomUUID();
    const port = this.#server?.port ?? 0;
    const place = { folder, token, podName, port, freePorts: this.#ports, stubs: this.#stubs };
    launchOf(program, place).then(({ argv, env }) => {
      const { workingDirectory } = program;
      const process = new ForeignProcess({
        ...{ id, token, argv, env, workingDirectory },
        onExit: (exited, end) => this.#onExit(exited, end),
      });
      this.#process = process;
      this.#isStarting = false;
      this.#recorder.starts(id, []);
      process.start();
    }).catch(onError);
  }

  #crash(process: ForeignProcess, downMs: number): void {
    this.#recorder.ends("fault", "the process is killed", { process: process.id });
    void this.#replace(process, downMs);
  }

  /** Kills a process, and starts the next one when it is gone. */
  async #replace(process: ForeignProcess | undefined, downMs: number): Promise<void> {
    const { clock, signal } = this.#options;
    this.#isStarting = true;
    process?.kill();
    if (process !== undefined) this.#proxy.disconnect(process);
    this.#lastOutput = process?.lastOutput(maxOutputLines) ?? [];
    this.#process = undefined;
    try {
      await process?.gone();
      // The next one does not wait for the end of locks.
      await freeLocks(this.#control);
      await this.#stubs?.operatorEnded();
      await clock.sleep(downMs, signal);
      this.#start();
    } catch (error) {
      if (!signal.aborted) this.#options.onError(error);
    }
  }

  async #restart(): Promise<void> {
    const process = this.#process;
    if (process !== undefined) this.#recorder.ends("user", "the process is restarted", { process: process.id });
    await this.#replace(process, 0);
  }

  #onExit(process: ForeignProcess, end: ProgramEnd): void {
    this.#proxy.disconnect(process);
    const text = end.kind === "exited"
      ? `exits with code ${end.code}`
      : end.kind === "killed"
      ? `ends by ${end.by}`
      : `cannot start: ${end.message}`;
    this.#recorder.ends("operator", text, { process: process.id });
    this.#exits++;
    this.#violations.push({ invariant: "process-exit", message: `the program ${text}` });
    this.#lastOutput = process.lastOutput(maxOutputLines);
    this.#process = undefined;
    if (this.#exits < maxExits) void this.#replace(undefined, restartMs);
  }

  /**
   * True when the rest of the run is known: a process that has started after all faults, in the state that is expected, has
   * nothing of them in its memory.
   */
  #isDecided(): boolean {
    const { plan, expected } = this.#options;
    const last = this.#steps.at(-1);
    const isRestarted = plan.faults.length > 0 && plan.faults.every(({ kind }) => kind === "crash" || kind === "stale");
    if (!isRestarted || this.#faults.applied < plan.faults.length || last === undefined) return false;
    return expected !== undefined && last.isSettled && this.#isExpected(last.summary.fields);
  }

  /** A run from a snapshot whose fault is a stale start there begins with it. @returns true if there was such a fault */
  async #startStale(): Promise<boolean> {
    const [fault] = this.#step === 0 ? [] : this.#faults.afterStep(this.#step);
    if (fault === undefined) return false;
    await this.#startOn(fault, () => this.#start());
    return true;
  }

  /** Restarts the program on a server whose lists and watches show an older state. @returns true if the run must settle */
  async #restartStale(step: number): Promise<boolean> {
    const faults = this.#faults.afterStep(step);
    for (const fault of faults) await this.#startOn(fault, () => this.#restart());
    return faults.some(({ early }) => early !== true);
  }

  async #startOn(fault: FaultOf<"stale">, start: () => void | Promise<void>): Promise<void> {
    const { storage } = this.#control.api.server;
    const revision = revisionOf(fault, { storage, firstRevision: this.#options.firstRevision });
    const details = { resourceVersion: String(revision), detail: fault.only ?? "" };
    this.#recorder.note("fault", "restart on a stale server", details);
    await start();
    const process = await this.#started();
    if (process === undefined) return;
    process.staleView = { revision, thawsAt: Infinity, only: fault.only };
    void this.#thaw(process, fault);
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

  /** The process that starts. */
  async #started(): Promise<ForeignProcess | undefined> {
    const { clock, signal } = this.#options;
    while (this.#isStarting) await clock.sleep(1, signal);
    return this.#process;
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
      if (this.#exits >= maxExits) break;
      if (now - startedAt > pace.settleMs) {
        isSettled = false;
        break;
      }
      await clock.sleep(pollMs, waiting.signal);
    }
    const tookMs = clock.monotonic() - startedAt;
    const storage = keepsSnapshots === true ? this.#control.api.server.storage.copy() : undefined;
    const state = this.#state.outcome([...this.#outcomes]);
    const { revision } = this.#control;
    const end = {
      ...{ state, summary: clusterSummary(state, learned) },
      ...{ isSettled, maxGapMs, tookMs, revision, storage },
    };
    this.#steps[replacesLast ? this.#steps.length - 1 : this.#steps.length] = end;
  }

  /** True while the program starts, or something is delayed. A watch that the program has given up is not waited for. */
  #isBusy(sinceStartMs: number, quietMs: number): boolean {
    const process = this.#process;
    const { watches = 1, pace } = this.#options;
    if (this.#isStarting) return true;
    if (process === undefined) return this.#exits < maxExits;
    const { staleView } = process;
    if (staleView !== undefined && staleView.thawsAt > this.#options.clock.monotonic()) return true;
    if (this.#users.isBusy()) return false;
    if (!process.hasWatched) {
      const open = this.#proxy.watchesOf(process);
      if (open === 0 && sinceStartMs < pace.startMs) return true;
      process.watchesSince ??= this.#options.clock.monotonic();
      const watchesMs = this.#options.clock.monotonic() - process.watchesSince;
      // A program may open some of its watches only when it needs them.
      if (open < watches && watchesMs < maxOpeningMs) return true;
      process.hasWatched = true;
    }
    return this.#proxy.isBusy() && quietMs < pace.patienceMs;
  }

  /** In the state that is expected, a step is over soon; after the last one, a late change would be missed. */
  #neededQuietMs(fields: ReadonlyMap<string, string>): number {
    const { pace, workload } = this.#options;
    if (!this.#isExpected(fields)) return pace.patienceMs;
    return this.#step < workload.steps.length ? Math.min(pace.quietMs, betweenStepsMs) : pace.quietMs;
  }

  #isExpected(fields: ReadonlyMap<string, string>): boolean {
    const { expected, masked = new Set() } = this.#options;
    const wanted = expected?.[this.#step];
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

  #recorderOf(): Recorder {
    const { clock } = this.#options;
    return {
      keepsStates: false,
      record: (entry: NewEntry) => {
        const id = this.#entries.length + 1;
        this.#entries.push({ ...entry, id, at: clock.monotonic() - this.#startedAt });
        return id;
      },
    };
  }
}

/** Ports that are free now. */
async function freePorts(count: number): Promise<readonly number[]> {
  const ports: number[] = [];
  for (let index = 0; index < count; index++) {
    await using listener = await listenTcp({ hostname: "127.0.0.1", port: 0 }, (wire) => wire.end());
    ports.push(listener.port);
  }
  return ports;
}
