/**
 * LeaseServer: an API server that knows one Lease, and the links over which electors of a test reach it. It compares
 * resourceVersions as the real one does; a link can be slow, lossy, cut, or answer with errors.
 *
 * A request that was aborted may still arrive, and an answer may be lost after the write took effect.
 */
import { drain, type Random, type VirtualClock } from "../async/mod.ts";
import type { Transport } from "../client/mod.ts";
import type { SkewedClock } from "./_skewed_clock.ts";

/** A Lease as it stands on the wire. */
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

/** How the network between one elector and the server is. Change it at any time. */
export interface Link {
  isCut: boolean;
  /** Largest milliseconds of each way. */
  latencyMs: number;
  /** Chance that an answer is lost. */
  lossRate: number;
  /** Answers this status instead of doing anything. */
  refusal: number | undefined;
}

export class LeaseServer {
  readonly requests: SeenRequest[] = [];
  #lease: WireLease | undefined;
  #version = 100;

  get lease(): WireLease | undefined {
    return this.#lease;
  }

  /** Writes the Lease by hand. */
  put(lease: WireLease): void {
    const resourceVersion = String(++this.#version);
    const type = { apiVersion: "coordination.k8s.io/v1", kind: "Lease" };
    this.#lease = { ...type, ...lease, metadata: { ...lease.metadata, resourceVersion } };
  }

  /** Changes fields of its spec by hand. */
  edit(spec: Readonly<Record<string, unknown>>): void {
    if (this.#lease !== undefined) this.put({ ...this.#lease, spec: { ...this.#lease.spec, ...spec } });
  }

  delete(): void {
    this.#lease = undefined;
  }

  /** A transport that answers at once. */
  readonly transport: Transport = async (request) => {
    const body = await request.text();
    return this.#answer(request.method, body);
  };

  /** A transport over `link`, for the machine of `clock`. */
  over(
    link: Link,
    parts: { readonly base: VirtualClock; readonly clock: SkewedClock; readonly random: Random },
  ): Transport {
    const { base, clock, random } = parts;
    const travel = () => new Promise<void>((resolve) => void base.timer(random.next() * link.latencyMs, resolve));
    return async (request) => {
      // Waited for after the journey: a virtual clock drains only so many hops of a stream between two timers.
      const body = request.text();
      const { promise, resolve, reject } = Promise.withResolvers<Response>();
      const abort = () => reject(request.signal.reason);
      request.signal.addEventListener("abort", abort, { once: true });
      const exchange = async () => {
        await travel();
        const text = await body;
        if (link.isCut) return;
        const response = this.#answer(request.method, text, link.refusal);
        await travel();
        await clock.awake();
        if (!link.isCut && random.next() >= link.lossRate) resolve(response);
      };
      void exchange();
      return await promise.finally(() => request.signal.removeEventListener("abort", abort));
    };
  }

  #answer(method: string, body: string, refusal?: number): Response {
    const response = refusal === undefined ? this.#apply(method, body) : status(refusal, reasons.get(refusal) ?? "");
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

const reasons: ReadonlyMap<number, string> = new Map([[403, "Forbidden"], [409, "Conflict"], [500, "InternalError"]]);

function status(code: number, reason: string): Response {
  return Response.json({ kind: "Status", status: "Failure", code, reason, message: `said ${reason}` }, {
    status: code,
  });
}

/**
 * Advances `base` by `ms` from timer to timer, and no further once `look` has said that it has seen enough. Between two
 * timers it drains more than the clock itself does: an answer that is read and a request that follows take more hops.
 */
export async function pass(base: VirtualClock, ms: number, look?: () => boolean): Promise<void> {
  const until = base.monotonic() + ms;
  while (true) {
    await drain();
    await drain();
    if (look?.() === true) return;
    const nextMs = base.nextTimerInMs ?? Infinity;
    const leftMs = until - base.monotonic();
    if (nextMs > leftMs) return await base.advance(leftMs);
    await base.advance(nextMs);
  }
}
