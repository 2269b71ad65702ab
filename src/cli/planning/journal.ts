/**
 * Journal: what is written to the API server of a plan, by whom, and what each object was before. It is told of every change
 * in the step of the write itself, so no change is missed or attributed to another part.
 *
 * The simulated cluster writes to the same objects as the controllers, for example the status of a Deployment. So each object
 * has two results: `after` is its real state at the end, `own` is its first state with only the changes of controllers and
 * users in it.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { StorageChange } from "../../apiserver/mod.ts";
import {
  differenceOf,
  isSameApartFrom,
  type JsonObject,
  metadataText,
  ownerUids,
  stateHash,
  withDifference,
} from "./object_state.ts";

/** Who writes. */
export type Origin =
  | {
    readonly kind: "controller";
    readonly controller: string;
    /** The kind and the key of the reconciled object; absent for writes outside of a reconcile. */
    readonly primary?: { readonly kind: string; readonly key: string };
  }
  /** The files of `--files`, or the new definitions of `--crds`. */
  | { readonly kind: "files" | "crds" }
  | { readonly kind: "cluster" };

/** One object that was written. */
export interface ObjectRecord {
  /** `deployments.apps`. */
  readonly collection: string;
  /** `default/web`. */
  readonly key: string;
  /** The state in the cluster; undefined when it did not exist. */
  readonly before: JsonObject | undefined;
  /** The last state; undefined when it is gone. */
  after: JsonObject | undefined;
  /** The state with the changes of controllers and users only; undefined when they deleted it. */
  own: JsonObject | undefined;
  /** Who wrote it, apart from the cluster, in the order of the first writes. */
  readonly origins: Map<string, Origin>;
}

/** Writes that do not come to rest. */
export interface EndlessWrites {
  readonly origin: Origin;
  readonly collection: string;
  readonly key: string;
  readonly writes: number;
  /** True when the object had the same content again and again. */
  readonly isRepeating: boolean;
}

/** Limits of a {@link Journal}. */
export interface JournalOptions {
  /** Writes to one object by one reconciled object, after which they count as endless. */
  readonly maxWrites: number;
  /** How often one object may get the same content again. */
  readonly maxRepetitions: number;
}

/** Records in the history of every cluster that say nothing about its state. */
const ignored: ReadonlySet<string> = new Set(["events", "events.events.k8s.io", "leases.coordination.k8s.io"]);

/** What one origin did to one object. */
interface Tally {
  readonly origin: Origin;
  readonly collection: string;
  readonly key: string;
  writes: number;
  /** How often each content was written. */
  readonly contents: Map<number, number>;
  lastAt: number;
}

/** Records changes from {@link start} on. */
export class Journal {
  readonly #options: JournalOptions;
  readonly #origins = new AsyncLocalStorage<Origin>();
  readonly #now: () => number;
  readonly #records = new Map<string, ObjectRecord>();
  readonly #tallies = new Map<string, Tally>();
  readonly #endless = new Map<string, EndlessWrites>();
  /** The UIDs of all objects that ever existed here, with their collection and key. */
  readonly #uids = new Map<string, string>();
  /** Objects of the snapshot that nobody has changed. */
  readonly #untouched = new Set<string>();
  #isStarted = false;
  #ownWrites = 0;

  /** @param now the virtual time in milliseconds */
  constructor(now: () => number, options: JournalOptions) {
    this.#now = now;
    this.#options = options;
  }

  /** Ends the snapshot: what is written from now on is the plan. */
  start(): void {
    this.#isStarted = true;
  }

  /** Runs `work`; all its writes, also those after a pause, are of `origin`. */
  as<T>(origin: Origin, work: () => T): T {
    return this.#origins.run(origin, work);
  }

  /** As {@link as}, unless the caller already has an origin. */
  asIfNone<T>(origin: Origin, work: () => T): T {
    return this.#origins.getStore() === undefined ? this.#origins.run(origin, work) : work();
  }

  /** The number of writes by controllers and users. */
  get ownWrites(): number {
    return this.#ownWrites;
  }

