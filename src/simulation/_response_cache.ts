/**
 * ResponseCache: the writes that servers with the same baseline have executed. Runs of a simulation are equal up to their
 * faults, and often after them. When a server gets a write that another server with the same history has executed, it takes
 * the response and the changes of that one instead of executing the write again.
 *
 * Guarantees: a cached write is what the server would have done. The history is the list of all writes so far, and a write is
 * identified by everything that it depends on: its bytes, the time, the revision, and the position in the random sequence.
 * Writes of Leases are not part of a history: each has another time in it, and no other write depends on them.
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
  readonly next: History;
}

/** The writes that followed a list of writes, by their identity. */
type History = Map<string, CachedWrite>;

/** Characters in the cache; beyond this, all of it is dropped. The memory in use is about four times as much. */
const maxChars = 32 * 1024 * 1024;

const leasePath = "/apis/coordination.k8s.io/";
const leaseCollection = "leases.coordination.k8s.io";

/** The histories of servers with the same baseline. */
export class ResponseCache {
  #start: History = new Map();
  #chars = 0;

  /** The history of a server without a write. */
  get start(): History {
    return this.#start;
  }

  /** Adds a write to a history. */
  add(history: History, identity: string, write: CachedWrite): void {
    history.set(identity, write);
    this.#chars += identity.length + write.text.length;
    for (const { change } of write.changes) this.#chars += change.current.json.length;
    if (this.#chars < maxChars) return;
    this.#start = new Map();
    this.#chars = 0;
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
  #history: History | undefined;
  #isWriting = false;

  constructor(options: CachingServerOptions) {
    this.#options = options;
    this.#history = options.cache.start;
  }

  readonly fetch: Transport = async (request) => {
    if (request.method === "GET") return await this.#options.server(request);
    if (this.#isWriting) this.#history = undefined;
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
    const history = this.#history;
    if (history === undefined) return await this.#options.server(unread);
    const identity = this.#identityOf(request, body);
    const cached = history.get(identity);
    if (cached === undefined) return await this.#execute(unread, { history, identity });
    for (const change of cached.changes) this.#options.storage.replay(change);
    for (let draw = 0; draw < cached.draws; draw++) this.#options.random.next();
    if (this.#history === history) this.#history = cached.next;
    return responseOf(cached);
  }

  /** A write of a Lease that also changes something else, such as a quota, makes the history unknown. */
  async #writeLease(request: Request): Promise<Response> {
    const { server, storage } = this.#options;
    const { revision } = storage;
    const response = await server(request);
    for (const { collection } of storage.changesAfter(revision)) {
      if (collection !== leaseCollection) this.#history = undefined;
    }
    return response;
  }

  /** Everything that the response depends on, except for the history. */
  #identityOf({ method, url, headers, signal }: Request, body: string): string {
    const { storage, clock, random } = this.#options;
    let identity = `${method} ${url} ${clock.now()} ${storage.revision} ${random.count} ${signal.aborted}\n`;
    for (const [name, value] of headers) identity += `${name}: ${value}\n`;
    return identity + body;
  }

  async #execute(
    request: Request,
    { history, identity }: { readonly history: History; readonly identity: string },
  ): Promise<Response> {
    const { server, storage, random, cache } = this.#options;
    const before = { revision: storage.revision, draws: random.count };
    const response = await server(request);
    const write: CachedWrite = {
      init: { status: response.status, headers: [...response.headers] },
      text: knownTextOf(response) ?? await response.text(),
      changes: [...storage.changesAfter(before.revision)],
      draws: random.count - before.draws,
      next: new Map(),
    };
    if (this.#history === history) {
      cache.add(history, identity, write);
      this.#history = write.next;
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
