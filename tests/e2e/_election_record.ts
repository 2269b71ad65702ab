/**
 * What replicas of one operator sent, judged: invariants I2 and I6 of behaviours.md over the requests that their proxies
 * saw. It knows the wire only, so it cannot share a mistake with the elector.
 *
 * Guarantees: no write may come from who did not hold the Lease at that moment, had not renewed it within the renew
 * deadline, or had given it up; the writes of two holders do not interleave.
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
  /** When it came, so shortly after the sender began to count. */
  readonly at: number;
  /** When the server had stored it. */
  readonly storedAt: number;
  /** False for the first of a term. */
  readonly isRenewal: boolean;
}

/** The Lease given up, by a request that the server accepted. */
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

/** What a request may take from the process to the proxy on a busy machine, in milliseconds. */
const transitMs = 250;

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

/** When a sender gave the Lease up. */
export function releasesOf(sender: Sender): readonly Release[] {
  return leaseWritesOf(sender).filter(({ holder }) => holder === "").map(({ request }) => ({ at: request.at }));
}

/** What is put as a POST and changes nothing: access reviews. */
const isQuestion = /\/[a-z]+reviews(\?|$)/;

/** The work of all senders in the order in which it came. */
export function workOf(senders: readonly Sender[]): readonly Work[] {
  const all = senders.flatMap((sender) =>
    sender.requests
      .filter(({ method, path }) => method !== "GET" && !path.includes("/leases") && !isQuestion.test(path))
      .map((request) => ({ sender, request }))
  );
  return all.toSorted((a, b) => a.request.at - b.request.at);
}

/** How many objects of a kind the senders created, by the answers of the server. @param plural `deployments` */
export function createdBy(senders: readonly Sender[], plural: string): number {
  // A child is created by an apply that says there must be none (ADR 0007); the status tells it from other applies.
  const isCreate = ({ request: { path, answer } }: Work) =>
    new RegExp(`/${plural}(/[^/?]+)?(\\?|$)`).test(path) && answer?.status === 201;
  return workOf(senders).filter(isCreate).length;
}

/** I6. @throws AssertionError that names the write and says what is wrong with it */
export function assertOneWriterAtATime(senders: readonly Sender[], renewDeadlineMs: number): void {
  const claims = senders.flatMap(claimsOf);
  const work = workOf(senders);
  for (const { sender, request } of work) {
    const what = `${sender.name} sent ${request.method} ${request.path}`;
    const own = claims.filter((claim) => claim.sender === sender && claim.at <= request.at);
    const last = own.at(-1);
    assert(last !== undefined, `${what} without ever having held the Lease`);
    const ageMs = Math.round(request.at - last.at);
    assert(ageMs <= renewDeadlineMs + transitMs, `${what} ${ageMs} ms after its last renewal`);
    const isBetween = (at: number) => at > last.at && at < request.at;
    assert(!releasesOf(sender).some(({ at }) => isBetween(at)), `${what} after it had given the Lease up`);
    const usurper = claims.find((claim) => claim.sender !== sender && isBetween(claim.storedAt));
    assert(usurper === undefined, `${what} when ${usurper?.sender.name} held the Lease`);
  }
  assertTermsInOrder(claims, work);
}

/** Who wrote, in the order of time, changes only where the Lease changed hands. */
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
    const { method, path, body, answer } = request;
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

/** A term has one time at which it was acquired. */
function isRenewal({ body }: SeenRequest, before: string): boolean {
  return before !== "" && leaseOf(body).spec?.acquireTime === leaseOf(before).spec?.acquireTime;
}
