/**
 * RecordedController: the entries of one controller in the recording of the process (`observe/recording`). It carries the ids
 * of entries from one step to the next, so that each has its causes:
 *
 *   ChangeInfo.entry -> enqueue -> Cause.entry -> (queue) -> reconcile-start -> read, write, event, reconcile-end
 *                                                                 `-> write -> Writer.entry -> change (the response)
 *
 * Nothing of this exists while nothing is recorded: Controller and its workers have an optional RecordedController.
 */
import { keyOf, type ObjectKey, type Resource, resourceName } from "../api/mod.ts";
import type { Clock } from "../async/mod.ts";
import type { ListFilter } from "../cache/mod.ts";
import {
  ApiError,
  isNotFound,
  type RawReport,
  type ReadReport,
  type WriteObserver,
  type WriteReport,
} from "../client/mod.ts";
import {
  type EnqueueEntry,
  type EntryId,
  errorText,
  type FailedAnswer,
  type ObjectRef,
  type Plain,
  type ReconcileEndEntry,
  type Recorder,
  type WriteAnswer,
} from "../observe/mod.ts";
import type { QueueItem, QueueObserver } from "../queue/mod.ts";
import type { CacheReader } from "./caches.ts";
import type { NotControlledError } from "./owner_errors.ts";
import type { Change } from "./predicate.ts";
import type { Cause, EventNote, EventSink } from "./request.ts";

/** Options of a {@link RecordedController}. */
export interface RecordedControllerOptions {
  readonly recorder: Recorder;
  /** The name of the controller. */
  readonly controller: string;
  readonly clock: Clock;
  /** Milliseconds for which a key is parked. */
  readonly parkMs: number;
  /** The kinds that the controller knows. */
  readonly kinds: readonly Resource[];
  /** The lane of a key, if its queue has lanes. */
  readonly laneOf: ((key: ObjectKey) => string) | undefined;
}

/** How an attempt ended, beyond its Outcome. */
type EndOutcome = Pick<ReconcileEndEntry, "outcome" | "afterMs"> & { readonly error?: unknown };

const none: readonly EntryId[] = Object.freeze([]);

export class RecordedController {
  readonly #options: RecordedControllerOptions;

  constructor(options: RecordedControllerOptions) {
    this.#options = options;
  }

  /** Records what the controller decided about a change. @param key the key, if the change concerns one */
  enqueued(
    resource: Resource,
    role: "for" | "owns" | "watches",
    change: Change,
    decision: EnqueueEntry["decision"],
    key?: ObjectKey,
  ): EntryId {
    return this.enqueuedBy(refOf(resource, keyOf(change.object)), role, change.entry, decision, key);
  }

  /** As {@link enqueued}, for what is not a change of an object. @param cause the entry that led to it */
  enqueuedBy(
    object: ObjectRef,
    role: EnqueueEntry["role"],
    cause: EntryId | undefined,
    decision: EnqueueEntry["decision"],
    key?: ObjectKey,
  ): EntryId {
    const { recorder, controller } = this.#options;
    return recorder.record({
      kind: "enqueue",
      causes: cause === undefined ? none : [cause],
      controller,
      key,
      object,
      role,
      decision,
    });
  }

  /** Records an error outside of a reconcile. @param object what it concerns, if it is one object */
  failed(what: string, error: unknown, object?: ObjectRef): EntryId {
    const { recorder, controller } = this.#options;
    const concerned = object === undefined ? {} : { object };
    return recorder.record({ kind: "error", causes: none, controller, what, error: errorText(error), ...concerned });
  }

