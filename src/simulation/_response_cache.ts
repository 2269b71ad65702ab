/**
 * ResponseCache: the writes that servers with the same baseline have executed. Runs of a simulation are equal up to their
 * faults, and often after them. When a server gets a write that another server with the same history has executed, it takes
 * the response and the changes of that one instead of executing the write again.
 *
 * Guarantees: a cached write is what the server would have done. The history is the list of all writes so far that changed
 * something, and a write is identified by everything that it depends on: its bytes, the time, the revision, and the position in
 * the random sequence. The time is in whole seconds, because the server sees no other, see {@link WholeSecondClock}.
 * Writes of Leases are not part of a history: each has another time in it, and no other write depends on them. Events have a
 * history of their own for the same reason: their names contain a time, and only other writes of Events depend on them.
 */
import { type ObjectStorage, type StorageChange } from "../apiserver/mod.ts";
import type { Clock, Random } from "../async/mod.ts";
import type { Transport } from "../client/mod.ts";
import { knownBodyOf, knownTextOf, rememberText } from "../runtime/mod.ts";
import type { SentWrite } from "./_sent_fields.ts";

/** An executed write. */
interface CachedWrite {
  readonly init: ResponseInit;
  readonly text: string;
  readonly changes: readonly StorageChange[];
  /** Random numbers that were drawn. */
  readonly draws: number;
  /** What becomes of the state; a write that changed nothing leads to no other one. */
  readonly next: Partial<State>;
}

/** A list of writes, but for those of Leases and Events, and the writes that followed it, by their identity. */
interface History {
  readonly id: number;
  readonly writes: Map<string, CachedWrite>;
}

/** A list of writes of Events, and those lists that are one longer. */
interface EventHistory {
  readonly id: number;
  readonly next: Map<string, EventHistory>;
}

/** All that the response of a server depends on, except for the request, the time and random numbers. */
interface State {
  readonly history: History;
  readonly events: EventHistory;
}

/** Characters in the cache; beyond this, all of it is dropped. The memory in use is about four times as much. */
const maxChars = 32 * 1024 * 1024;

const leasePath = "/apis/coordination.k8s.io/";
const leaseCollection = "leases.coordination.k8s.io";
const eventPath = /\/(?:api\/v1|apis\/events\.k8s\.io\/[^/]+)\/namespaces\/[^/]+\/events(?:[/?]|$)/;
const eventCollections: ReadonlySet<string> = new Set(["events", "events.events.k8s.io"]);

/** The histories of servers with the same baseline. */
export class ResponseCache {
  #ids = 0;
  #start = this.#newStart();
  #chars = 0;

  /** The state of a server without a write. */
  get start(): State {
    return this.#start;
  }

  /** What a write that changed something makes of a state. */
  next({ history, events }: State, identity: string, isEvent: boolean): Partial<State> {
    if (!isEvent) return { history: this.#newHistory() };
    const name = `${history.id} ${identity}`;
    const next = events.next.get(name) ?? this.#newEvents();
    events.next.set(name, next);
    return { events: next };
  }

  /** Adds a write to a history. */
  add({ writes }: History, identity: string, write: CachedWrite): void {
    writes.set(identity, write);
    this.#chars += identity.length + write.text.length;
    for (const { change } of write.changes) this.#chars += change.current.json.length;
    if (this.#chars < maxChars) return;
    this.#start = this.#newStart();
    this.#chars = 0;
  }

  #newStart(): State {
    return { history: this.#newHistory(), events: this.#newEvents() };
  }

  #newHistory(): History {
    return { id: this.#ids++, writes: new Map() };
  }

  #newEvents(): EventHistory {
    return { id: this.#ids++, next: new Map() };
  }
}

/**
 * The clock of a server with a cache. It shows whole seconds, as the times in objects do, so that the responses to equal writes
 * within a second are equal.
 */
export class WholeSecondClock implements Clock {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return Math.floor(this.#clock.now() / 1_000) * 1_000;
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return this.#clock.sleep(ms, signal);
  }

  timer(ms: number, fire: () => void): Disposable {
    return this.#clock.timer(ms, fire);
  }
}

/** A Random that counts the numbers drawn. */
export class CountingRandom implements Random {
  readonly #random: Random;
  #count = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  get count(): number {
    return this.#count;
  }

  next(): number {
    this.#count++;
    return this.#random.next();
  }
}

/** Options of a {@link CachingServer}. */
export interface CachingServerOptions {
  readonly cache: ResponseCache;
  /** Executes the writes that are not in the cache. */
  readonly server: Transport;
  readonly storage: ObjectStorage;
  /** That of the server. */
  readonly clock: Clock;
  /** Used by the server only. */
  readonly random: CountingRandom;
}

/** A server with a cache. All writes to the storage must go through it. */
export class CachingServer {
  readonly #options: CachingServerOptions;
  /** All writes so far, those of Leases left out. */
  readonly writes: SentWrite[] = [];
  /** Undefined after two concurrent writes, because their order is not known. */
  #state: State | undefined;
  #isWriting = false;

