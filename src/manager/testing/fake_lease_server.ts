/**
 * FakeLeaseServer: an API server with one Lease, and the network links over which the electors of a test reach it. It
 * compares resourceVersions as a real server does. A link can be slow, lose responses, be disconnected, or respond with
 * errors.
 *
 * An aborted request may still arrive, and a response may be lost after the write took effect.
 */
import { drain, type Random, type VirtualClock } from "../../async/mod.ts";
import type { Transport } from "../../client/mod.ts";
import type { SkewedClock } from "./skewed_clock.ts";

/** A Lease as JSON. */
export interface WireLease {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly spec: Readonly<Record<string, unknown>>;
}

/** A request that reached the server. */
export interface SeenRequest {
  readonly method: string;
  readonly code: number;
  readonly body: string;
}

/** The network between one elector and the server. A test can change it at any time. */
export interface Link {
  isDisconnected: boolean;
  /** Maximum milliseconds of each direction. */
  latencyMs: number;
  /** Probability that a response is lost. */
  lossRate: number;
  /** If set, the server responds with this code to requests about LeaseCandidates. @default 404, it has no such kind */
  candidatesCode?: number;
  /** If set, the server responds with this code and does nothing else. */
  errorCode: number | undefined;
}

/** A link without any fault. */
export function perfectLink(): Link {
  return { isDisconnected: false, latencyMs: 0, lossRate: 0, errorCode: undefined };
}

export class FakeLeaseServer {
  readonly requests: SeenRequest[] = [];
  #lease: WireLease | undefined;
  #version = 100;

  get lease(): WireLease | undefined {
    return this.#lease;
  }

  /** Writes the Lease, as a user would. */
  put(lease: WireLease): void {
    const resourceVersion = String(++this.#version);
    const type = { apiVersion: "coordination.k8s.io/v1", kind: "Lease" };
    this.#lease = { ...type, ...lease, metadata: { ...lease.metadata, resourceVersion } };
  }

  /** Changes fields of its spec, as a user would. */
  edit(spec: Readonly<Record<string, unknown>>): void {
    if (this.#lease !== undefined) this.put({ ...this.#lease, spec: { ...this.#lease.spec, ...spec } });
  }

  delete(): void {
    this.#lease = undefined;
  }

  /** A transport that responds without delay. */
  readonly transport: Transport = async (request) => {
    const body = await request.text();
    return isAboutCandidates(request) ? status(404, "NotFound") : this.#respond(request.method, body);
  };

  /** A transport over `link`, for the machine with `clock`. */
  over(
    link: Link,
    parts: { readonly base: VirtualClock; readonly clock: SkewedClock; readonly random: Random },
  ): Transport {
    const { base, clock, random } = parts;
    const travel = () => new Promise<void>((resolve) => void base.timer(random.next() * link.latencyMs, resolve));
    return async (request) => {
      // Awaited only after the travel: a virtual clock drains only a limited number of microtasks between two timers.
      const body = request.text();
      const { promise, resolve, reject } = Promise.withResolvers<Response>();
      const abort = () => reject(request.signal.reason);
      request.signal.addEventListener("abort", abort, { once: true });
      const exchange = async () => {
        await travel();
        const text = await body;
        if (link.isDisconnected) return;
        const { candidatesCode = 404 } = link;
        const response = isAboutCandidates(request)
          ? status(candidatesCode, reasons.get(candidatesCode) ?? "NotFound")
          : this.#respond(request.method, text, link.errorCode);
        await travel();
        await clock.awake();
        if (!link.isDisconnected && random.next() >= link.lossRate) resolve(response);
      };
      void exchange();
      return await promise.finally(() => request.signal.removeEventListener("abort", abort));
    };
  }

  #respond(method: string, body: string, errorCode?: number): Response {
    const response = errorCode === undefined
      ? this.#apply(method, body)
      : status(errorCode, reasons.get(errorCode) ?? "");
    this.requests.push({ method, code: response.status, body });
    return response;
  }

  #apply(method: string, body: string): Response {
    if (method === "GET") return this.#lease === undefined ? status(404, "NotFound") : Response.json(this.#lease);
    const sent: WireLease = JSON.parse(body);
    if (method === "POST" && this.#lease !== undefined) return status(409, "AlreadyExists");
    if (method === "PUT") {
      if (this.#lease === undefined) return status(404, "NotFound");
      const { resourceVersion } = this.#lease.metadata;
      if (sent.metadata["resourceVersion"] !== resourceVersion) return status(409, "Conflict");
    }
    this.put(sent);
    return Response.json(this.#lease);
  }
}

function isAboutCandidates(request: Request): boolean {
  return new URL(request.url).pathname.includes("/leasecandidates");
}

const reasons: ReadonlyMap<number, string> = new Map([[403, "Forbidden"], [409, "Conflict"], [500, "InternalError"]]);

function status(code: number, reason: string): Response {
  return Response.json({ kind: "Status", status: "Failure", code, reason, message: `said ${reason}` }, {
    status: code,
  });
}

/**
 * Advances `base` by `ms` from timer to timer, or until `isDone` returns true. Between two timers it drains more
 * microtasks than the clock itself does, because reading a response and sending the next request takes more of them.
 */
export async function pass(base: VirtualClock, ms: number, isDone?: () => boolean): Promise<void> {
  const until = base.monotonic() + ms;
  while (true) {
    await drain();
    await drain();
    if (isDone?.() === true) return;
    const nextMs = base.nextTimerInMs ?? Infinity;
    const leftMs = until - base.monotonic();
    if (nextMs > leftMs) return await base.advance(leftMs);
    await base.advance(nextMs);
  }
}
