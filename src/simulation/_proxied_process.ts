/**
 * ProxiedProcess: what the fault layer knows of a process of the operator. An OperatorProcess of the in-memory simulation is
 * one, and so is a child process in any language: the faults at its requests and watches are the same.
 */
import type { RequestInfo } from "../manager/mod.ts";
import { collectionOf, connectionError, resourceOf } from "./_messages.ts";
import type { PointName } from "./fault_plan.ts";

/** An API server that is behind, as one process sees it. */
export interface StaleView {
  /** The revision that lists and watches show. */
  readonly revision: number;
  /** The only collection that is behind. @default all */
  readonly only: string | undefined;
  /** The time of the proxy's clock at which the server catches up. */
  readonly thawsAt: number;
}

/** A process whose requests pass the proxy. */
export interface ProxiedProcess {
  /** The number of the process in its run, from 1. */
  readonly id: number;
  /** None of its requests reaches the server any more. */
  readonly hasEnded: boolean;
  /** Set when the process sees a server that is behind. */
  readonly staleView: StaleView | undefined;
  /** The time until which no request of the process arrives. */
  unreachableUntil: number;
  /** The time until which no request about a Lease arrives. */
  leasesUnreachableUntil: number;
  /** The time until which it waits for the response to a write of its Lease that a fault delays. */
  renewsUntil: number;
  /** The process is killed before its next request. */
  crashesNext: boolean;
  /** Stops the process. @param wallByMs by how much its wall clock moves meanwhile */
  pause(wallByMs: number): void;
  /** Lets the process go on. */
  resume(): Promise<void>;
  /** False for a collection that the process has watched and needs no more. @default it needs each */
  needsWatch?(collection: string): boolean;
}

/** A request of a process that has not reached the server yet. */
export interface PendingRequest<Process extends ProxiedProcess> {
  readonly process: Process;
  readonly request: Request;
  readonly info: RequestInfo | undefined;
  /** `namespace/name` of the object, also of one that the request creates. */
  readonly key: string;
  /** Sort key of the requests that wait at the same time. */
  readonly order: string;
  /** The request was delayed already, so no further fault applies to it. */
  isLate?: true;
  readonly isWrite: boolean;
  resolve(response: Response): void;
  reject(error: unknown): void;
}

/** The collection of Leases. */
const leaseCollection = "leases.coordination.k8s.io";

/** True when a request does not arrive. @param now by the clock of the proxy */
export function isUnreachable(
  { process, info }: Pick<PendingRequest<ProxiedProcess>, "process" | "info">,
  now: number,
): boolean {
  if (now < process.unreachableUntil) return true;
  return now < process.leasesUnreachableUntil && collectionOf(info) === leaseCollection;
}

/** How a plan names the point at which a request is; undefined for a request that no plan can name. */
export function pointOf({ info, key }: Pick<PendingRequest<ProxiedProcess>, "info" | "key">): PointName | undefined {
  return info && { verb: info.verb, resource: resourceOf(info), name: key };
}

/**
 * The processes that are paused, with their pending requests. A process that resumes first sends the request at which it was
 * paused, as a process would whose next instruction is the system call. Only then it gets responses, watch events and timers.
 */
export class PausedProcesses<Process extends ProxiedProcess> {
  readonly #requests = new Map<Process, PendingRequest<Process>[]>();

  /** The pending requests of a paused process, to which new ones are added; undefined when the process is not paused. */
  requestsOf(paused: Process): PendingRequest<Process>[] | undefined {
    return this.#requests.get(paused);
  }

  /** Pauses a process. @param pending its other requests that have not arrived */
  pause(paused: Process, pending: readonly PendingRequest<Process>[], wallByMs = 0): void {
    this.#requests.set(paused, [...pending]);
    paused.pause(wallByMs);
  }

  /** Resumes a process. @param next sends the request at which it was paused @returns its pending requests */
  async resume(paused: Process, next: () => Promise<void>): Promise<readonly PendingRequest<Process>[]> {
    await next();
    const pending = this.#requests.get(paused) ?? [];
    this.#requests.delete(paused);
    await paused.resume();
    return pending.filter(({ request }) => !request.signal.aborted);
  }

  /** Rejects the pending requests of a process that has ended. */
  remove(paused: Process): void {
    for (const { reject } of this.#requests.get(paused) ?? []) reject(connectionError("the process has ended"));
    this.#requests.delete(paused);
  }
}
