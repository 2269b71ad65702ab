/**
 * Gate: everything between the operator's processes and the server. Requests, answers and watch events wait here, and are let
 * through one by one when nothing else runs; so the order in which things happen is the simulation's choice alone, the
 * same for the same seed on every runtime, and this is where faults happen.
 */
import { sendGuardOf, type Transport } from "../client/mod.ts";
import { type RequestInfo, requestInfo } from "../manager/mod.ts";
import type { RenewalFault, WriteFault } from "./_fault_index.ts";
import { type Answer, answered, errorAnswer, reset } from "./_answers.ts";
import { deliver } from "./_deliver.ts";
import { Compacted } from "./_compacted.ts";
import type { GateOptions, PointCounts } from "./_gate_parts.ts";
import { askLagging } from "./_lagging_server.ts";
import type { OperatorProcess } from "./_operator_process.ts";
import { aimedPath, isCounted, isFullState, isRenewal, nameOf, requestText, writtenPath } from "./_requests.ts";
import { Standstill, type Waiting } from "./_standstill.ts";
import { WatchPipe } from "./_watch_pipe.ts";
import type { Fault } from "./fault_plan.ts";
import type { TraceActor, TraceEntry } from "./trace.ts";

interface OpenWatch {
  /** Decides who goes first. */
  readonly order: string;
  readonly process: OperatorProcess;
  readonly pipe: WatchPipe;
}

/** Between the operator and the server. */
export class Gate {
  readonly counts: PointCounts = { writes: 0, renewals: 0, reads: 0, events: 0, lists: new Map(), relists: 0 };
  readonly #options: GateOptions;
  #waiting: Waiting[] = [];
  #watches: OpenWatch[] = [];
  /** Resources that each living process once watched. */
  readonly #watched = new Map<OperatorProcess, Set<string>>();
  readonly #compacted = new Compacted();
  readonly #standstill = new Standstill();
  /** They go on, each with what it was about to do. */
  readonly #wakings: (() => Promise<void>)[] = [];
  #renewals = 0;
  #done = 0;
  #held = 0;
  #lastWriteAt = 0;
  #lastTroubleAt = -Infinity;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** Virtual time of the last write that counts. */
  get lastWriteAt(): number {
    return this.#lastWriteAt;
  }

  /** Virtual time at which a request last met a fault. */
  get lastTroubleAt(): number {
    return this.#lastTroubleAt;
  }

  /** Writes that count and did something. */
  get done(): number {
    return this.#done;
  }

  /** A transport for one process. */
  transport(process: OperatorProcess): Transport {
    return (request) => this.#enter(process, request);
  }

