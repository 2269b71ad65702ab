/**
 * WrittenObjects: what this process has written and the watch of one cache has not shown yet. With it the CacheWriter
 * puts the response to a write into the store at once, and knows what the events and lists that follow mean.
 *
 *   response -> CacheWriter.writeThrough -> Store, FanOut
 *                        `-> WrittenObjects <- events and lists: are they older, the write itself, or newer?
 *
 * For each key it has the newest state that was written, and the writes that led to it. A write is confirmed, and its entry
 * deleted, when the watch has passed its version. A deleted object is remembered by its UID, which never comes back.
 *
 * Guarantees: a state that is older than a written one does not replace it, whether it comes as an event or in a list. If
 * the write of another client lay between what a writer had read and what it wrote, the writer is notified once: its own
 * write contains a change that it never saw. The response tells it, by a field that was not sent and is different, or an
 * event tells it, or a list that leaves a doubt.
 * Caveats: versions must be comparable; for other servers nothing is written through, and the watch shows each write.
 */
import {
  compareResourceVersions,
  isDeepEqual,
  isJsonObject,
  type KubeObject,
  type ObjectKey,
  type ResourceVersion,
} from "../api/mod.ts";
import { isEvicted } from "./evicted_body.ts";

/** Who wrote a state of an object: a controller of this process, during a reconcile. */
export interface Writer {
  /** The name of the controller. */
  readonly controller: string;
  /** The key that was being reconciled. */
  readonly key: ObjectKey;
  /** The id of the write in the recording of the process. Absent if nothing is recorded. */
  readonly entry?: number;
}

/** A write of this process, beside the state that it led to. */
export interface OwnWrite {
  /** Who wrote. */
  readonly writer: Writer;
  /**
   * The fields that the write named, as a part of the object. If another field of the new state differs from the cached
   * one, another client has written in between. @default the whole object was written
   */
  readonly sent?: unknown;
}

/** What became of a state that was written through. */
export type WriteThroughResult =
  /** It is in the cache. */
  | "stored"
  /** The cache has this version or a newer one. */
  | "known"
  /** The watch has passed the version, and the object does not exist any more. No event will report its deletion. */
  | "missing"
  /** The cache does not contain such objects, or cannot compare their versions. */
  | "outside";

/** One write. */
interface Write<T> {
  readonly version: ResourceVersion;
  readonly writer: Writer;
  /** The cached state that it replaced; undefined if there was none. */
  readonly base: T | undefined;
  /** The writer was notified of a change between `base` and the write. */
  isOvertaken: boolean;
}

/** The written state of one key. */
interface Entry<T> {
  /** The newest written version. */
  version: ResourceVersion;
  /** The state of that version; undefined when the object does not belong to the cache in that state. */
  state: T | undefined;
  readonly writes: Write<T>[];
  /** The watch has never shown the object. */
  isUnseen: boolean;
}

/** Where a state from the server stands relative to what was written. */
type Order = "older" | "same" | "newer" | "unknown";

/** A change of another client that a writer did not see, because its own write followed. */
export interface InterveningChange<T> {
  /** The state that the writer had read, if there was one. */
  readonly old: T | undefined;
  /** The cached state, which contains the change and the write. */
  readonly current: T | undefined;
  /** Who wrote. */
  readonly writer: Writer;
}

/** Most UIDs of deleted objects that are remembered; the oldest are forgotten first. */
const maxDeleted = 10_000;

/** The unconfirmed writes to one cache. */
export class WrittenObjects<T extends KubeObject> {
  /** In the order of the last write, which is nearly the order of the versions. */
  readonly #entries = new Map<ObjectKey, Entry<T>>();
  /** The last known version of each deleted UID. */
  readonly #deleted = new Map<string, ResourceVersion | undefined>();
  readonly #onIntervening: (change: InterveningChange<T>) => void;

  constructor(onIntervening: (change: InterveningChange<T>) => void) {
    this.#onIntervening = onIntervening;
  }

  /** True while there is nothing to consider: the path of each event begins with this check. */
  get isEmpty(): boolean {
    return this.#entries.size === 0 && this.#deleted.size === 0;
  }

  /** Number of keys whose writes the watch has not shown. */
  get unconfirmed(): number {
    return this.#entries.size;
  }

  /** Keys whose cached state may be newer than what the watch has shown. */
  keys(): IterableIterator<ObjectKey> {
    return this.#entries.keys();
  }

