/**
 * EventExpiry: Events are deleted an hour after their last write, as with the default `--event-ttl` of kube-apiserver. Without
 * it a server that runs for days would fill with them.
 *
 * Guarantees: it needs no timer, so an idle server stays idle. Its work grows with the number of expired Events only.
 *
 * Caveats: it deletes before a request is handled, so the watches of an idle server see the deletions with the next request.
 */
import type { Clock } from "../../async/mod.ts";
import { type Cursor, type ObjectStorage, storageKey } from "../storage/mod.ts";

/** Options of {@link EventExpiry}. */
export interface EventExpiryOptions {
  readonly storage: ObjectStorage;
  readonly clock: Clock;
}

const collection = "events";

/** One hour, as --event-ttl of kube-apiserver. */
const ttlMs = 3_600_000;

/** The most deletions before one request, a few milliseconds of work. */
const maxDeletions = 1_000;

/** A write of an Event. */
interface Written {
  readonly namespace: string;
  readonly name: string;
  readonly at: number;
}

/** The writes of Events, and when they expire. It lives as long as the storage. */
export class EventExpiry {
  readonly #storage: ObjectStorage;
  readonly #clock: Clock;
  readonly #cursor: Cursor;
  /** By key: an Event has only its last write here, in the order of the writes. */
  readonly #writes = new Map<string, Written>();

  constructor({ storage, clock }: EventExpiryOptions) {
    this.#storage = storage;
    this.#clock = clock;
    // Events that exist already count as written now.
    storage.snapshot(collection)?.scan("", ({ namespace, name }) => {
      this.#note(namespace, name);
      return true;
    });
    const onChange = () => this.#readChanges();
    this.#cursor = storage.watch(collection, { namespace: "", after: storage.revision, onChange });
    this.#readChanges();
  }

  /** Deletes the Events that have expired. */
  readonly run = (): void => {
    const last = this.#clock.now() - ttlMs;
    let left = maxDeletions;
    for (const [key, { namespace, name, at }] of this.#writes) {
      if (at > last || left-- === 0) return;
      this.#writes.delete(key);
      const stored = this.#storage.find(collection, namespace, name);
      if (stored !== undefined) this.#storage.delete(collection, stored);
    }
  };

  #readChanges(): void {
    for (;;) {
      const change = this.#cursor.read();
      if (change === "none" || change === "expired") return;
      const { namespace, name } = change.current;
      this.#writes.delete(storageKey(namespace, name));
      if (change.kind !== "deleted") this.#note(namespace, name);
    }
  }

  #note(namespace: string, name: string): void {
    this.#writes.set(storageKey(namespace, name), { namespace, name, at: this.#clock.now() });
  }
}
