/**
 * The entries of a recording: what a process saw, decided and did, as plain data. The engine writes them (`recorder.ts`);
 * logs, `why`, `replay`, the debug endpoint and its page read them.
 *
 *   change -> enqueue -> (queue) -> reconcile-start -> read, write, event -> reconcile-end
 *     ^                                                  `-> change (the response), change (the echo in the watch)
 *     `- list
 *
 * Guarantees: `causes` has the ids of earlier entries only, so the entries are a graph without cycles; an id is never used
 * twice in one recording; no value is a secret (`sealed_entry.ts`).
 * Caveats: a cause may be missing from what is read, because the ring and the rotated file drop their oldest entries.
 */
import type { Plain } from "../redaction/mod.ts";

/** The number of an entry in its recording, from 1 up, in the order of time. */
export type EntryId = number;

/** An object, or a collection of objects if it has no key. */
export interface ObjectRef {
  /** Plural and group, as in logs: `deployments.apps`, `pods`. Empty if only the kind is known. */
  readonly resource: string;
  /** `Deployment`. */
  readonly kind: string;
  /** `namespace/name`, or `name` if cluster-scoped. Absent for a collection. */
  readonly key?: string;
}

/** Who owns fields of an object: an element of managedFields, without the fields. */
export interface FieldWriter {
  /** The field manager, e.g. `kubectl-edit`. */
  readonly manager?: string;
  /** `Apply` or `Update`. */
  readonly operation?: string;
  /** `status`, `scale`. Absent for the object itself. */
  readonly subresource?: string;
  /** When it wrote last, RFC 3339 with seconds. */
  readonly time?: string;
}

/** One field that a change gave another value. */
export interface FieldChange {
  /** `spec.replicas`, `spec.template.spec.containers[name=web].image`, `metadata.annotations["a.b/c"]`. */
  readonly path: string;
  /** The value before, cut if it is long. Absent if there was none. */
  readonly from?: Plain;
  /** The value after, cut if it is long. Absent if there is none. */
  readonly to?: Plain;
}

/** What every entry has. */
export interface EntryBase {
  /** The number of the entry. */
  readonly id: EntryId;
  /** Milliseconds since the epoch, by the Clock of the process. */
  readonly at: number;
  /** The entries that led to this one, oldest first. */
  readonly causes: readonly EntryId[];
  /** The controller that acted. Absent for what all controllers share, such as the caches. */
  readonly controller?: string;
  /** The key of the primary object that the controller works on. */
  readonly key?: string;
  /** The cluster of a Fleet. Absent for the hub, and without a Fleet. */
  readonly cluster?: string;
  /** The number of the process, in the recording of a simulation. */
  readonly process?: number;
}

/** An object has changed in a cache, or the watch has shown what the cache knew already. */
export interface ChangeEntry extends EntryBase {
  /** What the entry is about. */
  readonly kind: "change";
  /** How the process learned it: from a watch, from a list, from the response to its own write, or from a live read. */
  readonly via: "watch" | "list" | "response" | "read";
  /** What happened to the object. */
  readonly change: "added" | "updated" | "deleted";
  /** The object, or the collection. */
  readonly object: ObjectRef;
  /** The UID of the object. */
  readonly uid?: string;
  /** The version of the object. */
  readonly resourceVersion?: string;
  /** The version that the cache had before. */
  readonly oldVersion?: string;
  /**
   * Nothing was delivered to the controllers. Of a watch: the event shows an own write, or a state before it; `causes` has
   * the write. Of a response: the watch was faster; `causes` has the change that it showed, and the write.
   */
  readonly isEcho?: boolean;
  /** What an update changed; nothing for added and deleted objects. */
  readonly fields?: readonly FieldChange[];
  /** How many further fields the update changed. */
  readonly moreFields?: number;
  /** Who wrote the newest state, as far as managedFields tell: one, or several of the same second. */
  readonly by?: readonly FieldWriter[];
  /** The trace that an annotation of a new object names, in the form of the header `traceparent`. */
  readonly traceparent?: string;
  /** The object is part of the first full state of a cache: only a recording with states has such an entry. */
  readonly isInitial?: boolean;
  /** The name of the cache, as in its `list` entry. Only in a recording with states. */
  readonly cache?: string;
  /** The whole new object as the cache has it, without secrets, for `replay`. Only in a recording with states. */
  readonly state?: Plain;
}