  isDeleted(uid: string | undefined): boolean {
    return uid !== undefined && this.#deleted.has(uid);
  }

  /** Who wrote this version, if this process did and the watch has not passed it. */
  writerOf(key: ObjectKey, version: ResourceVersion | undefined): Writer | undefined {
    return this.#entries.get(key)?.writes.find((write) => write.version === version)?.writer;
  }

  /** The written state of a key, and whether there is one. */
  find(key: ObjectKey): { readonly state: T | undefined; readonly version: ResourceVersion } | undefined {
    return this.#entries.get(key);
  }

  /**
   * Records a write, or a state that was read.
   *
   * @returns Notifies the writer, if the new state shows that another client has written in between.
   */
  record(
    key: ObjectKey,
    written: { readonly version: ResourceVersion; readonly state: T | undefined; readonly base: T | undefined },
    own: OwnWrite | undefined,
  ): (() => void) | undefined {
    const { version, state, base } = written;
    const entry: Entry<T> = this.#entries.get(key) ?? { version, state, writes: [], isUnseen: base === undefined };
    entry.version = version;
    entry.state = state;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (own === undefined) return undefined;
    const write: Write<T> = { version, writer: own.writer, base, isOvertaken: false };
    entry.writes.push(write);
    const isExplained = own.sent === undefined || base === undefined || state === undefined ||
      // Without the body of what was read, a change in between cannot be excluded.
      !isEvicted(base) && isExplainedBy(own.sent, base, state);
    return isExplained ? undefined : () => this.#notify(write, state);
  }

  /** Records a write whose response came later than that of a newer write: its event is no change of another client. */
  recordLate(key: ObjectKey, version: ResourceVersion, writer: Writer): void {
    this.#entries.get(key)?.writes.push({ version, writer, base: undefined, isOvertaken: true });
  }

