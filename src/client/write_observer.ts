/**
 * WriteObserver: learns what became of each write of a client, so that the caches of the process have its result before
 * the watch shows it. The runtime of controllers observes the client of each attempt. For a recording it learns of every
 * answered request.
 *
 * A response shows the stored object, or that the object is removed. After a timeout, a broken connection or an error of
 * the server itself, or an answer that cannot be used, a write may have taken effect or not; and the response to a write of a subresource such as `scale`
 * does not show the object. Then only a read tells.
 */
import { type ApiStatus, InvalidResponseError, type KubeObject, pointerKeys, type Resource } from "../api/mod.ts";
import { ApiError } from "./api_error.ts";
import type { DeleteResult, JsonPatchOperation, Patch } from "./client_options.ts";
import { UnreachableError } from "./unreachable_error.ts";

/**
 * Learns what became of the writes of a client; see `Client.withWriteObserver`. Dry runs are not observed. The functions
 * that may be absent are for a recording: with all three, it has each request but watches and streams of containers.
 */
export interface WriteObserver {
  /**
   * The server has stored this state of an object.
   *
   * @param sent The fields that the write named, as far as they are known: every other field that differs from an earlier
   *   state was changed by somebody else. Absent for a write of the whole object.
   * @param entry What `onAnswer` has returned.
   */
  onStored(resource: Resource, object: KubeObject, sent?: unknown, entry?: number): void;
  /** The server has removed the object with this UID. `key` is `namespace/name`, or `name` if cluster-scoped. */
  onRemoved(resource: Resource, key: string, uid: string, entry?: number): void;
  /** The object may have changed, and no response shows how. The write settles when the promise has. */
  onUnknown(resource: Resource, key: string): Promise<void>;
  /**
   * The server has answered a write, or the write has failed; also called for dry runs, and before the other functions.
   *
   * @returns The id of the write in a recording, which `onStored` or `onRemoved` then get.
   */
  onAnswer?(report: WriteReport): number | undefined;
  /** The server has answered a `get` or a page of a `list`, or it has failed. */
  onRead?(report: ReadReport): void;
  /** The server has answered a `raw` request, or it has failed. */
  onRaw?(report: RawReport): void;
}

/** One read, and how it ended. */
export interface ReadReport {
  /** The kind of the object. */
  readonly resource: Resource;
  /** `namespace/name`, or `name` if cluster-scoped. Absent for a collection. */
  readonly key?: string;
  /** Absent for the object itself. */
  readonly subresource?: string;
  /** The path and the query of the request. */
  readonly path: string;
  /** Milliseconds from the call to the answer. */
  readonly durationMs: number;
  /** The object, or the objects of the page. Absent after a failure. */
  readonly found?: KubeObject | readonly KubeObject[];
  /** Why the read failed. Absent if it succeeded. */
  readonly error?: unknown;
}

/** One request that no verb of the client made, and how it ended. */
export interface RawReport {
  /** `GET`, `POST`. */
  readonly method: string;
  /** The path and the query of the request. */
  readonly path: string;
  /** The media type of the body. */
  readonly contentType?: string;
  /** What was sent. It may contain secrets. */
  readonly body?: string;
  /** Milliseconds from the call to the answer. */
  readonly durationMs: number;
  /** The response. Absent after a failure. It may contain secrets. */
  readonly text?: string;
  /** Why the request failed. Absent if it succeeded. */
  readonly error?: unknown;
}

