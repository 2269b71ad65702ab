/**
 * The keys of the queues for `/debug/keys`: what each waits for, how often it has failed, and why. Keys that failed and are not
 * retried are listed, too, although no queue has them.
 *
 * Guarantees: pages are bounded in keys and bytes; a key that is in the state while all pages are read is on exactly one of
 * them; error texts are without secrets.
 */
import type { ObjectKey } from "../../api/mod.ts";
import { type Cause, parkMs, type StoppedKey } from "../../controller/mod.ts";
import { redactText } from "../../observe/mod.ts";
import type { QueueEntry } from "../../queue/mod.ts";
import type { DebugMember } from "./controller_states.ts";

/**
 * The states by which keys can be asked for:
 *
 * - `failing`: failed when they were reconciled last, whatever they do now; those that are `stopped` included
 * - `stopped`: failed and are not retried until something changes
 * - `parked`: not reconciled for a while, because other clients revert what the controller writes
 * - `delayed`: wait because the controller asked for it with requeueAfter
 * - `waiting`: wait until a time, after a failure or `delayed`
 * - `queued`: ready, and wait for a worker
 * - `running`: are reconciled now
 */
export const keyStates = ["failing", "stopped", "parked", "delayed", "waiting", "queued", "running"] as const;
/** One of {@link keyStates}. */
export type KeyStateName = (typeof keyStates)[number];

/** One key. */
export interface KeyState {
  readonly controller: string;
  readonly key: string;
  readonly state: "queued" | "running" | "waiting" | "parked" | "stopped";
  /** Since when; or of a key that waits, until when: milliseconds since the epoch. */
  readonly at: number;
  /** When it is reconciled next, at the latest: milliseconds since the epoch. Absent if it is queued, or waits for a change. */
  readonly nextAt?: number;
  readonly priority: number;
  readonly lane: string;
  /** Failures in a row. */
  readonly retries: number;
  /** Why it is parked, or its last error; at most 1,000 characters. */
  readonly reason?: string;
  /** Why it is in the queue, oldest first: `updated deployments.apps default/web`. */
  readonly causes: readonly string[];
}

/** Which keys are asked for. */
export interface KeysQuestion {
  /** Keys that are in any of these states; none: all keys. */
  readonly states: readonly KeyStateName[];
  /** The most keys of a page. */
  readonly limit: number;
  /** The last key of the page before. */
  readonly after?: KeyPosition;
}

/** The place of a key in the order of all pages: by controller, then by key. */
export interface KeyPosition {
  readonly controller: string;
  readonly key: string;
}

/** A page of keys. */
export interface KeysPage {
  readonly keys: readonly KeyState[];
  /** How many keys follow on other pages, at this moment. */
  readonly remaining: number;
}

const maxReasonChars = 1_000;

/** What is known of a key before it is described: a queue has it, or it is stopped. */
type Listed = KeyPosition & ({ readonly entry: QueueEntry<ObjectKey, Cause> } | { readonly stopped: StoppedKey });

/** Lists one page. Linear: only the keys of the page are sorted and described. */
export function listKeys(members: readonly DebugMember[], { states, limit, after }: KeysQuestion): KeysPage {
  const page = new FirstKeys(limit);
  for (const member of members) {
    for (const one of keysOf(member)) {
      if (states.length > 0 && !states.some((state) => isIn(one, state))) continue;
      if (after === undefined || compare(one, after) > 0) page.add(one);
    }
  }
  return { keys: page.sorted().map(describe), remaining: Math.max(0, page.size - limit) };
}

/** Collects the first `limit` keys of all that are added, in any order. */
class FirstKeys {
  readonly #limit: number;
  #kept: Listed[] = [];
  /** Keys after it are not among the first. */
  #last: Listed | undefined;
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** How many were added. */
  get size(): number {
    return this.#size;
  }

  add(one: Listed): void {
    this.#size++;
    if (this.#last !== undefined && compare(one, this.#last) > 0) return;
    this.#kept.push(one);
    // A page is sorted once for each page of better keys, which a random order seldom has.
    if (this.#kept.length < 2 * this.#limit) return;
    this.#kept = this.sorted();
    this.#last = this.#kept.at(-1);
  }

  sorted(): Listed[] {
    return this.#kept.toSorted(compare).slice(0, this.#limit);
  }
}

function keysOf({ definition: { name: controller }, queue, stoppedKeys }: DebugMember): readonly Listed[] {
  const queued = (queue?.snapshot() ?? []).map((entry) => ({ controller, key: entry.key, entry }));
  const stopped = stoppedKeys();
  if (stopped.length === 0) return queued;
  // A stopped key that was added again is in the queue, too.
  const known = new Set(queued.map(({ key }) => key));
  return [
    ...queued,
    ...stopped.filter(({ key }) => !known.has(key)).map((one) => ({ controller, key: one.key, stopped: one })),
  ];
}

/** By code units: an order that is the same in every process. */
function compare(one: KeyPosition, other: KeyPosition): number {
  if (one.controller !== other.controller) return one.controller < other.controller ? -1 : 1;
  return one.key === other.key ? 0 : one.key < other.key ? -1 : 1;
}

function isIn(listed: Listed, name: KeyStateName): boolean {
  if ("stopped" in listed) return name === "stopped" || name === "failing";
  const { state, retries } = listed.entry;
  switch (name) {
    case "failing":
      return retries > 0;
    case "stopped":
      return false;
    case "running":
      return state.kind === "running" || state.kind === "runningDirty";
    case "delayed":
      return state.kind === "waiting" && retries === 0;
    case "waiting":
    case "queued":
    case "parked":
      return state.kind === name;
    default:
      return name satisfies never;
  }
}

function describe(listed: Listed): KeyState {
  const { controller, key } = listed;
  if ("stopped" in listed) {
    const { error, at } = listed.stopped;
    return {
      controller,
      key,
      state: "stopped",
      at,
      priority: 0,
      lane: "",
      retries: 0,
      reason: shown(error),
      causes: [],
    };
  }
  const { state, priority, lane, retries, causes, dueAt } = listed.entry;
  const error = causes.findLast(({ change }) => change === "retry")?.error;
  const reason = state.kind === "parked" ? state.reason : error;
  return {
    controller,
    key,
    ...timesOf(state, dueAt),
    priority,
    lane,
    retries,
    ...(reason === undefined ? {} : { reason: shown(reason) }),
    causes: causes.map(({ change, source, key }) => `${change} ${source} ${key}`),
  };
}

function timesOf(
  state: QueueEntry<ObjectKey, Cause>["state"],
  dueAt: number | undefined,
): Pick<KeyState, "state" | "at" | "nextAt"> {
  const next = dueAt === undefined ? {} : { nextAt: dueAt };
  switch (state.kind) {
    case "queued":
      return { state: "queued", at: state.addedAt, ...next };
    case "running":
    case "runningDirty":
      return { state: "running", at: state.startedAt, ...next };
    case "waiting":
      return { state: "waiting", at: state.dueAt, nextAt: state.dueAt };
    case "parked":
      return { state: "parked", at: state.parkedAt, nextAt: state.parkedAt + parkMs };
    default:
      return state satisfies never;
  }
}

/** Masked first: half of a secret would not be recognized. */
function shown(reason: string): string {
  return redactText(reason).slice(0, maxReasonChars);
}