  /** Records that the object with this UID is deleted. `version` is the last that it is known to have had, if any is. */
  recordDeletion(key: ObjectKey, uid: string, version: ResourceVersion | undefined): void {
    // Older states of the name, also of other UIDs, must not come back.
    if (version !== undefined) this.record(key, { version, state: undefined, base: undefined }, undefined);
    this.#deleted.set(uid, version);
    if (this.#deleted.size <= maxDeleted) return;
    for (const oldest of this.#deleted.keys()) return void this.#deleted.delete(oldest);
  }

  /** The key does not belong to the cache any more. */
  forget(key: ObjectKey): void {
    this.#entries.delete(key);
  }

  /** The watch has shown the end of this UID. */
  forgetDeletion(uid: string): void {
    this.#deleted.delete(uid);
  }

  /** Compares an event with what was written to its key, and notifies the writers that it overtook. */
  judge(key: ObjectKey, version: ResourceVersion | undefined): Order {
    const entry = this.#entries.get(key);
    if (entry === undefined || version === undefined) return "unknown";
    const order = compareResourceVersions(version, entry.version);
    if (order === undefined) return "unknown";
    if (order >= 0) {
      this.#entries.delete(key);
      return order === 0 ? "same" : "newer";
    }
    entry.isUnseen = false;
    this.#notifyOvertaken(entry, version);
    return "older";
  }

  /** The server has lost everything that was written: its resource was deleted, or an older state was restored. */
  clear(): void {
    this.#entries.clear();
    this.#deleted.clear();
  }

  /**
   * The watch has passed `version`: all writes up to it are confirmed.
   *
   * @param onGone Called for each object that the watch has passed without ever showing it. It was deleted before a server
   *   that merges events could send it, or a later event will show it.
   */
  advance(version: ResourceVersion, onGone: (key: ObjectKey) => void): void {
    for (const [key, entry] of this.#entries) {
      if ((compareResourceVersions(entry.version, version) ?? 0) > 0) return;
      this.#entries.delete(key);
      if (entry.isUnseen && entry.state !== undefined) onGone(key);
    }
  }

  /**
   * Corrects a full state that was read at `version`: what was written later counts. A writer whose write is older is
   * notified, because a list does not show whether other writes lay between; as is one whose write is newer, if the list
   * does not show what it had read.
   *
   * @param onNewer Called for each key whose written state is newer than the list.
   * @returns The notifications, to be called when the state is in the store.
   */
  reconcileWith(
    version: ResourceVersion,
    listed: Map<ObjectKey, T>,
    onNewer: (key: ObjectKey, state: T | undefined) => void,
  ): readonly (() => void)[] {
    const notifications: (() => void)[] = [];
    for (const [key, entry] of [...this.#entries]) {
      const isNewer = (compareResourceVersions(entry.version, version) ?? 0) > 0;
      const shown = listed.get(key)?.metadata.resourceVersion;
      if (shown !== undefined) entry.isUnseen = false;
      for (const write of entry.writes) {
        if (write.isOvertaken || !mayHaveMissed(write, { version, shown })) continue;
        notifications.push(() => this.#notify(write, isNewer ? entry.state : listed.get(key)));
      }
      if (isNewer) onNewer(key, entry.state);
      else this.#entries.delete(key);
    }
    this.#dropDeleted(version, listed);
    return notifications;
  }

  /** Removes deleted objects from an older list, and forgets those that the list is new enough to know. */
  #dropDeleted(version: ResourceVersion, listed: Map<ObjectKey, T>): void {
    if (this.#deleted.size === 0) return;
    const found = new Set<string>();
    for (const [key, object] of [...listed]) {
      const { uid } = object.metadata;
      if (uid === undefined || !this.#deleted.has(uid)) continue;
      found.add(uid);
      listed.delete(key);
    }
    for (const [uid, last] of this.#deleted) {
      if (found.has(uid) || last === undefined) continue;
      if ((compareResourceVersions(last, version) ?? 0) <= 0) this.#deleted.delete(uid);
    }
  }

  #notifyOvertaken(entry: Entry<T>, version: ResourceVersion): void {
    for (const write of entry.writes) {
      if (!write.isOvertaken && liesBetween(version, write) && !isBySame(entry.writes, version, write.writer)) {
        this.#notify(write, entry.state);
      }
    }
  }

  #notify(write: Write<T>, current: T | undefined): void {
    write.isOvertaken = true;
    this.#onIntervening({ old: write.base, current, writer: write.writer });
  }
}

/** True when the two states differ only in what was sent, and in what every write changes. */
function isExplainedBy(sent: unknown, base: KubeObject, state: KubeObject): boolean {
  return isExplained(sent, withoutBookkeeping(base), withoutBookkeeping(state));
}

function withoutBookkeeping({ metadata, ...rest }: KubeObject): unknown {
  const { resourceVersion: _version, generation: _generation, managedFields: _fields, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

function isExplained(sent: unknown, base: unknown, state: unknown): boolean {
  if (base === state) return true;
  if (!isJsonObject(base) || !isJsonObject(state)) return isDeepEqual(base, state);
  const names = Object.keys(base);
  for (const name of Object.keys(state)) if (!Object.hasOwn(base, name)) names.push(name);
  for (const name of names) {
    const [before, after] = [base[name], state[name]];
    if (before === after) continue;
    const isSent = isJsonObject(sent) && Object.hasOwn(sent, name);
    // A value that was sent explains any change; of a list, nothing smaller is compared.
    if (isSent && (!isJsonObject(sent[name]) || before === undefined || after === undefined)) continue;
    if (!isExplained(isSent ? sent[name] : undefined, before, after)) return false;
  }
  return true;
}

/** True for a version after the one that was read and before the one that was written. */
function liesBetween<T extends KubeObject>(version: ResourceVersion, { version: written, base }: Write<T>): boolean {
  if ((compareResourceVersions(version, written) ?? 0) >= 0) return false;
  const read = base?.metadata.resourceVersion;
  return read === undefined || (compareResourceVersions(version, read) ?? 1) > 0;
}

/** True when a list has passed a change that its writer did not see, or cannot exclude that. */
function mayHaveMissed<T extends KubeObject>(
  write: Write<T>,
  list: { readonly version: ResourceVersion; readonly shown: ResourceVersion | undefined },
): boolean {
  if ((compareResourceVersions(write.version, list.version) ?? 0) <= 0) return true;
  return list.shown !== write.base?.metadata.resourceVersion;
}

/** True when the version is itself a write of `writer`. */
function isBySame<T>(writes: readonly Write<T>[], version: ResourceVersion, writer: Writer): boolean {
  return writes.some((write) =>
    write.version === version && write.writer.key === writer.key && write.writer.controller === writer.controller
  );
}
