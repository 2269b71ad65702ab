/**
 * ServerMemory: what servers that began with the same storage did when they were asked the same. Runs of a simulation are
 * alike up to their faults, and often after them; a server that has the same past as another one does not work out again
 * what that one worked out, but answers and stores the very same.
 *
 * Guarantees: what is remembered is what would have been done. A past is everything that was written, in order, and each
 * write is known by all that it depends on: its bytes, the time, the revision, and how far the server's chance has come.
 * Leases are no part of a past: they are renewed all the time, each time with another time in them, and no other write
 * looks at them.
 */
import { type ObjectStorage, type StorageChange } from "../apiserver/mod.ts";
import type { Clock, Random } from "../async/mod.ts";
import type { Transport } from "../client/mod.ts";

/** What came of one write. */
interface Deed {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly text: string;
  readonly changes: readonly StorageChange[];
  /** Numbers that were drawn for it. */
  readonly draws: number;
  readonly next: Past;
}

/** Everything that was written so far, and what was written next. */
type Past = Map<string, Deed>;

/** Characters that are remembered: then all of it is forgotten. The objects themselves take some four times as much. */
const mostChars = 32 * 1024 * 1024;

const leases = "/apis/coordination.k8s.io/";
const leaseCollection = "leases.coordination.k8s.io";

/** Pasts that have the same beginning. */
export class ServerMemory {
  #beginning: Past = new Map();
  #chars = 0;

  get beginning(): Past {
    return this.#beginning;
  }

  /** Notes what came after a past. */
  remember(past: Past, asked: string, deed: Deed): void {
    past.set(asked, deed);
    this.#chars += asked.length + deed.text.length;
    for (const { change } of deed.changes) this.#chars += change.current.json.length;
    if (this.#chars < mostChars) return;
    this.#beginning = new Map();
    this.#chars = 0;
  }
}

/** A Random that knows how far it has come. */
export class CountedRandom implements Random {
  readonly #random: Random;
  #count = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Numbers that were drawn. */
  get count(): number {
    return this.#count;
  }

  next(): number {
    this.#count++;
    return this.#random.next();
  }
}

/** What a server that remembers is made of. */
export interface RememberingServerParts {
  readonly memory: ServerMemory;
  /** Does what is not remembered. */
  readonly server: Transport;
  readonly storage: ObjectStorage;
  readonly clock: Clock;
  /** The server's, and nobody else's. */
  readonly random: CountedRandom;
}

/** A server that remembers what others did. Nothing else may write to its storage before an answer is there. */
export class RememberingServer {
  readonly #parts: RememberingServerParts;
  /** Undefined once two writes were under way at the same time: their order is nobody's past. */
  #past: Past | undefined;
  #isWriting = false;

  constructor(parts: RememberingServerParts) {
    this.#parts = parts;
    this.#past = parts.memory.beginning;
  }

  readonly fetch: Transport = async (request) => {
    if (request.method === "GET") return await this.#parts.server(request);
    if (this.#isWriting) this.#past = undefined;
    this.#isWriting = true;
    try {
      return await this.#write(request);
    } finally {
      this.#isWriting = false;
    }
  };

  async #write(request: Request): Promise<Response> {
    const past = this.#past;
    if (past === undefined) return await this.#parts.server(request);
    if (request.url.includes(leases)) return await this.#writeLease(request);
    const body = await request.text();
    const asked = this.#asked(request, body);
    const known = past.get(asked);
    if (known === undefined) return await this.#work(request, body, { past, asked });
    for (const change of known.changes) this.#parts.storage.repeat(change);
    for (let draw = 0; draw < known.draws; draw++) this.#parts.random.next();
    if (this.#past === past) this.#past = known.next;
    return answerOf(known);
  }

  /** Where it changed something else as well, for instance a quota, nobody has the same past any more. */
  async #writeLease(request: Request): Promise<Response> {
    const { server, storage } = this.#parts;
    const { revision } = storage;
    const response = await server(request);
    for (const { collection } of storage.changesAfter(revision)) {
      if (collection !== leaseCollection) this.#past = undefined;
    }
    return response;
  }

  /** All that the answer depends on, the past aside. */
  #asked({ method, url, headers, signal }: Request, body: string): string {
    const { storage, clock, random } = this.#parts;
    let asked = `${method} ${url} ${clock.now()} ${storage.revision} ${random.count} ${signal.aborted}\n`;
    for (const [name, value] of headers) asked += `${name}: ${value}\n`;
    return asked + body;
  }

  async #work(
    { method, url, headers, signal }: Request,
    body: string,
    { past, asked }: { readonly past: Past; readonly asked: string },
  ): Promise<Response> {
    const { server, storage, random, memory } = this.#parts;
    const before = { revision: storage.revision, draws: random.count };
    const sent = body === "" ? { method, headers, signal } : { method, headers, signal, body };
    const response = await server(new Request(url, sent));
    const deed: Deed = {
      status: response.status,
      headers: [...response.headers],
      text: await response.text(),
      changes: [...storage.changesAfter(before.revision)],
      draws: random.count - before.draws,
      next: new Map(),
    };
    if (this.#past === past) {
      memory.remember(past, asked, deed);
      this.#past = deed.next;
    }
    return answerOf(deed);
  }
}

function answerOf({ status, headers, text }: Deed): Response {
  return new Response(text, { status, headers: headers.map(([name, value]): [string, string] => [name, value]) });
}