  /** Records that a worker has taken a key. */
  begin(item: QueueItem<ObjectKey, Cause>, retries: number): RecordedAttempt {
    const { recorder, controller, laneOf } = this.#options;
    const { key, waitedMs, priority, causes, causesDropped } = item;
    const start = recorder.record({
      kind: "reconcile-start",
      causes: entriesOf(causes),
      controller,
      key,
      waitedMs,
      priority,
      lane: laneOf?.(key),
      retries,
      causesDropped: causesDropped === 0 ? undefined : causesDropped,
    });
    return new RecordedAttempt(this.#options, key, start);
  }

  /** Records what the queue decides. */
  queueObserver(): QueueObserver<ObjectKey, Cause> {
    const { recorder, controller, clock, parkMs } = this.#options;
    const base = { kind: "queue", controller } as const;
    return {
      delayed: (key, delayMs, cause, retries) => {
        const decision = retries === undefined ? "delayed" : "backoff";
        const causes = cause?.entry === undefined ? none : [cause.entry];
        const entry = recorder.record({ ...base, key, causes, decision, delayMs, retries });
        return cause === undefined ? undefined : { ...cause, entry };
      },
      parked: (key, reason) =>
        recorder.record({ ...base, key, causes: none, decision: "parked", reason, until: clock.now() + parkMs }),
      unparked: (key) => void recorder.record({ ...base, key, causes: none, decision: "unparked" }),
      withdrawn: (key) => void recorder.record({ ...base, key, causes: none, decision: "withdrawn" }),
    };
  }
}

/** The entries of one attempt to reconcile one key. */
export class RecordedAttempt {
  readonly #recorder: Recorder;
  readonly #clock: Clock;
  readonly #controller: string;
  readonly #kinds: readonly Resource[];
  readonly #key: ObjectKey;
  readonly #causes: readonly EntryId[];
  readonly #startedAt: number;
  /** What was read, so that it is recorded once. */
  readonly #seen = new Set<string>();
  /** The last write of each object. */
  readonly #writes = new Map<string, EntryId>();

  constructor({ recorder, controller, clock, kinds }: RecordedControllerOptions, key: ObjectKey, start: EntryId) {
    this.#recorder = recorder;
    this.#clock = clock;
    this.#controller = controller;
    this.#kinds = kinds;
    this.#key = key;
    this.#causes = [start];
    this.#startedAt = clock.monotonic();
  }

  /** Records the end. @returns its id, the cause of a retry or a requeue */
  end(end: EndOutcome): EntryId {
    const { error, ...outcome } = end;
    const durationMs = this.#clock.monotonic() - this.#startedAt;
    return this.#recorder.record({
      kind: "reconcile-end",
      ...this.#base,
      durationMs,
      ...outcome,
      error: "error" in end ? errorText(error) : undefined,
    });
  }

  /** Reads of the caches, recorded. */
  caches(caches: CacheReader): CacheReader {
    return {
      find: (resource, key) => {
        const object = caches.find(resource, key);
        this.#read(resource, key, metadataOf(object)?.resourceVersion);
        return object;
      },
      list: (resource, filter) => {
        const objects = caches.list(resource, filter);
        this.#listed(resource, filter, objects.length);
        return objects;
      },
      whyInactive: (resource) => caches.whyInactive?.(resource),
    };
  }

  /** Events, recorded. */
  events(events: EventSink): EventSink {
    return {
      record: (note: EventNote) => {
        const { type, reason, regarding } = note;
        const known = this.#kinds.find(({ kind }) => kind === regarding.kind);
        const resource = known === undefined ? "" : resourceName(known);
        const object = { resource, kind: regarding.kind ?? "", key: keyOf(regarding) };
        const entry = this.#recorder.record({ kind: "event", ...this.#base, type, reason, note: note.note, object });
        events.record({ ...note, entry });
      },
    };
  }

  /** The header of its requests that names its trace; undefined if it is in none. */
  traceparent(): string | undefined {
    const [start] = this.#causes;
    return start === undefined ? undefined : this.#recorder.traceparentOf?.(start);
  }

  /** Requests to the server, recorded: the part of the observer of a client that is for a recording. */
  requests(): Pick<WriteObserver, "onAnswer" | "onRead" | "onRaw"> {
    return {
      onAnswer: (report) => this.#wrote(report),
      onRead: (report) => this.#readLive(report),
      onRaw: (report) => this.#sent(report),
    };
  }

  /** The entry of the last write of an object. */
  writeOf(resource: Resource, key: string): EntryId | undefined {
    return this.#writes.get(`${resourceName(resource)} ${key}`);
  }

  #wrote(report: WriteReport): EntryId {
    const entry = this.#recordWrite(report);
    this.#writes.set(`${resourceName(report.resource)} ${report.key}`, entry);
    return entry;
  }

  #recordWrite(report: WriteReport): EntryId {
    const { verb, resource, key, subresource, fieldManager, path, contentType, body, durationMs, object } = report;
    return this.#recorder.record({
      kind: "write",
      ...this.#base,
      verb,
      object: refOf(resource, key),
      subresource,
      fieldManager,
      path: verb === "deletecollection" ? path : undefined,
      contentType,
      bodyText: body,
      answer: answerOf(report),
      durationMs,
      state: this.#recorder.keepsStates ? object as unknown as Plain : undefined,
    });
  }

  /** A live read is recorded each time: the next one may find something else. */
  #readLive({ resource, key, subresource, path, durationMs, found, error }: ReadReport): void {
    const isMissing = key !== undefined && isNotFound(error);
    const objects = Array.isArray(found) ? found.length : undefined;
    const version = objects === undefined ? metadataOf(found)?.resourceVersion : undefined;
    this.#recorder.record({
      kind: "read",
      ...this.#base,
      from: "server",
      object: refOf(resource, key),
      subresource,
      path: key === undefined ? path : undefined,
      resourceVersion: version,
      objects,
      failure: error === undefined || isMissing ? undefined : failureOf(error),
      durationMs,
      state: this.#recorder.keepsStates ? found as unknown as Plain : undefined,
    });
  }

  #sent({ method, path, contentType, body, durationMs, text, error }: RawReport): void {
    this.#recorder.record({
      kind: "request",
      ...this.#base,
      method,
      path,
      contentType,
      bodyText: body,
      answer: error === undefined ? { kind: "answered" } : failureOf(error),
      durationMs,
      state: this.#recorder.keepsStates && text !== undefined ? jsonOrText(text) : undefined,
    });
  }

  /** Records that a foreign object was left alone. The reconciler may handle the error, so the end does not always have it. */
  leftAlone(resource: Resource, error: NotControlledError): void {
    const object = refOf(resource, keyOf(error.object));
    const what = `write of ${resourceName(resource)}`;
    this.#recorder.record({
      kind: "error",
      ...this.#base,
      what,
      reason: "not-controlled",
      error: errorText(error),
      object,
    });
  }

  get #base() {
    return { causes: this.#causes, controller: this.#controller, key: this.#key };
  }

  #read(resource: Resource, key: string, version: string | undefined): void {
    const name = resourceName(resource);
    const id = `${name} ${key} ${version}`;
    if (this.#seen.has(id)) return;
    this.#seen.add(id);
    this.#recorder.record({
      kind: "read",
      ...this.#base,
      from: "cache",
      object: { resource: name, kind: resource.kind, key },
      resourceVersion: version,
    });
  }

  #listed(resource: Resource, { namespace }: ListFilter, objects: number): void {
    const name = resourceName(resource);
    const id = `${name} in ${namespace} ${objects}`;
    if (this.#seen.has(id)) return;
    this.#seen.add(id);
    const object = { resource: name, kind: resource.kind };
    this.#recorder.record({ kind: "read", ...this.#base, from: "cache", object, objects });
  }
}