/** One write, what was sent, and how it ended. */
export interface WriteReport {
  /** What the write does. */
  readonly verb: "create" | "update" | "patch" | "apply" | "delete" | "deletecollection";
  /** The kind of the object. */
  readonly resource: Resource;
  /**
   * `namespace/name`, or `name` if cluster-scoped. Absent for a collection, and if the server was to choose the name and has
   * not answered.
   */
  readonly key?: string;
  /** Absent for the object itself. */
  readonly subresource?: string;
  /** The field manager of the write, if it has one of its own. */
  readonly fieldManager?: string;
  /** The path and the query of the request. */
  readonly path: string;
  /** The media type of the body. */
  readonly contentType?: string;
  /** What was sent: JSON. It may contain secrets. */
  readonly body?: string;
  /** True if the server was not to store the result. */
  readonly isDryRun: boolean;
  /** Milliseconds from the call to the answer. */
  readonly durationMs: number;
  /** The object in the response. Absent after a failure, and for a Status. */
  readonly object?: KubeObject;
  /** Why the write failed. Absent if it succeeded. */
  readonly error?: unknown;
}

/** True for an error after which a write may have taken effect. */
export function isOutcomeUnknown(error: unknown, signal: AbortSignal | undefined): boolean {
  if (error instanceof ApiError) return error.code >= 500;
  if (error instanceof UnreachableError) return mayHaveBeenSent(error);
  // The server has answered the write with something that does not show the object.
  if (error instanceof InvalidResponseError) return true;
  return signal?.aborted === true;
}

function mayHaveBeenSent({ reason }: UnreachableError): boolean {
  if (reason.kind === "timeout") return true;
  return reason.kind === "unreachable" && (reason.detail === "reset" || reason.detail === "other");
}

/** The UID of the object that a deletion has removed; undefined while the object exists, or is not known. */
export function removedUid(result: ApiStatus | KubeObject, precondition: string | undefined): string | undefined {
  if (isStatus(result)) return result.details?.uid ?? precondition;
  return isRemoved(result) ? result.metadata.uid : undefined;
}

/** The public result of a deletion. */
export function deleteResult<T>(result: ApiStatus | T): DeleteResult<T> {
  return isStatus(result) ? { kind: "deleted" } : { kind: "object", object: result };
}

/** The fields that a patch names, as an object in which the value of each is the new one, or true. */
export function fieldsOf(patch: Patch<Resource>): unknown {
  return patch.kind === "json" ? fieldsAt(patch.operations) : patch.value;
}

function fieldsAt(operations: readonly JsonPatchOperation[]): unknown {
  const fields: Fields = new Map();
  for (const operation of operations) {
    if (operation.op === "test") continue;
    const pointers = operation.op === "move" ? [operation.from, operation.path] : [operation.path];
    for (const pointer of pointers) markField(fields, pointer);
  }
  return objectOf(fields);
}

type Fields = Map<string, Fields | true>;

/** Marks the field at a JSON pointer; of a pointer into a list, the list. */
function markField(fields: Fields, pointer: string): void {
  const names = pointerKeys(pointer);
  const end = names.findIndex((name) => /^(?:-|\d+)$/.test(name));
  let level = fields;
  for (const [index, name] of names.slice(0, end < 0 ? names.length : end).entries()) {
    const inner = level.get(name);
    if (inner === true) return;
    const isLast = index === (end < 0 ? names.length : end) - 1;
    const next: Fields = inner ?? new Map();
    level.set(name, isLast ? true : next);
    level = next;
  }
}

function objectOf(fields: Fields): Readonly<Record<string, unknown>> {
  return Object.fromEntries([...fields].map(([name, inner]) => [name, inner === true ? true : objectOf(inner)]));
}

/**
 * True for the final state of an object: it was to be deleted, and nothing holds it any more. The server removes an object
 * with the write that takes away its last finalizer.
 */
export function isRemoved(object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata;
  if (deletionTimestamp === undefined || (deletionGracePeriodSeconds ?? 0) > 0) return false;
  return isEmpty(finalizers) && isEmpty(finalizersOfSpec(object));
}

/** A Namespace has finalizers in its spec, too. */
function finalizersOfSpec(object: KubeObject): unknown {
  return (object as { readonly spec?: { readonly finalizers?: unknown } }).spec?.finalizers;
}

function isEmpty(list: unknown): boolean {
  return !Array.isArray(list) || list.length === 0;
}

function isStatus(value: unknown): value is ApiStatus {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "Status";
}
