/**
 * NetworkProxy: everything between the processes of the operator and the server. Requests, responses and watch events wait here
 * and pass one by one, when nothing else runs. This is also where faults happen.
 *
 * Guarantees: the order of events depends on the seed alone, and is the same on every runtime.
 */
import { type Clock, onAbort, type Random } from "../async/mod.ts";
import { sendGuardOf, type Transport } from "../client/mod.ts";
import { type RequestInfo, requestInfo } from "../manager/mod.ts";
import {
  type BufferedResponse,
  bufferResponse,
  byOrder,
  collectionOf,
  connectionError,
  errorResponse,
  isCounted,
  isFullList,
  isRenewal,
  keyOfInfo,
  requestName,
  requestText,
  targetPath,
  writtenPath,
} from "./_messages.ts";
import {
  isUnreachable,
  PausedProcesses,
  type PendingRequest,
  pointOf,
  type ProxiedProcess,
} from "./_proxied_process.ts";
import { CompactedHistory, fetchStale } from "./_stale_reads.ts";
import { deliverEvents, type Delivery, WatchPipe } from "./_watch_pipe.ts";
import type { FaultIndex } from "./_fault_index.ts";
import { type FaultOf, faultText, type RenewalFault, type UserAction, type WriteFault } from "./fault_plan.ts";
import type { PointCounts } from "./fault_points.ts";
import type { Actor, NoteDetails, RunRecorder } from "./_run_recorder.ts";

/** Options of a {@link NetworkProxy}. */
export interface NetworkProxyOptions<Process extends ProxiedProcess> {
  readonly server: Transport;
  /** The number of changes on the server. */
  readonly revision: () => number;
  readonly clock: Clock;
  /** Chooses what passes first. */
  readonly random: Random;
  readonly faults: FaultIndex;
  /** @default nothing is recorded */
  readonly recorder?: RunRecorder;
  /** Called when something may have become ready to pass. @default the owner asks again and again */
  readonly onReady?: () => void;
  /** Kills a process, which starts again after `downMs`. */
  crash(process: Process, downMs: number): void;
  /** Another replica joins or leaves for some time. @default nothing happens */
  scale?(process: Process, fault: FaultOf<"scale">): void;
  /** A user changes the object of a write. @param body of the write */
  actAsUser(action: UserAction, path: string, body: string): Promise<void>;
  /** A user deletes the Lease. @param process the one that is about to write */
  deleteLease(process: Process): Promise<void>;
  /** True for a write of a lock that is no Lease: like renewals, it is no point for faults. @default there are none */
  readonly isLock?: (request: Request) => boolean;
  /** Called before each write reaches the server. */
  onWrite(process: Process, request: Request): void;
}

interface OpenWatch<Process extends ProxiedProcess> {
  /** Sort key of the watches that wait at the same time. */
  readonly order: string;
  readonly process: Process;
  readonly pipe: WatchPipe;
}

/** What a user does right before a write. All else comes right after it. */
const actsBefore: ReadonlySet<UserAction> = new Set(["replace", "annotate"]);

/** Between the operator and the server. */
export class NetworkProxy<Process extends ProxiedProcess> {
  readonly counts: PointCounts = { writes: 0, renewals: 0, reads: 0, events: 0, lists: new Map(), relists: 0 };
  readonly #options: NetworkProxyOptions<Process>;
  readonly #delivery: Delivery;
  #pending: PendingRequest<Process>[] = [];
  #watches: OpenWatch<Process>[] = [];
  /** The collections that each running process has watched. */
  readonly #watched = new Map<Process, Set<string>>();
  readonly #history = new CompactedHistory();
  readonly #paused = new PausedProcesses<Process>();
  /** The processes whose pause is over. */
  readonly #resuming: (() => Promise<void>)[] = [];
  #requests = 0;
  #renewals = 0;
  #successfulWrites = 0;
  #delayed = 0;
  #lastWriteAt = 0;
  #lastFaultAt = -Infinity;

  constructor(options: NetworkProxyOptions<Process>) {
    this.#options = options;
    this.#delivery = this.#newDelivery(options);
  }

  /** Virtual time of the last counted write that the server accepted. */
  get lastWriteAt(): number {
    return this.#lastWriteAt;
  }