/** A cache has read a full state. Its `change` entries have it as their cause. */
export interface ListEntry extends EntryBase {
  /** What the entry is about. */
  readonly kind: "list";
  /** The name of the cache: `foos.samplecontroller.k8s.io in namespace x`. */
  readonly cache: string;
  /** The object, or the collection. */
  readonly object: ObjectRef;
  /** The version of the object. */
  readonly resourceVersion: string;
  /** How many objects it has. */
  readonly objects: number;
  /** It is the first full state of this cache. */
  readonly isInitial: boolean;
}

/** A controller has decided whether a change concerns a key. */
export interface EnqueueEntry extends EntryBase {
  /** What the entry is about. */
  readonly kind: "enqueue";
  /** The object that changed. For an EventSource, its name is the resource. */
  readonly object: ObjectRef;
  /** How the controller watches it. */
  readonly role: "for" | "owns" | "watches" | "source";
  /**
   * `queued`: `key` is in the queue; `rejected`: the predicate said no; `own-write`: the key made the change itself;
   * `unmapped`: the change concerns no key.
   */
  readonly decision: "queued" | "rejected" | "own-write" | "unmapped";
}

/** The queue holds a key back, or lets it go. */
export interface QueueEntry extends EntryBase {
  /** What the entry is about. */
  readonly kind: "queue";
  /** `delayed`: by requeueAfter; `backoff`: after a failure; `withdrawn`: all its causes are known to the running reconcile. */
  readonly decision: "delayed" | "backoff" | "parked" | "unparked" | "withdrawn";
  /** Milliseconds until it is due. */
  readonly delayMs?: number;
  /** Failures in a row, for a backoff. */
  readonly retries?: number;
  /** Why it is parked. */
  readonly reason?: string;
  /** Parked until then, milliseconds since the epoch; absent if that is not known. */
  readonly until?: number;
}

/** A worker has taken a key. `causes` has everything that was merged into this reconcile. */
export interface ReconcileStartEntry extends EntryBase {
  /** What the entry is about. */
  readonly kind: "reconcile-start";
  /** Milliseconds in the queue, ready. */
  readonly waitedMs: number;
  /** The priority of the run. */
  readonly priority: number;
  /** The lane of the queue, e.g. the namespace. */
  readonly lane?: string;
  /** Failures in a row before. */
  readonly retries: number;
  /** Causes that were dropped, because a key carries only the first and the latest ones. */
  readonly causesDropped?: number;
}

/** A reconcile has ended. Its cause is its start. */
export interface ReconcileEndEntry extends EntryBase {
  /** What the entry is about. */
  readonly kind: "reconcile-end";
  /** `given-up`: failed, and not retried until something changes, because of `maxRetries`. */
  readonly outcome: "done" | "requeue" | "failed" | "terminal" | "given-up" | "paused" | "aborted";
  /** How long it took, in milliseconds. */
  readonly durationMs: number;
  /** For `requeue`: in how many milliseconds. */
  readonly afterMs?: number;
  /** The message of the error. */
  readonly error?: string;
}

/** A reconcile has read an object or a collection; once per attempt and version. */
export interface ReadEntry extends EntryBase {
  /** What the entry is about. */
  readonly kind: "read";
  /** Where it was read. */
  readonly from: "cache" | "server";
  /** The object, or the collection. */
  readonly object: ObjectRef;
  /** The version that was read; absent if there was no such object, or for a collection. */
  readonly resourceVersion?: string;
  /** For a collection, how many objects. */
  readonly objects?: number;
  /** The subresource; absent for the object itself. */
  readonly subresource?: string;
  /** The path and the query of a live read of a collection: its Namespace, its selectors, its page. */
  readonly path?: string;
  /** Why a live read failed. An object that does not exist is no failure. */
  readonly failure?: FailedAnswer;
  /** How long a live read took, in milliseconds. */
  readonly durationMs?: number;
  /** What a live read has returned, an object or a list of them, for `replay`. Only in a recording with states. */
  readonly state?: Plain;
}