  /** True while something is held back, or a process does not hear what it wants to hear. */
  isBusy(): boolean {
    const now = this.#now();
    if (this.#held > 0 || this.#waiting.length > 0) return true;
    if (this.#watches.some(({ pipe }) => pipe.isHolding(now))) return true;
    for (const [process, resources] of this.#watched) {
      const open = this.#watches.filter((watch) => watch.process === process && !watch.pipe.isOver);
      if (!process.isDead && open.length < resources.size) return true;
    }
    return false;
  }

  /** Lets one thing through. @returns false when there was nothing */
  async turn(): Promise<boolean> {
    const now = this.#now();
    this.#watches = this.#watches.filter(({ pipe }) => !pipe.isOver);
    const waking = this.#wakings.shift();
    if (waking !== undefined) {
      await waking();
      return true;
    }
    const doomed = this.#waiting.find(({ process }) => process.isDoomed && !process.isDead);
    if (doomed !== undefined) return this.#crash(doomed.process, 1_000);
    const requests = this.#waiting.sort(byOrder);
    const reads = requests.filter(({ isWrite }) => !isWrite);
    if (reads.length > 0) {
      this.#waiting = requests.filter(({ isWrite }) => isWrite);
      for (const read of reads) await this.#read(read);
      return true;
    }
    const ready = this.#watches.filter(({ pipe }) => pipe.isReady(now));
    const choices = requests.length + ready.length;
    if (choices === 0) return false;
    const chosen = choices === 1 ? 0 : Math.floor(this.#options.random.next() * choices);
    const request = requests[chosen];
    if (request !== undefined) {
      this.#waiting = requests.filter((other) => other !== request);
      await this.#write(request);
      return true;
    }
    const watch = ready[chosen - requests.length];
    if (watch !== undefined) deliver(watch, this.#delivering);
    return true;
  }

  /** Ends what is under way for a process that has ended. */
  forget(process: OperatorProcess): void {
    for (const { process: owner, reject } of this.#waiting) {
      if (owner === process) reject(reset("the process has ended"));
    }
    this.#waiting = this.#waiting.filter((other) => other.process !== process);
    this.#standstill.forget(process);
    this.#cut(process);
    this.#watched.delete(process);
  }

  #enter(process: OperatorProcess, request: Request): Promise<Response> {
    if (process.isDead) return Promise.reject(reset("the process has ended"));
    if (request.signal.aborted) return Promise.reject(request.signal.reason);
    const info = requestInfo(request);
    const isWrite = request.method !== "GET";
    return new Promise((resolve, reject) => {
      const order = `${process.id} ${isWrite ? 1 : 0} ${request.url} ${request.method}`;
      const waiting: Waiting = { process, request, info, order, isWrite, resolve, reject };
      (this.#standstill.of(process) ?? this.#waiting).push(waiting);
      request.signal.addEventListener("abort", () => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        reject(request.signal.reason);
      }, { once: true });
    });
  }

  async #read(waiting: Waiting): Promise<void> {
    const { process, request, info } = waiting;
    const { trace, faults } = this.#options;
    const what = requestText(waiting);
    if (this.#isUnreachable(process)) return this.#refuse(waiting, what);
    const number = ++this.counts.reads;
    const [fault] = faults.atRead(number);
    if (fault !== undefined) {
      this.#lastTroubleAt = this.#now();
      this.counts.relists++;
      trace.add("fault", what, { process: process.id, detail: `read ${number} gets ${fault.code}` });
      return waiting.resolve(errorAnswer(fault.code, fault.retryAfterSeconds));
    }
    const isStream = info?.verb === "watch";
    if (isStream && this.#compacted.refuses(nameOf(info), request)) {
      this.counts.relists++;
      trace.add("fault", what, { process: process.id, detail: `read ${number} gets 410: compacted` });
      return waiting.resolve(errorAnswer(410));
    }
    if (isFullState(request, info)) this.#countList(info);
    const isLagging = this.#isLagging(process, info);
    const response = isLagging
      ? await askLagging(this.#options.server, request, { revision: process.lag?.revision ?? 0, isStream })
      : await this.#options.server(request);
    trace.add("operator", what, { process: process.id, detail: `read ${number}: ${response.status}` });
    if (!isStream || response.body === null || !response.ok) return waiting.resolve(response);
    waiting.resolve(this.#piped(process, info, request, response));
  }

  #isLagging({ lag }: OperatorProcess, info: RequestInfo | undefined): boolean {
    return lag !== undefined && this.#now() < lag.thawsAt && (lag.only === undefined || lag.only === nameOf(info));
  }

  #piped(process: OperatorProcess, info: RequestInfo | undefined, request: Request, response: Response): Response {
    const resource = nameOf(info);
    const body = response.body;
    if (body === null) return response;
    const pipe = new WatchPipe(resource, body, request.url.includes("sendInitialEvents=true"));
    if (this.#isLagging(process, info)) pipe.lagsUntil = process.lag?.thawsAt ?? 0;
    request.signal.addEventListener("abort", () => pipe.end({ kind: "closed" }), { once: true });
    this.#watches.push({ order: `${process.id} ${request.url}`, process, pipe });
    this.#watches.sort(byOrder);
    const watched = this.#watched.get(process) ?? new Set();
    this.#watched.set(process, watched.add(resource));
    return new Response(pipe.body, { status: response.status, headers: response.headers });
  }

  async #write(waiting: Waiting): Promise<void> {
    const { process, info } = waiting;
    const { trace, faults } = this.#options;
    const what = requestText(waiting);
    if (this.#isUnreachable(process)) return this.#refuse(waiting, what);
    if (!isCounted(info)) return await this.#uncounted(waiting);
    const number = ++this.counts.writes;
    this.counts.renewals = this.#renewals;
    const due = faults.atWrite(number);
    for (const fault of due) {
      this.#lastTroubleAt = this.#now();
      trace.add("fault", what, { process: process.id, detail: `${fault.kind} at write ${number}` });
    }
    if (await this.#before(waiting, due)) return;
    const pause = due.find((fault) => fault.kind === "pause");
    if (pause === undefined) await this.#send(waiting, number, due);
    else this.#pause(waiting, pause, () => this.#send(waiting, number, due));
  }

  /** The write reaches the server, unless the process thought better of it. */
  async #send(waiting: Waiting, number: number, due: readonly WriteFault[]): Promise<void> {
    const { process, request } = waiting;
    const { trace, onWrite } = this.#options;
    const what = requestText(waiting);
    try {
      sendGuardOf(request)?.();
    } catch (error) {
      return waiting.reject(error);
    }
    onWrite(process, request);
    const wanted = due.some(({ kind }) => kind === "actor") ? await request.clone().text() : "";
    const answer = await answered(await this.#options.server(request));
    this.#lastWriteAt = this.#now();
    const { status, resourceVersion } = answer;
    if (status < 300) this.#done++;
    trace.add("operator", what, { process: process.id, detail: `write ${number}: ${status}`, resourceVersion });
    await this.#after(waiting, { answer, wanted }, due);
  }

  /** Faults that keep the write from the server. @returns true when one did */
  async #before(waiting: Waiting, faults: readonly WriteFault[]): Promise<boolean> {
    const { process, request } = waiting;
    for (const fault of faults) {
      if (fault.kind === "lease") await this.#options.seize();
      if (fault.kind === "actor" && fault.act === "replace") {
        const body = await request.clone().text();
        await this.#options.act(fault.act, aimedPath(request, body), body);
      }
      if (fault.kind === "crash" && fault.moment === "before") return this.#crash(process, fault.downMs);
      if (fault.kind === "partition") {
        process.unreachableUntil = this.#now() + fault.forMs;
        this.#cut(process);
        waiting.reject(reset("the network is down"));
        return true;
      }
      if (fault.kind === "reset" && !fault.committed) waiting.reject(reset("connection reset by peer"));
      else if (fault.kind === "answer" && fault.committed !== true) {
        waiting.resolve(errorAnswer(fault.code, fault.retryAfterSeconds));
      } else continue;
      return true;
    }
    return false;
  }

  /** Hands the answer over, unless a fault does something else. */
  async #after(
    waiting: Waiting,
    { answer, wanted }: { readonly answer: Answer; readonly wanted: string },
    faults: readonly WriteFault[],
  ): Promise<void> {
    const { process, request, resolve, reject } = waiting;
    for (const fault of faults) {
      if (fault.kind === "crash" && fault.moment === "committed") return void this.#crash(process, fault.downMs);
      if (fault.kind === "crash" && fault.moment === "answered") process.isDoomed = true;
      if (fault.kind === "reset") return reject(reset("connection reset by peer"));
      if (fault.kind === "answer") return resolve(errorAnswer(fault.code, fault.retryAfterSeconds));
      if (fault.kind === "slow") return this.#hold(() => resolve(answer.response()), fault.forMs);
      const path = writtenPath(request, answer);
      if (fault.kind === "actor" && fault.act !== "replace" && path !== undefined) {
        await this.#options.act(fault.act, path, wanted);
      }
    }
    resolve(answer.response());
  }

  /** What does not count: Leases and Events. */
  async #uncounted(waiting: Waiting): Promise<void> {
    if (waiting.isLate === true || !isRenewal(waiting.info)) return await this.#pass(waiting);
    const number = ++this.#renewals;
    const [fault] = this.#options.faults.atRenewal(number);
    if (fault === undefined) return await this.#pass(waiting);
    const detail = `${fault.kind} at renewal ${number}`;
    this.#options.trace.add("fault", requestText(waiting), { process: waiting.process.id, detail });
    await this.#disturb(waiting, fault);
  }

  /** A write of the Lease that is late arrives all the same, whoever still waits for it. */
  async #disturb(waiting: Waiting, fault: RenewalFault): Promise<void> {
    if (fault.kind === "pause") return this.#pause(waiting, fault, () => this.#pass(waiting));
    const { resolve } = waiting;
    if (fault.committed) {
      return await this.#pass({ ...waiting, resolve: (answer) => this.#hold(() => resolve(answer), fault.forMs) });
    }
    const request = new Request(waiting.request, { signal: new AbortController().signal });
    this.#hold(() => this.#waiting.push({ ...waiting, request, isLate: true }), fault.forMs);
  }

  /** The process stands still before it sends; when it goes on, it does that first, and then all that is overdue. */
  #pause(waiting: Waiting, { forMs, wallByMs }: Extract<Fault, { kind: "pause" }>, next: () => Promise<void>): void {
    const { process, request } = waiting;
    this.#standstill.begin(process, this.#waiting.filter((other) => other.process === process), wallByMs);
    this.#waiting = this.#waiting.filter((other) => other.process !== process);
    for (const watch of this.#watches) {
      if (watch.process === process) watch.pipe.stalledUntil = Math.max(watch.pipe.stalledUntil, this.#now() + forMs);
    }
    const goOn = () => request.signal.aborted ? Promise.resolve() : next();
    this.#hold(() => void this.#wakings.push(() => this.#wake(process, goOn)), forMs);
  }

  async #wake(process: OperatorProcess, next: () => Promise<void>): Promise<void> {
    if (process.isDead) return;
    this.#options.trace.add("operator", "goes on", { process: process.id });
    this.#waiting.push(...await this.#standstill.end(process, next));
  }