  /** Virtual time of the last fault of a request. */
  get lastFaultAt(): number {
    return this.#lastFaultAt;
  }

  /** All requests of the operator, those that a fault kept from the server included. */
  get requests(): number {
    return this.#requests;
  }

  /** Counted writes that the server accepted. */
  get successfulWrites(): number {
    return this.#successfulWrites;
  }

  /** A transport for one process. */
  transport(process: Process): Transport {
    return (request) => this.send(process, request);
  }

  /** True while anything is delayed, or a process lacks one of its watches. */
  isBusy(): boolean {
    const now = this.#now();
    if (this.#delayed > 0 || this.#pending.length > 0) return true;
    if (this.#watches.some(({ pipe }) => pipe.isHolding(now))) return true;
    for (const [process, collections] of this.#watched) {
      const open = this.#watches.filter((watch) => watch.process === process && !watch.pipe.isOver);
      if (process.hasEnded || open.length >= collections.size) continue;
      const needed = [...collections].filter((collection) => process.needsWatch?.(collection) ?? true);
      if (open.length < needed.length) return true;
    }
    return false;
  }

  /** Lets one thing pass. @returns false when nothing waits */
  passNext(): Promise<true> | false {
    const next = this.takeNext();
    return next !== undefined && pass(next);
  }

  /** Takes what passes next, if something waits. @returns lets it pass; others may be taken before it has passed */
  takeNext(): (() => Promise<void> | void) | undefined {
    const now = this.#now();
    if (this.#watches.some(({ pipe }) => pipe.isOver)) this.#watches = this.#watches.filter(({ pipe }) => !pipe.isOver);
    const resume = this.#resuming.shift();
    if (resume !== undefined) return resume;
    const crashing = this.#pending.find(({ process }) => process.crashesNext && !process.hasEnded);
    if (crashing !== undefined) return () => void this.#crash(crashing.process, 1_000);
    const requests = this.#pending.length > 1 ? this.#pending.sort(byOrder) : this.#pending;
    if (requests.some(({ isWrite }) => !isWrite)) {
      const reads = requests.filter(({ isWrite }) => !isWrite);
      this.#pending = requests.filter(({ isWrite }) => isWrite);
      return () => this.#readAll(reads);
    }
    const ready = this.#watches.filter(({ pipe }) => pipe.isReady(now));
    const choices = requests.length + ready.length;
    if (choices === 0) return undefined;
    const chosen = choices === 1 ? 0 : Math.floor(this.#options.random.next() * choices);
    const request = requests[chosen];
    if (request !== undefined) {
      this.#pending = requests.filter((other) => other !== request);
      return () => this.#write(request);
    }
    const watch = ready[chosen - requests.length];
    return watch && (() => deliverEvents(watch, this.#delivery));
  }

  /** The number of open watches of a process. */
  watchesOf(process: Process): number {
    return this.#watches.filter((watch) => watch.process === process && !watch.pipe.isOver).length;
  }

  /** Changes when the stale watches of a process catch up, to the time in its stale view. */
  updateThaw(process: Process): void {
    const at = process.staleView?.thawsAt ?? 0;
    for (const watch of this.#watches) {
      if (watch.process === process && watch.pipe.staleUntil > 0) watch.pipe.staleUntil = at;
    }
    this.#delay(() => {}, at - this.#now());
  }

  /** Ends the requests and watches of a process that has ended. */
  disconnect(process: Process): void {
    for (const { process: owner, reject } of this.#pending) {
      if (owner === process) reject(connectionError("the process has ended"));
    }
    this.#pending = this.#pending.filter((other) => other.process !== process);
    this.#paused.remove(process);
    this.#breakWatches(process);
    this.#watched.delete(process);
  }

  /** Sends a request of a process. @param key `namespace/name` of its object, if the path does not say it */
  send(process: Process, request: Request, key?: string): Promise<Response> {
    if (process.hasEnded) return Promise.reject(connectionError("the process has ended"));
    if (request.signal.aborted) return Promise.reject(request.signal.reason);
    const info = requestInfo(request);
    const isWrite = request.method !== "GET";
    this.#requests++;
    return new Promise((resolve, reject) => {
      const order = `${process.id} ${isWrite ? 1 : 0} ${request.url} ${request.method}`;
      const pending: PendingRequest<Process> = {
        ...{ process, request, info, order, isWrite, resolve, reject },
        key: key ?? keyOfInfo(info),
      };
      (this.#paused.requestsOf(process) ?? this.#pending).push(pending);
      onAbort(request.signal, () => {
        this.#pending = this.#pending.filter((other) => other !== pending);
        reject(request.signal.reason);
      });
      this.#options.onReady?.();
    });
  }

  async #readAll(reads: readonly PendingRequest<Process>[]): Promise<void> {
    for (const read of reads) await this.#read(read);
  }

  async #read(pending: PendingRequest<Process>): Promise<void> {
    const { process, request, info } = pending;
    const { faults } = this.#options;
    if (isUnreachable(pending, this.#now())) return this.#rejectUnreachable(pending);
    const number = ++this.counts.reads;
    const [fault] = faults.atRead(number, pointOf(pending));
    if (fault !== undefined) {
      this.#lastFaultAt = this.#now();
      this.counts.relists++;
      this.#note("fault", pending, `read ${number} gets ${fault.code}`);
      return pending.resolve(errorResponse(fault.code, fault.retryAfterSeconds));
    }
    const isWatch = info?.verb === "watch";
    if (isWatch && this.#history.isExpired(collectionOf(info), request)) {
      this.counts.relists++;
      this.#note("fault", pending, `read ${number} gets 410: compacted`);
      return pending.resolve(errorResponse(410));
    }
    const isStale = this.#isStale(process, info);
    const response = isStale
      ? await fetchStale(this.#options.server, request, { revision: process.staleView?.revision ?? 0, isWatch })
      : await this.#options.server(request);
    this.#note("operator", pending, `read ${number}: ${response.status}`);
    // A kind that the server does not have is asked for until it has it, or until its condition ceases to hold.
    if (response.status !== 404 && isFullList(request, info)) this.#countList(info);
    if (!isWatch || response.body === null || !response.ok) return pending.resolve(response);
    pending.resolve(this.#openWatch(process, info, request, response));
  }

  #isStale({ staleView }: Process, info: RequestInfo | undefined): boolean {
    return staleView !== undefined && this.#now() < staleView.thawsAt &&
      (staleView.only === undefined || staleView.only === collectionOf(info));
  }

  #openWatch(
    process: Process,
    info: RequestInfo | undefined,
    request: Request,
    response: Response,
  ): Response {
    const collection = collectionOf(info);
    const body = response.body;
    if (body === null) return response;
    const pipe = new WatchPipe(collection, body, {
      hasInitialEvents: request.url.includes("sendInitialEvents=true"),
      onReady: this.#options.onReady,
    });
    if (this.#isStale(process, info)) pipe.staleUntil = process.staleView?.thawsAt ?? 0;
    onAbort(request.signal, () => pipe.end({ kind: "closed" }));
    this.#watches.push({ order: `${process.id} ${request.url}`, process, pipe });
    this.#watches.sort(byOrder);
    const watched = this.#watched.get(process) ?? new Set();
    this.#watched.set(process, watched.add(collection));
    return new Response(pipe.body, { status: response.status, headers: response.headers });
  }

  async #write(pending: PendingRequest<Process>): Promise<void> {
    const { info } = pending;
    const { faults } = this.#options;
    if (isUnreachable(pending, this.#now())) return this.#rejectUnreachable(pending);
    const isLock = this.#options.isLock?.(pending.request) === true;
    if (isLock || !isCounted(info)) return await this.#writeUncounted(pending);
    const number = ++this.counts.writes;
    this.counts.renewals = this.#renewals;
    const due = faults.atWrite(number, pointOf(pending));
    for (const fault of due) {
      this.#lastFaultAt = this.#now();
      this.#note("fault", pending, faultText(fault));
    }
    if (await this.#applyBefore(pending, due)) return;
    const pause = due.find((fault) => fault.kind === "pause");
    if (pause === undefined) await this.#send(pending, number, due);
    else this.#pause(pending, pause, () => this.#send(pending, number, due));
  }

  /** Sends a counted write to the server, unless its send guard prevents it. */
  async #send(pending: PendingRequest<Process>, number: number, due: readonly WriteFault[]): Promise<void> {
    const { process, request } = pending;
    const { onWrite, revision } = this.#options;
    try {
      sendGuardOf(request)?.();
    } catch (error) {
      return pending.reject(error);
    }
    onWrite(process, request);
    const body = due.some(({ kind }) => kind === "actor") ? await request.clone().text() : "";
    const since = revision();
    const response = await bufferResponse(await this.#options.server(request));
    if (response.status < 300) {
      this.#lastWriteAt = this.#now();
      this.#successfulWrites++;
    }
    if (this.#options.recorder !== undefined) {
      const { resourceVersion } = response;
      this.#note("operator", pending, `write ${number}: ${response.status}`, { resourceVersion, since });
    }
    await this.#applyAfter(pending, { response, body }, due);
  }

  /** Applies the faults that come before the write. @returns true when the write does not reach the server */
  async #applyBefore(pending: PendingRequest<Process>, faults: readonly WriteFault[]): Promise<boolean> {
    const { process, request } = pending;
    for (const fault of faults) {
      if (fault.kind === "lease") await this.#options.deleteLease(process);
      if (fault.kind === "actor" && actsBefore.has(fault.act)) {
        const body = await request.clone().text();
        await this.#options.actAsUser(fault.act, targetPath(request, body), body);
      }
      if (fault.kind === "crash" && fault.moment === "before") return this.#crash(process, fault.downMs);
      if (fault.kind === "scale") this.#options.scale?.(process, fault);
      if (fault.kind === "partition" && fault.only !== undefined) {
        process.leasesUnreachableUntil = this.#now() + fault.forMs;
        this.#delay(() => {}, fault.forMs);
      } else if (fault.kind === "partition") {
        process.unreachableUntil = this.#now() + fault.forMs;
        // A list that has not ended begins anew.
        this.counts.relists += this.#watches.filter((watch) =>
          watch.process === process && watch.pipe.isListing
        ).length;
        this.#breakWatches(process);
        pending.reject(connectionError("the network is down"));
        return true;
      }
      if (fault.kind === "reset" && !fault.committed) pending.reject(connectionError("connection reset by peer"));
      else if (fault.kind === "answer" && fault.committed !== true) {
        pending.resolve(errorResponse(fault.code, fault.retryAfterSeconds));
      } else continue;
      return true;
    }
    return false;
  }

  /** Applies the faults that come after the write, and delivers the response. */
  async #applyAfter(
    pending: PendingRequest<Process>,
    { response, body }: { readonly response: BufferedResponse; readonly body: string },
    faults: readonly WriteFault[],
  ): Promise<void> {
    const { process, request, resolve, reject } = pending;
    for (const fault of faults) {
      if (fault.kind === "crash" && fault.moment === "committed") return void this.#crash(process, fault.downMs);
      if (fault.kind === "crash" && fault.moment === "answered") process.crashesNext = true;
      if (fault.kind === "reset") return reject(connectionError("connection reset by peer"));
      if (fault.kind === "answer") return resolve(errorResponse(fault.code, fault.retryAfterSeconds));
      if (fault.kind === "slow") return this.#delay(() => resolve(response.response()), fault.forMs);
      const path = writtenPath(request, response);
      if (fault.kind === "actor" && !actsBefore.has(fault.act) && path !== undefined) {
        await this.#options.actAsUser(fault.act, path, body);
      }
    }
    resolve(response.response());
  }

  /** Sends a write of a Lease or an Event. */
  async #writeUncounted(pending: PendingRequest<Process>): Promise<void> {
    if (pending.isLate === true || !isRenewal(pending.info)) return await this.#forward(pending);
    const number = ++this.#renewals;
    const [fault] = this.#options.faults.atRenewal(number, pointOf(pending));
    if (fault === undefined) return await this.#forward(pending);
    this.#note("fault", pending, faultText(fault));
    await this.#applyToRenewal(pending, fault);
  }

  /** A delayed write of the Lease arrives even if the process no longer waits for it. */
  async #applyToRenewal(pending: PendingRequest<Process>, fault: RenewalFault): Promise<void> {
    if (fault.kind === "pause") return this.#pause(pending, fault, () => this.#forward(pending));
    const { process, resolve } = pending;
    process.renewsUntil = this.#now() + fault.forMs;
    pending.request.signal.addEventListener("abort", () => process.renewsUntil = 0, { once: true });
    if (fault.committed) {
      const delayed = (response: Response) => this.#delay(() => resolve(response), fault.forMs);
      return await this.#forward({ ...pending, resolve: delayed });
    }
    const request = new Request(pending.request, { signal: new AbortController().signal });
    this.#delay(() => this.#pending.push({ ...pending, request, isLate: true }), fault.forMs);
  }

  /** Pauses a process before it sends a request. When it resumes, it sends that request first. */
  #pause(pending: PendingRequest<Process>, { forMs, wallByMs }: FaultOf<"pause">, send: () => Promise<void>): void {
    const { process, request } = pending;
    this.#paused.pause(process, this.#pending.filter((other) => other.process === process), wallByMs);
    this.#pending = this.#pending.filter((other) => other.process !== process);
    for (const watch of this.#watches) {
      if (watch.process === process) watch.pipe.stalledUntil = Math.max(watch.pipe.stalledUntil, this.#now() + forMs);
    }
    const next = () => request.signal.aborted ? Promise.resolve() : send();
    this.#delay(() => void this.#resuming.push(() => this.#resume(process, next)), forMs);
  }

  async #resume(process: Process, next: () => Promise<void>): Promise<void> {
    if (process.hasEnded) return;
    this.#options.recorder?.note("operator", "resumes", { process: process.id });
    this.#pending.push(...await this.#paused.resume(process, next));
  }

  async #forward({ process, request, resolve, reject }: PendingRequest<Process>): Promise<void> {
    try {
      sendGuardOf(request)?.();
    } catch (error) {
      return reject(error);
    }
    const response = await bufferResponse(await this.#options.server(request));
    if (!process.hasEnded) resolve(response.response());
  }

  #newDelivery({ faults, recorder }: NetworkProxyOptions<Process>): Delivery {
    return {
      now: () => this.#now(),
      nextEvent: () => ++this.counts.events,
      uncountEvent: () => void this.counts.events--,
      countRelist: () => void this.counts.relists++,
      compact: (collection, version) => this.#history.compact(collection, version),
      stall: (pipe, forMs) => {
        pipe.stalledUntil = this.#now() + forMs;
        this.#delay(() => {}, forMs);
      },
      faultsAt: (event, point) => faults.atEvent(event, point),
      ...(recorder === undefined ? {} : { note: (actor, what, details) => recorder.note(actor, what, details) }),
    };
  }

  #countList(info: RequestInfo | undefined): void {
    const collection = collectionOf(info);
    this.counts.lists.set(collection, (this.counts.lists.get(collection) ?? 0) + 1);
  }

  #rejectUnreachable(pending: PendingRequest<Process>): void {
    this.#lastFaultAt = this.#now();
    this.#note("operator", pending, "unreachable");
    pending.reject(connectionError("the network is down"));
  }

  /** Records what became of a request. */
  #note(actor: Actor, pending: PendingRequest<Process>, detail: string, details: NoteDetails = {}): void {
    const { recorder } = this.#options;
    if (recorder === undefined) return;
    const answers = requestName(pending);
    recorder.note(actor, requestText(pending), { ...details, process: pending.process.id, detail, answers });
  }

  #crash(process: Process, downMs: number): true {
    this.#options.crash(process, downMs);
    return true;
  }

  #breakWatches(process: Process): void {
    const error = connectionError("connection reset by peer");
    for (const watch of this.#watches) {
      if (watch.process === process) watch.pipe.end({ kind: "broken", error });
    }
  }

  #delay(action: () => void, forMs: number): void {
    this.#delayed++;
    this.#options.clock.timer(forMs, () => {
      this.#delayed--;
      action();
      this.#options.onReady?.();
    });
  }

  #now(): number {
    return this.#options.clock.monotonic();
  }
}

async function pass(next: () => Promise<void> | void): Promise<true> {
  await next();
  return true;
}
