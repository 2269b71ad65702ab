/**
 * Checks the requests that the replicas of one operator sent: invariants I2 and I6 over the requests that their proxies
 * saw. It does not use code of the elector, so it cannot repeat an error of it.
 *
 * Guarantees: it reports each write of a process that did not hold the Lease at that moment, had not renewed it within
 * the renew deadline, or had released it; and writes of two holders that interleave.
 */
import { assert } from "../testing.ts";
import type { SeenRequest } from "./_proxy.ts";

/** A process whose requests are known. */
export interface Sender {
  readonly name: string;
  readonly requests: readonly SeenRequest[];
}

/** A write to the Lease that the server accepted and that names its sender as the holder. */
export interface Claim {
  readonly sender: Sender;
  /** When the request arrived, shortly after the sender began to count. */
  readonly at: number;
  /** When the server had stored it. */
  readonly storedAt: number;
  /** False for the first of a term. */
  readonly isRenewal: boolean;
}

/** A release of the Lease that the server accepted. */
export interface Release {
  readonly at: number;
}

/** A request of the replicas' work: a write to anything but the Lease. */
export interface Work {
  readonly sender: Sender;
  readonly request: SeenRequest;
}

interface LeaseWrite {
  readonly holder: string;
  readonly request: SeenRequest;
  readonly storedAt: number;
}

/** The longest time of a request from the process to the proxy on a busy machine, as a part of the renew deadline. */
const transit = 1 / 8;

/** The claims of one sender, in order. */
export function claimsOf(sender: Sender): readonly Claim[] {
  const claims: Claim[] = [];
  let before = "";
  for (const { holder, request, storedAt } of leaseWritesOf(sender)) {
    if (holder !== "") claims.push({ sender, at: request.at, storedAt, isRenewal: isRenewal(request, before) });
    before = request.body;
  }
  return claims;
}

/** When a sender released the Lease. */
export function releasesOf(sender: Sender): readonly Release[] {
  return leaseWritesOf(sender).filter(({ holder }) => holder === "").map(({ request }) => ({ at: request.at }));
}

/** A POST that changes nothing: access reviews. */
const isQuestion = /\/[a-z]+reviews(\?|$)/;

/** The writes of all senders in the order of their arrival. */
export function workOf(senders: readonly Sender[]): readonly Work[] {
  const all = senders.flatMap((sender) =>
    sender.requests
      .filter(({ method, path }) => method !== "GET" && !path.includes("/leases") && !isQuestion.test(path))
      .map((request) => ({ sender, request }))
  );
  return all.toSorted((a, b) => a.request.at - b.request.at);
}

/** How many objects of a kind the senders created, by the responses of the server. @param plural `deployments` */
export function createdBy(senders: readonly Sender[], plural: string): number {
  // A dependent is created by an apply that requires its absence (ADR 0007); the status code identifies it.
  const isCreate = ({ request: { path, response: answer } }: Work) =>
    new RegExp(`/${plural}(/[^/?]+)?(\\?|$)`).test(path) && answer?.status === 201;
  return workOf(senders).filter(isCreate).length;
}

/** Checks invariant I6. @throws AssertionError that names the write and the reason */
export function assertOneWriterAtATime(senders: readonly Sender[], renewDeadlineMs: number): void {
  const claims = senders.flatMap(claimsOf);
  const work = workOf(senders);
  for (const { sender, request } of work) {
    const what = `${sender.name} sent ${request.method} ${request.path}`;
    const own = claims.filter((claim) => claim.sender === sender && claim.at <= request.at);
    const last = own.at(-1);
    assert(last !== undefined, `${what} without ever having held the Lease`);
    const ageMs = Math.round(request.at - last.at);
    assert(ageMs <= renewDeadlineMs * (1 + transit), `${what} ${ageMs} ms after its last renewal`);
    const isBetween = (at: number) => at > last.at && at < request.at;
    assert(!releasesOf(sender).some(({ at }) => isBetween(at)), `${what} after it had given the Lease up`);
    const usurper = claims.find((claim) => claim.sender !== sender && isBetween(claim.storedAt));
    assert(usurper === undefined, `${what} when ${usurper?.sender.name} held the Lease`);
  }
  assertTermsInOrder(claims, work);
}

/** Checks that the writer changes only when the holder of the Lease changed. */
function assertTermsInOrder(claims: readonly Claim[], work: readonly Work[]): void {
  for (const [index, { sender, request }] of work.entries()) {
    const before = work[index - 1];
    if (before === undefined || before.sender === sender) continue;
    const began = claims.some((claim) =>
      claim.sender === sender && !claim.isRenewal && claim.storedAt > before.request.at && claim.at < request.at
    );
    assert(began, `${before.sender.name} and ${sender.name} wrote in turns, at ${request.method} ${request.path}`);
  }
}

function leaseWritesOf(sender: Sender): readonly LeaseWrite[] {
  const writes: LeaseWrite[] = [];
  for (const request of sender.requests) {
    const { method, path, body, response: answer } = request;
    if (method === "GET" || !path.includes("/leases") || answer === undefined || answer.status >= 300) continue;
    writes.push({ holder: leaseOf(body).spec?.holderIdentity ?? "", request, storedAt: answer.at });
  }
  return writes;
}

interface LeaseBody {
  readonly spec?: { readonly holderIdentity?: string; readonly acquireTime?: string };
}

function leaseOf(body: string): LeaseBody {
  const lease: LeaseBody = JSON.parse(body);
  return lease;
}

/** Checks that a term has one time of acquisition. */
function isRenewal({ body }: SeenRequest, before: string): boolean {
  return before !== "" && leaseOf(body).spec?.acquireTime === leaseOf(before).spec?.acquireTime;
}
