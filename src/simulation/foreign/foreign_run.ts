/**
 * ForeignRun: one run of a workload with the program under a fault plan, on real time: a control plane, the fault layer in
 * front of it, and one process of the program after the other.
 *
 * Guarantees: when it is disposed, no process of the program lives, and all ports are free.
 */
import type { KubeObject } from "../../api/mod.ts";
import type { ObjectStorage } from "../../apiserver/mod.ts";
import { type Clock, type Random, scope } from "../../async/mod.ts";
import type { Entry, NewEntry, Recorder } from "../../observe/mod.ts";
import { listenTcp, makeDirectory, type ProgramEnd, removePath, type Server } from "../../runtime/mod.ts";
import type { IssuedCertificates } from "../../webhook/mod.ts";
import { changesSince, FaultIndex, ForeignObjects, NetworkProxy, type PointKind, RunRecorder } from "../engine.ts";
import { type Fault, type FaultOf, type FaultPlan, type NamedPoint, type PointName } from "../fault_plan.ts";
import type { UserAction } from "../fault_plan.ts";
import type { Violation } from "../violation.ts";
import { clusterFields, clusterLifecycles, StableNames, uncomparedCollections } from "./cluster_summary.ts";
import { ControlPlane, transientCollections } from "./control_plane.ts";
import { ForeignProcess } from "./foreign_process.ts";
import { type ForeignWorkload, stepText } from "./foreign_workload.ts";
import { startFrontServer } from "./front_server.ts";
import { freeLocks } from "./leader_locks.ts";
import { StepRunner } from "./perform_step.ts";
import { launchOf, portsOf, type ProgramOptions, webhookUrlOf } from "./program.ts";
import { type ServiceStub, ServiceStubs } from "./service_stubs.ts";
import { revisionOf } from "./stale_revision.ts";

/** How long a run waits, in milliseconds. */
export interface RunPace {
  /** Nothing has changed for this time: the cluster is at rest, if it is in the state that is expected. */
  readonly quietMs: number;
  /** The same in another state, or when no state is expected. */
  readonly patienceMs: number;
  /** From the start of a process until it watches. */
  readonly startMs: number;
  /** A step that takes longer counts as unsettled. */
  readonly settleMs: number;
}

/** Options of a {@link ForeignRun}. */
export interface ForeignRunOptions {
  readonly program: ProgramOptions;
  readonly certificates: IssuedCertificates;
  /** The authority of the client certificate of the program. */
  readonly clientCa: string;
  /** The objects at the start. */
  readonly storage: ObjectStorage;
  /** The revision before the first step: what is older is no result of a run. */
  readonly firstRevision: number;
  readonly podName: string;
  readonly signingKey?: string;
  /** The folder of the run; it is removed at the end. */
  readonly folder: string;
  readonly workload: ForeignWorkload;
  /** The steps before this one have been performed: the storage has their result. @default 1 */
  readonly firstStep?: number;
  readonly plan: FaultPlan;
  /** The applications that the program talks to. @default none */
  readonly services?: readonly ServiceStub[];
  readonly pace: RunPace;
  /** The compared state after each step without faults; step 0 is the start. @default nothing is expected */
  readonly expected?: readonly ReadonlyMap<string, string>[];
  /** Fields that are not compared. @default none */
  readonly masked?: ReadonlySet<string>;
  /** Watches that the program opens. @default one is enough */
  readonly watches?: number;
  /** Keeps a copy of the storage after each step. @default false */
  readonly keepsSnapshots?: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
}

/** The state after a step. */
export interface StepEnd {
  /** The compared fields. */
  readonly fields: ReadonlyMap<string, string>;
  readonly outcome: string;
  readonly isSettled: boolean;
  /** The longest time without a change before the last one, in milliseconds. */
  readonly maxGapMs: number;
  readonly tookMs: number;
  readonly revision: number;
  readonly storage?: ObjectStorage;
}

/** A point that the run has passed. */
export interface PassedPoint extends NamedPoint {
  readonly kind: PointKind;
  readonly step: number;
  readonly name: string;
}

