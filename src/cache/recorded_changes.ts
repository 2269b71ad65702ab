/**
 * RecordedChanges: the entries of one cache in the recording of the process (`observe/recording`): what changed and how the
 * process learned it, full states, and whether the cache follows the server.
 *
 *   CacheWriter, Reflector -> RecordedChanges -> Recorder
 *
 * The id of the entry of a change goes to the listeners with the change (`ChangeInfo.entry`), and from there to the queue.
 */
import type { FieldManager, KubeObject, ObjectKey, ResourceVersion } from "../api/mod.ts";
import { changedFields, type EntryId, errorText, type ObjectRef, type Plain, type Recorder } from "../observe/mod.ts";
import { isEvicted } from "./evicted_body.ts";
import type { ReflectorStatus } from "./status.ts";
import type { Writer } from "./written_objects.ts";

/** How a change came into the cache. */
export interface Origin {
  readonly via: "watch" | "list" | "response" | "read";
  /** Who wrote it, if this process did. */
  readonly writer?: Writer;
  /** Who wrote the newest state, as the watch says. */
  readonly managers?: readonly FieldManager[];
  /** The object as the server sent it, before the transform. */
  readonly sent?: KubeObject;
  /** The entry of the list. */
  readonly list?: EntryId;
}

/** Options of {@link RecordedChanges}. */
export interface RecordedChangesOptions {
  readonly recorder: Recorder;
  /** The name of the cache. */
  readonly cache: string;
  /** The kind of its objects, without a key. */
  readonly resource: ObjectRef;
}

/** At least so many changes are remembered until a response may come, and at most twice as many. */
const minShown = 1_024;

/** What the watch has shown. */
type Shown = Map<ObjectKey, { readonly version: string; readonly entry: EntryId }>;
/** The plural of Secrets, whose data is not recorded. */
const secrets = "secrets";
const none: readonly EntryId[] = Object.freeze([]);

/** Records the changes of one cache. */
export class RecordedChanges {
  readonly #recorder: Recorder;
  readonly #cache: string;
  readonly #resource: ObjectRef;
  /** The newest changes of the watch, by key: the response to a write may come after the watch has shown it. */
  #shown: Shown = new Map();
  /** The changes before those: dropped at once, because dropping one by one costs more than all else here. */
  #shownBefore: Shown = new Map();
  #isFollowing: boolean | undefined;

  constructor({ recorder, cache, resource }: RecordedChangesOptions) {
    this.#recorder = recorder;
    this.#cache = cache;
    this.#resource = resource;
  }