  async #pass({ process, request, resolve, reject }: Waiting): Promise<void> {
    try {
      sendGuardOf(request)?.();
    } catch (error) {
      return reject(error);
    }
    const answer = await answered(await this.#options.server(request));
    if (!process.isDead) resolve(answer.response());
  }

  readonly #delivering = {
    now: () => this.#now(),
    nextEvent: () => ++this.counts.events,
    uncount: () => void this.counts.events--,
    relist: () => void this.counts.relists++,
    compact: (resource: string, version: string | undefined) => this.#compacted.before(resource, version),
    stall: (pipe: WatchPipe, forMs: number) => {
      pipe.stalledUntil = this.#now() + forMs;
      this.#hold(() => {}, forMs);
    },
    faultsAt: (event: number) => this.#options.faults.atEvent(event),
    note: (actor: TraceActor, what: string, entry: Partial<TraceEntry>) => this.#options.trace.add(actor, what, entry),
  };

  #countList(info: RequestInfo | undefined): void {
    const resource = nameOf(info);
    this.counts.lists.set(resource, (this.counts.lists.get(resource) ?? 0) + 1);
  }

  #isUnreachable(process: OperatorProcess): boolean {
    return this.#now() < process.unreachableUntil;
  }

  #refuse({ process, reject }: Waiting, what: string): void {
    this.#lastTroubleAt = this.#now();
    this.#options.trace.add("operator", what, { process: process.id, detail: "unreachable" });
    reject(reset("the network is down"));
  }

  #crash(process: OperatorProcess, downMs: number): true {
    this.#options.crash(process, downMs);
    return true;
  }

  /** Breaks the watches of a process. */
  #cut(process: OperatorProcess): void {
    for (const watch of this.#watches) {
      if (watch.process === process) watch.pipe.end({ kind: "broken", error: reset("connection reset by peer") });
    }
  }

  #hold(release: () => void, forMs: number): void {
    this.#held++;
    this.#options.clock.timer(forMs, () => {
      this.#held--;
      release();
    });
  }

  #now(): number {
    return this.#options.clock.monotonic();
  }
}

function byOrder(one: { readonly order: string }, other: { readonly order: string }): number {
  return one.order === other.order ? 0 : one.order < other.order ? -1 : 1;
}