  /** The objects that were written, in the order of their first writes. */
  get records(): readonly ObjectRecord[] {
    return [...this.#records.values()];
  }

  /** The writes that do not come to rest. */
  get endless(): readonly EndlessWrites[] {
    return [...this.#endless.values()];
  }

  /** True when the writes of a reconciled object do not come to rest. */
  isEndless(origin: Origin): boolean {
    return this.#endless.has(nameOf(origin));
  }

  /** The objects that are still written after this time. */
  writtenSince(at: number): readonly EndlessWrites[] {
    return [...this.#tallies.values()].filter(({ lastAt }) => lastAt >= at).map((tally) => endlessOf(tally, false));
  }

  /** True for an object that existed in the snapshot or was created since. */
  hasSeen(uid: string): boolean {
    return this.#uids.has(uid);
  }

  /** True for an object of the snapshot that nobody has changed, apart from its status. */
  isUntouched(collection: string, key: string): boolean {
    return this.#untouched.has(idOf(collection, key));
  }

  /** The record of an object by its UID, if it was written. */
  recordOf(uid: string): ObjectRecord | undefined {
    return this.#records.get(this.#uids.get(uid) ?? "");
  }

  /** Called by the storage with each change. */
  readonly onChange = ({ collection, change }: StorageChange): void => {
    const { kind, current, previous } = change;
    const state = kind === "deleted" ? undefined : current.object;
    const id = idOf(collection, current.key);
    const uid = metadataText(current.object, "uid");
    if (uid !== undefined) this.#uids.set(uid, id);
    if (!this.#isStarted) {
      this.#untouched.add(id);
      return;
    }
    if (ignored.has(collection)) return;
    const old = previous?.object;
    if (!isSameApartFrom(old, state, "status")) this.#touch(id, state ?? old);
    const record = this.#records.get(id) ??
      { collection, key: current.key, before: old, after: old, own: old, origins: new Map<string, Origin>() };
    this.#records.set(id, record);
    record.after = state;
    const origin = this.#origins.getStore() ?? { kind: "cluster" };
    if (origin.kind === "cluster") return;
    // A new object under the name of a deleted one has nothing of its state.
    record.own = state === undefined || old === undefined
      ? state
      : withDifference(record.own, differenceOf(old, state));
    record.origins.set(nameOf(origin), origin);
    this.#ownWrites++;
    this.#count(origin, record, state);
  };

  /** Marks the object and those that control it: their controllers have something to do now. */
  #touch(id: string, object: JsonObject | undefined): void {
    this.#untouched.delete(id);
    for (const owner of ownerUids(object)) this.#untouched.delete(this.#uids.get(owner) ?? "");
  }

  #count(origin: Origin, { collection, key }: ObjectRecord, state: JsonObject | undefined): void {
    if (origin.kind !== "controller") return;
    const name = nameOf(origin);
    const id = `${name} ${idOf(collection, key)}`;
    const tally = this.#tallies.get(id) ??
      { origin, collection, key, writes: 0, contents: new Map<number, number>(), lastAt: 0 };
    this.#tallies.set(id, tally);
    const content = stateHash(state);
    const repetitions = tally.contents.get(content) ?? 0;
    tally.contents.set(content, repetitions + 1);
    tally.writes++;
    tally.lastAt = this.#now();
    const isRepeating = repetitions >= this.#options.maxRepetitions;
    if (!isRepeating && tally.writes < this.#options.maxWrites) return;
    if (!this.#endless.has(name)) this.#endless.set(name, endlessOf(tally, isRepeating));
  }
}

/** Identifies an origin: `foo default/web`. */
export function nameOf(origin: Origin): string {
  if (origin.kind !== "controller") return origin.kind;
  return `controller ${origin.controller} ${origin.primary?.key ?? ""}`;
}

function endlessOf({ origin, collection, key, writes }: Tally, isRepeating: boolean): EndlessWrites {
  return { origin, collection, key, writes, isRepeating };
}

function idOf(collection: string, key: string): string {
  return `${collection} ${key}`;
}