  /** Records a change that the listeners get. One of `old` and `current` may be undefined. */
  changed(
    key: ObjectKey,
    old: KubeObject | undefined,
    current: KubeObject | undefined,
    { via, writer, managers, sent, list }: Origin,
  ): EntryId {
    const object = current ?? old;
    const { uid, resourceVersion } = (sent ?? object)?.metadata ?? {};
    const by = managers ?? newestOf(sent);
    const cause = writer?.entry ?? list;
    const difference = old === undefined || current === undefined || isEvicted(old) || isEvicted(current)
      ? undefined
      : changedFields(old, current, this.#resource.resource === secrets);
    const entry = this.#recorder.record({
      kind: "change",
      via,
      change: old === undefined ? "added" : current === undefined ? "deleted" : "updated",
      causes: cause === undefined ? none : [cause],
      object: this.#refOf(key),
      uid,
      resourceVersion,
      oldVersion: difference === undefined ? undefined : old?.metadata.resourceVersion,
      fields: difference?.fields,
      moreFields: difference === undefined || difference.more === 0 ? undefined : difference.more,
      by,
      traceparent: old === undefined ? traceparentOf(current) : undefined,
      cache: this.#nameForStates,
      state: this.#stateOf(current ?? sent),
    });
    if (via === "watch" && resourceVersion !== undefined) this.#remember(key, resourceVersion, entry);
    return entry;
  }

  /** Records that a change which the watch has shown before was an own write: the response has come now. */
  confirmed(key: ObjectKey, object: KubeObject, { entry: write }: Writer): void {
    const shown = this.#shown.get(key) ?? this.#shownBefore.get(key);
    const { uid, resourceVersion } = object.metadata;
    if (write === undefined || shown === undefined || shown.version !== resourceVersion) return;
    this.#recorder.record({
      kind: "change",
      via: "response",
      change: "updated",
      isEcho: true,
      causes: [shown.entry, write],
      object: this.#refOf(key),
      uid,
      resourceVersion,
    });
  }

  #remember(key: ObjectKey, version: string, entry: EntryId): void {
    if (this.#shown.size === minShown) {
      this.#shownBefore = this.#shown;
      this.#shown = new Map();
    }
    this.#shown.set(key, { version, entry });
  }

  /** Records an event of the watch that shows an own write, or a state before one. */
  echoed(key: ObjectKey, object: KubeObject, write: Writer | undefined, managers?: readonly FieldManager[]): void {
    const { uid, resourceVersion } = object.metadata;
    const by = managers ?? newestOf(object);
    this.#recorder.record({
      kind: "change",
      via: "watch",
      change: "updated",
      isEcho: true,
      causes: write?.entry === undefined ? none : [write.entry],
      object: this.#refOf(key),
      uid,
      resourceVersion,
      by,
      cache: this.#nameForStates,
      state: this.#stateOf(object),
    });
  }

  /** Records an event that shows a deletion which the cache knew. */
  echoedDeletion(key: ObjectKey, object: KubeObject): void {
    const { uid, resourceVersion } = object.metadata;
    this.#recorder.record({
      kind: "change",
      via: "watch",
      change: "deleted",
      isEcho: true,
      causes: none,
      object: this.#refOf(key),
      uid,
      resourceVersion,
      cache: this.#nameForStates,
      state: this.#stateOf(object),
    });
  }

  /** Records a full state, and each of its objects if the recording keeps states. */
  listed(version: ResourceVersion, objects: ReadonlyMap<ObjectKey, KubeObject>, isInitial: boolean): EntryId {
    const list = this.#recorder.record({
      kind: "list",
      cache: this.#cache,
      causes: none,
      object: this.#resource,
      resourceVersion: version,
      objects: objects.size,
      isInitial,
    });
    if (!isInitial || !this.#recorder.keepsStates) return list;
    for (const [key, object] of objects) {
      const { uid, resourceVersion } = object.metadata;
      this.#recorder.record({
        kind: "change",
        via: "list",
        change: "added",
        isInitial,
        causes: [list],
        object: this.#refOf(key),
        uid,
        resourceVersion,
        cache: this.#cache,
        state: object as unknown as Plain,
      });
    }
    return list;
  }

  /** Records that the cache follows the server, or waits, if that is news. */
  became(status: ReflectorStatus): EntryId | undefined {
    if (status.kind === "watching") {
      const isNews = this.#isFollowing !== true;
      this.#isFollowing = true;
      return isNews ? this.#recordCache({ state: "following" }) : undefined;
    }
    if (status.kind !== "waiting") return undefined;
    this.#isFollowing = false;
    const { reason, error, attempts, nextAttemptAt: until } = status;
    return this.#recordCache({ state: "waiting", reason, error: errorText(error), attempts, until });
  }

  #recordCache(entry: {
    readonly state: "following" | "waiting";
    readonly reason?: string;
    readonly error?: string;
    readonly attempts?: number;
    readonly until?: number;
  }): EntryId {
    return this.#recorder.record({ kind: "cache", cache: this.#cache, causes: none, object: this.#resource, ...entry });
  }

  #refOf(key: string): ObjectRef {
    const { resource, kind } = this.#resource;
    return { resource, kind, key };
  }

  #stateOf(object: KubeObject | undefined): Plain | undefined {
    return this.#recorder.keepsStates ? object as unknown as Plain : undefined;
  }

  /** Only replay asks which cache it was. */
  get #nameForStates(): string | undefined {
    return this.#recorder.keepsStates ? this.#cache : undefined;
  }
}

/** The managers that wrote last, of an object whose managedFields were kept. */
function newestOf(object: KubeObject | undefined): readonly FieldManager[] | undefined {
  const managed = object?.metadata.managedFields;
  if (managed === undefined) return undefined;
  const newest = managed.reduce((latest, { time = "" }) => time > latest ? time : latest, "");
  return managed.filter(({ time = "" }) => time === newest).map(({ manager, operation, subresource, time }) => ({
    manager,
    operation,
    ...(subresource === undefined ? {} : { subresource }),
    time,
  }));
}

/** The trace that an annotation of an object names: `traceparent`, also with a prefix such as `trace.example.dev/`. */
function traceparentOf(object: KubeObject | undefined): string | undefined {
  const annotations = object?.metadata.annotations;
  for (const name in annotations) {
    if (name !== "traceparent" && !name.endsWith("/traceparent")) continue;
    // Any other text stays out of the recording: it may be a secret.
    const found = traceparentPattern.exec(annotations[name] ?? "")?.[1];
    if (found !== undefined) return found;
  }
  return undefined;
}

/** W3C Trace Context: version, trace, span and flags. A later version may append more. */
const traceparentPattern = /^([0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2})(?:-|$)/;