/** A request that failed. `code` and `reason` are absent if no response came. */
export interface FailedAnswer {
  /** Distinguishes it from other answers. */
  readonly kind: "failed";
  /** The HTTP status. */
  readonly code?: number;
  /** The reason of the Status: `Conflict`. */
  readonly reason?: string;
  /** The message of the error. */
  readonly message: string;
}

/** How the server answered a write. */
export type WriteAnswer =
  | { readonly kind: "stored"; readonly resourceVersion?: string; readonly uid?: string }
  /** The object is gone; after a deletion without finalizers, or an update that removed the last one. */
  | { readonly kind: "removed"; readonly uid?: string }
  /** The server has validated the write and stored nothing. */
  | { readonly kind: "dry-run" }
  | FailedAnswer;

/** A write, with its answer. The cause is the start of the reconcile. */
export interface WriteEntry extends EntryBase {
  /** What the entry is about. */
  readonly kind: "write";
  /** What the write does. */
  readonly verb: "create" | "update" | "patch" | "apply" | "delete" | "deletecollection";
  /** The object, or the collection. */
  readonly object: ObjectRef;
  /** The subresource; absent for the object itself. */
  readonly subresource?: string;
  /** The field manager of the write. */
  readonly fieldManager?: string;
  /** The path and the query of a `deletecollection`: its Namespace and its selectors. */
  readonly path?: string;
  /** The media type of `body`, which tells the kind of a patch. */
  readonly contentType?: string;
  /** What was sent, without secrets. */
  readonly body?: Plain;
  /** How the server answered. */
  readonly answer: WriteAnswer;
  /** How long it took, in milliseconds. */
  readonly durationMs: number;
  /** The whole object in the response, without secrets, for `replay`. Only in a recording with states. */
  readonly state?: Plain;
}

/** A reconcile has sent a request of its own making: `ctx.client.raw`. Its cause is the start of the reconcile. */
export interface RequestEntry extends EntryBase {
  /** What the entry is about. */
  readonly kind: "request";
  /** `GET`, `POST`. */
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  /** The media type of `body`. */
  readonly contentType?: string;
  /** What was sent, without secrets; masked if it is not JSON. */
  readonly body?: Plain;
  /** How the server answered. */
  readonly answer: { readonly kind: "answered" } | FailedAnswer;
  /** How long it took, in milliseconds. */
  readonly durationMs: number;
  /** The response: JSON, or a text. Only in a recording with states. */
  readonly state?: Plain;
}

/** A reconciler has recorded an Event. */
export interface EventEntry extends EntryBase {
  /** What the entry is about. */
  readonly kind: "event";
  /** Warning if it needs attention. */
  readonly type: "Normal" | "Warning";
  /** The reason, a CamelCase word. */
  readonly reason: string;
  /** The sentence for people. */
  readonly note: string;
  /** The object, or the collection. */
  readonly object: ObjectRef;
}

/** The leader election has changed. */
export interface LeaseEntry extends EntryBase {
  /** What the entry is about. */
  readonly kind: "lease";
  /** `Lease "namespace/name"`. */
  readonly lease: string;
  /** The new state. */
  readonly state: "standby" | "leading" | "lost" | "released" | "other-leader";
  /** Who holds it, as far as it is known. */
  readonly holder?: string;
  /** The message of the error. */
  readonly error?: string;
}

/** A webhook has answered a review. */
export interface ReviewEntry extends EntryBase {
  /** What the entry is about. */
  readonly kind: "review";
  /** What the webhook does. */
  readonly webhook: "defaulting" | "validating" | "conversion";
  /** The path of the request. */
  readonly path: string;
  /** `CREATE`, `UPDATE`, `DELETE`; absent for a conversion. */
  readonly operation?: string;
  /** The object, or the collection. */
  readonly object: ObjectRef;
  /** Of a conversion: how many objects, and to which apiVersion. */
  readonly conversion?: { readonly objects: number; readonly to: string };
  /** Who sent the request. */
  readonly user?: string;
  /** Whether the request was accepted. */
  readonly isAllowed: boolean;
  /** What the user sees. */
  readonly message?: string;
  /** What defaulting changed, as a JSON patch. */
  readonly patch?: Plain;
  /** The trace of the request, as the API server names it: the header `traceparent` of W3C Trace Context. */
  readonly traceparent?: string;
  /** How long it took, in milliseconds. */
  readonly durationMs: number;
}

