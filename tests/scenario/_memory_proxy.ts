/** MemoryProxy: a proxy in this process between one program and the API server in memory. */
import type { Transport } from "../../src/client/mod.ts";
import type { HeldRequest, RecordedRequest, RecordingProxy } from "../cases/environment.ts";
import type { Wait } from "./_program.ts";

type Matches = (request: RecordedRequest) => boolean;

interface Trap {
  readonly matches: Matches;
  readonly side: "request" | "response";
  readonly caught: () => Promise<void>;
}

/** Options of a {@link MemoryProxy}. */
export interface MemoryProxyOptions {
  readonly to: Transport;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  readonly wait: Wait;
}

/** The connection of one program. */
export class MemoryProxy implements RecordingProxy {
  readonly requests: RecordedRequest[] = [];
  readonly #options: MemoryProxyOptions;
  readonly #traps = new Set<Trap>();
  readonly #rules = new Set<{ readonly matches: Matches; readonly response: () => Response }>();
  #lastWriteAt: number;

  constructor(options: MemoryProxyOptions) {
    this.#options = options;
    this.#lastWriteAt = options.now();
  }

  get writes(): readonly RecordedRequest[] {
    return this.requests.filter(isWrite);
  }

  respond(response: () => Response, matches: Matches): Disposable {
    const rule = { matches, response };
    this.#rules.add(rule);
    return { [Symbol.dispose]: () => void this.#rules.delete(rule) };
  }

  hold(matches: Matches, side: Trap["side"] = "request"): HeldRequest {
    const { wait } = this.#options;
    const released = Promise.withResolvers<void>();
    let hasArrived = false;
    const caught = () => {
      hasArrived = true;
      return released.promise;
    };
    this.#traps.add({ matches, side, caught });
    return {
      get arrived() {
        return wait<void>(
          `see the held ${side}`,
          () => hasArrived ? { kind: "found", value: undefined } : { kind: "pending", state: "it has not arrived" },
        );
      },
      release: () => released.resolve(),
    };
  }

  async quiet(quietMs: number): Promise<void> {
    const { now, wait } = this.#options;
    const startedAt = now();
    await wait<void>(`see ${quietMs} ms without a write`, () => {
      const isQuiet = now() - Math.max(startedAt, this.#lastWriteAt) >= quietMs;
      return isQuiet
        ? { kind: "found", value: undefined }
        : { kind: "pending", state: `${this.writes.length} writes were sent` };
    });
  }

  /** The transport of the program. */
  readonly transport: Transport = async (request) => {
    const { method, url, headers, signal } = request;
    const body = request.body === null ? undefined : await request.text();
    const { pathname, search } = new URL(url);
    const seen = { method, path: `${pathname}${search}`, body: body ?? "" };
    this.requests.push(seen);
    if (isWrite(seen)) this.#lastWriteAt = this.#options.now();
    await this.#holdIfTrapped(seen, "request");
    for (const { matches, response } of this.#rules) if (matches(seen)) return response();
    const response = await this.#options.to(new Request(url, { method, headers, body, signal }));
    await this.#holdIfTrapped(seen, "response");
    return response;
  };

  async #holdIfTrapped(seen: RecordedRequest, side: Trap["side"]): Promise<void> {
    for (const trap of this.#traps) {
      if (trap.side !== side || !trap.matches(seen)) continue;
      this.#traps.delete(trap);
      return await trap.caught();
    }
  }
}

function isWrite({ method, path }: RecordedRequest): boolean {
  return method !== "GET" && !/\/[a-z]+reviews(\?|$)/.test(path);
}