  constructor(options: CachingServerOptions) {
    this.#options = options;
    this.#state = options.cache.start;
  }

  readonly fetch: Transport = async (request) => {
    if (request.method === "GET") return await this.#options.server(request);
    if (this.#isWriting) this.#state = undefined;
    this.#isWriting = true;
    try {
      return await this.#write(request);
    } finally {
      this.#isWriting = false;
    }
  };

  async #write(request: Request): Promise<Response> {
    if (request.url.includes(leasePath)) return await this.#writeLease(request);
    const known = knownBodyOf(request);
    const body = known ?? await request.text();
    const unread = known === undefined ? withBody(request, body) : request;
    const { method, url } = request;
    if (method !== "DELETE") this.writes.push({ method, url, body });
    const state = this.#state;
    if (state === undefined) return await this.#options.server(unread);
    const isEvent = eventPath.test(url);
    const identity = this.#identityOf(request, body, isEvent ? `event ${state.events.id} ` : "");
    const cached = state.history.writes.get(identity);
    if (cached === undefined) return await this.#execute(unread, { state, identity, isEvent });
    for (const change of cached.changes) this.#options.storage.replay(change);
    for (let draw = 0; draw < cached.draws; draw++) this.#options.random.next();
    if (this.#state === state) this.#state = { ...state, ...cached.next };
    return responseOf(cached);
  }

  /** A write of a Lease that also changes something else, such as a quota, makes the history unknown. */
  async #writeLease(request: Request): Promise<Response> {
    const { server, storage } = this.#options;
    const { revision } = storage;
    const response = await server(request);
    for (const { collection } of storage.changesAfter(revision)) {
      if (collection !== leaseCollection) this.#state = undefined;
    }
    return response;
  }

  /** Everything that the response depends on, except for the history. */
  #identityOf({ method, url, headers, signal }: Request, body: string, prefix: string): string {
    const { storage, clock, random } = this.#options;
    let identity = `${prefix}${method} ${url} ${clock.now()} ${storage.revision} ${random.count} ${signal.aborted}\n`;
    for (const [name, value] of headers) identity += `${name}: ${value}\n`;
    return identity + body;
  }

  async #execute(
    request: Request,
    { state, identity, isEvent }: { readonly state: State; readonly identity: string; readonly isEvent: boolean },
  ): Promise<Response> {
    const { server, storage, random, cache } = this.#options;
    const before = { revision: storage.revision, draws: random.count };
    const response = await server(request);
    const changes = [...storage.changesAfter(before.revision)];
    const write: CachedWrite = {
      init: { status: response.status, headers: [...response.headers] },
      text: knownTextOf(response) ?? await response.text(),
      changes,
      draws: random.count - before.draws,
      next: changes.length === 0 ? {} : cache.next(state, identity, isEvent),
    };
    if (this.#state !== state) return responseOf(write);
    if (changes.some(({ collection }) => eventCollections.has(collection) !== isEvent)) this.#state = undefined;
    else {
      cache.add(state.history, identity, write);
      this.#state = { ...state, ...write.next };
    }
    return responseOf(write);
  }
}

/** The request, whose body was read. */
function withBody({ method, url, headers, signal }: Request, body: string): Request {
  return new Request(url, body === "" ? { method, headers, signal } : { method, headers, signal, body });
}

function responseOf({ init, text }: CachedWrite): Response {
  return rememberText(new Response(text, init), text);
}