/** Something failed that is no request: a predicate, a mapping, a controller; or a write that was not sent. */
export interface ErrorEntry extends EntryBase {
  /** What the entry is about. */
  readonly kind: "error";
  /** What failed: `predicate of deployments.apps`. */
  readonly what: string;
  /**
   * `not-controlled`: a reconcile, which is the cause, left `object` alone, because it has another owner or none. Absent
   * for everything else.
   */
  readonly reason?: "not-controlled";
  /** The message of the error. */
  readonly error: string;
  /** The object, or the collection. */
  readonly object?: ObjectRef;
}

/** A cache began or ceased to follow the server. */
export interface CacheEntry extends EntryBase {
  /** What the entry is about. */
  readonly kind: "cache";
  /** The name of the cache: `foos.samplecontroller.k8s.io in namespace x`. */
  readonly cache: string;
  /** The object, or the collection. */
  readonly object: ObjectRef;
  /** `waiting`: it does not follow the server since the `at` of the first such entry after `following`. */
  readonly state: "following" | "waiting";
  /** Why it waits: `forbidden`, `unreachable`, `expired`, … */
  readonly reason?: string;
  /** The message of the error. */
  readonly error?: string;
  /** Failed attempts in a row. */
  readonly attempts?: number;
  /** When the next attempt begins, milliseconds since the epoch. */
  readonly until?: number;
}

/** A kind that a controller watches under a condition has become active, or has ceased to be. */
export interface ActivationEntry extends EntryBase {
  /** What the entry is about. */
  readonly kind: "activation";
  /** The kind. */
  readonly object: ObjectRef;
  /** True when the controller sees the objects of the kind. */
  readonly isActive: boolean;
  /** Why it is not active, as the end of a sentence. */
  readonly reason?: string;
}

/** Something that is not of the engine: a user of a simulation, a fault, the simulated cluster. */
export interface NoteEntry extends EntryBase {
  /** What the entry is about. */
  readonly kind: "note";
  /** Who acted. */
  readonly actor: string;
  /** What happened. */
  readonly what: string;
  /** Further facts. */
  readonly detail?: string;
  /** The version of the object. */
  readonly resourceVersion?: string;
  /** The request or event that it is about, as `PATCH configmaps default/a`; absent for what is no request or event. */
  readonly answers?: string;
  /** What it changed on the server, oldest first. */
  readonly changes?: readonly NotedChange[];
}

/** A change of an object on the server, as only the server knows it. */
export interface NotedChange {
  /** What happened to the object. */
  readonly change: "added" | "updated" | "deleted";
  /** The object. */
  readonly object: ObjectRef;
  /** The version of the object; of a deleted one, that of its deletion. */
  readonly resourceVersion: string;
  /** The whole new object without secrets. Only in a recording with states. */
  readonly state?: Plain;
}

/** One entry of a recording. */
export type Entry =
  | ChangeEntry
  | ListEntry
  | EnqueueEntry
  | QueueEntry
  | ReconcileStartEntry
  | ReconcileEndEntry
  | ReadEntry
  | WriteEntry
  | RequestEntry
  | EventEntry
  | LeaseEntry
  | ReviewEntry
  | ErrorEntry
  | CacheEntry
  | ActivationEntry
  | NoteEntry;

/**
 * An entry as the engine hands it over: without an id and a time. Its values may contain secrets; who reads it gets a
 * copy without them.
 */
export type NewEntry =
  | NewWriteEntry
  | NewRequestEntry
  | (Exclude<Entry, WriteEntry | RequestEntry> extends infer E ? E extends unknown ? Omit<E, "id" | "at"> : never
    : never);

/** A write as the engine hands it over. */
export interface NewWriteEntry extends Omit<WriteEntry, "id" | "at" | "body"> {
  /** The body as it was sent: JSON. */
  readonly bodyText?: string;
}

/** A request as the engine hands it over. */
export interface NewRequestEntry extends Omit<RequestEntry, "id" | "at" | "body"> {
  /** The body as it was sent. */
  readonly bodyText?: string;
}