/** The result of a run. */
export interface ForeignRunResult {
  /** Step 0 is the start of the program. */
  readonly steps: readonly StepEnd[];
  readonly lifecycles: ReadonlyMap<string, string>;
  readonly points: readonly PassedPoint[];
  /** The open watches of the program at the end, and their collections. */
  readonly watches: number;
  readonly collections: readonly string[];
  readonly violations: readonly Violation[];
  /** The faults of the plan that took place. */
  readonly applied: number;
  readonly requests: number;
  readonly entries: readonly Entry[];
  /** The last lines that the program has printed. */
  readonly output: readonly string[];
  readonly ms: number;
}

const pollMs = 20;
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
  readonly #foreign: ForeignObjects;
  readonly #entries: Entry[] = [];
  readonly #points: PassedPoint[] = [];
  readonly #occurrences = new Map<string, number>();
  readonly #violations: Violation[] = [];
  readonly #collections = new Set<string>();
  readonly #names = new StableNames();
  readonly #steps: StepEnd[] = [];
  readonly #startedAt: number;
  readonly #firstRevision: number;
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
  #learnedRevision = 0;
  #writes = 0;
  /** A process may end at this time for a reason that is a fault. */
  #excusedUntil = -Infinity;

  constructor(options: ForeignRunOptions) {
    const { clock, random, plan, program, storage, onError, signingKey } = options;
    this.#options = options;
    this.#startedAt = clock.monotonic();
    this.#control = new ControlPlane({
      ...{ clock, random, storage, onError, signingKey },
      identity: program.identity,
      ca: options.certificates.ca,
      callWebhook: program.webhooks?.callerOf(() => webhookUrlOf(program, this.#ports)),
      execAnswers: (call) => this.#stubs?.execAnswers(call),
    });
    this.#firstRevision = options.firstRevision;
    this.#recorder = new RunRecorder(this.#recorderOf(), () => []);
    this.#faults = new FaultIndex(plan, (kind, point) => this.#onPoint(kind, point));
    const server = {
      at: (path: string) => this.#control.at(path),
      trySend: this.#control.trySend.bind(this.#control),
      revision: 0,
    };
    this.#foreign = new ForeignObjects({ server, clock, recorder: this.#recorder, foreignMs });
    this.#proxy = new NetworkProxy<ForeignProcess>({
      server: this.#control.transportOf("program"),
      ...{ clock, random, faults: this.#faults, recorder: this.#recorder },
      revision: () => this.#control.revision,
      onReady: () => this.#wake(),
      crash: (process, downMs) => this.#crash(process, downMs),
      actAsUser: (action, path, body) => this.#actAsUser(action, path, body),
      deleteLease: () => this.#freeLocks(),
      onWrite: (_, request) => {
        this.#writes++;
        if (request.method === "DELETE") this.#foreign.noteDelete(new URL(request.url).pathname);
      },
    });
  }

  /** Runs the workload to its end. */
  async run(): Promise<ForeignRunResult> {
    const { workload, firstStep = 1, signal } = this.#options;
    await this.#control.ready();
    await this.#listen();
    this.#step = firstStep - 1;
    this.#start();
    await this.#settle("done");
    const runner = new StepRunner({
      client: this.#control.user,
      clock: this.#options.clock,
      namespace: workload.namespace,
      restartOperator: () => this.#restart(),
    });
    for (const [index, step] of workload.steps.entries()) {
      if (index + 1 < firstStep) continue;
      this.#step = index + 1;
      this.#occurrences.clear();
      this.#faults.startStep(this.#step);
      this.#recorder.note("user", stepText(step));
      const outcome = await runner.perform(step, signal);
      if (step.atOnce !== true) await this.#settle(outcome.kind);
      if (await this.#restartStale(this.#step)) await this.#settle(outcome.kind, true);
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
    const { storage } = this.#control.api.server;
    this.#learnNames();
    const changes = changesSince(storage, this.#firstRevision, uncomparedCollections);
    return {
      steps: this.#steps,
      lifecycles: clusterLifecycles(changes, this.#names),
      points: this.#points,
      watches: this.#process === undefined ? 0 : this.#proxy.watchesOf(this.#process),
      collections: [...this.#collections],
      violations: [...this.#violations, ...this.#foreign.violations],
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
    this.#server = await startFrontServer({
      ...{ certificates, clientCa, onError },
      senderOf: (token) => this.#process?.token === token ? send(this.#process) : undefined,
      senderOfCertificate: () => this.#process && send(this.#process),
      isCustom: (collection) => {
        const { storage } = this.#control.api.server;
        return storage.get("customresourcedefinitions.apiextensions.k8s.io", "", collection) !== undefined;
      },
      direct: this.#control.transportOf("program"),
    });
    this.#ports = await freePorts(portsOf(program));
    const { services = [], clock, signal } = this.#options;
    const { env, workingDirectory } = program;
    this.#stubs = await ServiceStubs.start(services, { env, workingDirectory, clock, signal, onError });
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
      await this.#freeLocks();
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
    const isExcused = this.#options.clock.monotonic() <= this.#excusedUntil;
    if (!isExcused) {
      this.#exits++;
      this.#violations.push({ invariant: "process-exit", message: `the program ${text}` });
    }
    this.#lastOutput = process.lastOutput(maxOutputLines);
    this.#process = undefined;
    if (this.#exits < maxExits) void this.#replace(undefined, restartMs);
  }

  /** Frees the locks that a killed process holds, so that the next one does not wait for their end. */
  async #freeLocks(): Promise<void> {
    this.#excusedUntil = this.#options.clock.monotonic() + 10_000;
    await freeLocks(this.#control);
  }

  async #actAsUser(action: UserAction, path: string, body: string): Promise<void> {
    if (action === "replace") return await this.#foreign.replace(path, body);
    if (action === "takeover") return await this.#foreign.takeOver(path);
    if (this.#foreign.has(path)) return;
    this.#recorder.note("user", `${action} ${path}`, { detail: "fault" });
    await this.#control.changeAsUser(action, path, body);
  }

  /** Restarts the program on a server whose lists and watches show an older state. @returns true if a fault was due */
  async #restartStale(step: number): Promise<boolean> {
    const faults = this.#faults.afterStep(step);
    for (const fault of faults) {
      const { storage } = this.#control.api.server;
      const revision = revisionOf(fault, { storage, firstRevision: this.#firstRevision });
      const details = { resourceVersion: String(revision), detail: fault.only ?? "" };
      this.#recorder.note("fault", "restart on a stale server", details);
      await this.#restart();
      const process = await this.#started();
      if (process === undefined) continue;
      process.staleView = { revision, thawsAt: Infinity, only: fault.only };
      void this.#thaw(process, fault);
    }
    return faults.length > 0;
  }

  /** The server catches up some time after the process has begun to watch. */
  async #thaw(process: ForeignProcess, { thawMs }: FaultOf<"stale">): Promise<void> {
    const { clock, signal, watches = 1, pace } = this.#options;
    const deadline = clock.monotonic() + pace.startMs;
    try {
      while (this.#proxy.watchesOf(process) < watches && clock.monotonic() < deadline && !process.hasEnded) {
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
    if (!this.#foreign.isBusy()) return;
    while (this.#foreign.isBusy()) {
      if (!await this.#foreign.undoNext()) await clock.sleep(pollMs, signal);
    }
    await this.#settle(this.#steps.at(-1)?.outcome ?? "done", true);
  }

  /** Waits until nothing changes any more. @param replacesLast it is the end of the same step once more */
  async #settle(outcome: string, replacesLast = false): Promise<void> {
    const { clock, pace, signal, keepsSnapshots } = this.#options;
    const startedAt = clock.monotonic();
    let [changedAt, seen, maxGapMs] = [startedAt, -1, 0];
    let fields: ReadonlyMap<string, string> = new Map();
    let isSettled = true;
    using waiting = scope(signal);
    while (true) {
      await this.#foreign.undoNext();
      const now = clock.monotonic();
      const revision = this.#control.revision;
      if (revision !== seen && this.#hasRelevantChange(seen)) {
        const next = this.#fields();
        if (seen >= 0 && !isEqual(fields, next)) {
          maxGapMs = Math.max(maxGapMs, now - changedAt);
          changedAt = now;
        }
        fields = next;
      }
      seen = revision;
      const isBusy = this.#isBusy(now - startedAt, now - changedAt);
      if (isBusy) changedAt = Math.max(changedAt, Math.min(now, changedAt + pollMs * 2));
      const neededMs = this.#isExpected(fields) ? pace.quietMs : pace.patienceMs;
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
    const end = { fields, outcome, isSettled, maxGapMs, tookMs, revision: this.#control.revision, storage };
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
    if (this.#foreign.isBusy()) return false;
    if (!process.hasWatched) {
      if (this.#proxy.watchesOf(process) < watches && sinceStartMs < pace.startMs) return true;
      process.hasWatched = true;
    }
    return this.#proxy.isBusy() && quietMs < pace.patienceMs;
  }

  #isExpected(fields: ReadonlyMap<string, string>): boolean {
    const { expected, masked = new Set() } = this.#options;
    const wanted = expected?.[this.#step];
    return wanted !== undefined && isEqual(fields, wanted, masked);
  }

  #hasRelevantChange(after: number): boolean {
    if (after < 0) return true;
    for (const { collection } of this.#control.api.server.storage.changesAfter(after)) {
      if (!transientCollections.has(collection)) return true;
    }
    return false;
  }

  #fields(): ReadonlyMap<string, string> {
    this.#learnNames();
    const objects = [...this.#control.objects()].filter(({ collection, object }) =>
      !uncomparedCollections.has(collection) && isNew(object, this.#firstRevision)
    );
    return clusterFields(objects, this.#names);
  }

  #learnNames(): void {
    const { storage } = this.#control.api.server;
    this.#names.learn(changesSince(storage, this.#learnedRevision, transientCollections));
    this.#learnedRevision = storage.revision;
  }

  #onPoint(kind: PointKind, { verb, resource, name }: PointName): void {
    if (kind === "read" && verb === "watch") this.#collections.add(resource);
    const key = `${kind} ${verb} ${resource} ${name}`;
    const occurrence = (this.#occurrences.get(key) ?? 0) + 1;
    this.#occurrences.set(key, occurrence);
    this.#points.push({ kind, verb, resource, name, occurrence, step: this.#step });
  }

  /** Lets pass what is ready, soon. */
  #wake(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    queueMicrotask(() => {
      this.#isPumping = false;
      for (let pass = this.#proxy.takeNext(); pass !== undefined; pass = this.#proxy.takeNext()) {
        Promise.resolve(pass()).catch(this.#options.onError);
      }
    });
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

/** True for an object that was written during the run. */
function isNew({ metadata }: KubeObject, revision: number): boolean {
  return Number(metadata.resourceVersion ?? 0) > revision;
}

/** Whether two states are equal. @param masked fields that are not compared */
export function isEqual(
  one: ReadonlyMap<string, string>,
  other: ReadonlyMap<string, string>,
  masked: ReadonlySet<string> = new Set(),
): boolean {
  for (const [key, value] of one) if (other.get(key) !== value && !masked.has(key)) return false;
  for (const key of other.keys()) if (!one.has(key) && !masked.has(key)) return false;
  return true;
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

/** The faults of a plan that happen at the end of a step, which a run that starts later cannot have. */
export function firstStepOf(fault: Fault): number {
  const point = "write" in fault
    ? fault.write
    : "event" in fault
    ? fault.event
    : "request" in fault
    ? fault.request
    : undefined;
  if (fault.kind === "stale") return fault.step;
  return typeof point === "object" ? point.step ?? 1 : 1;
}