/** The part of a {@link RecordedAttempt} through which an attempt reads and writes. */
export type AttemptRecord =
  & Pick<RecordedAttempt, "caches" | "events" | "requests" | "leftAlone" | "writeOf">
  & Partial<Pick<RecordedAttempt, "traceparent">>;

/** The reference of an object, or of its collection. */
export function refOf(resource: Resource, key?: string): ObjectRef {
  return { resource: resourceName(resource), kind: resource.kind, key };
}

function entriesOf(causes: readonly Cause[]): readonly EntryId[] {
  const entries: EntryId[] = [];
  for (const { entry } of causes) if (entry !== undefined && !entries.includes(entry)) entries.push(entry);
  return entries.length === 0 ? none : entries;
}

function answerOf({ error, isDryRun, object, verb }: WriteReport): WriteAnswer {
  if (error !== undefined) return failureOf(error);
  if (isDryRun) return { kind: "dry-run" };
  if (object === undefined) return verb === "delete" ? { kind: "removed" } : { kind: "stored" };
  const { uid, resourceVersion } = object.metadata;
  return { kind: "stored", resourceVersion, uid };
}

function failureOf(error: unknown): FailedAnswer {
  if (!(error instanceof ApiError)) return { kind: "failed", message: errorText(error) };
  return { kind: "failed", code: error.code, reason: error.reason, message: errorText(error) };
}

function jsonOrText(text: string): Plain {
  try {
    return JSON.parse(text) as Plain;
  } catch {
    return text;
  }
}

function metadataOf(object: unknown): { readonly resourceVersion?: string } | undefined {
  return (object as { readonly metadata?: { readonly resourceVersion?: string } } | undefined)?.metadata;
}
