/**
 * The result of a write by patch/, without a server: pure functions compute the object and its managed fields from
 * the stored object. The oracle test sends the same write to a real kube-apiserver and compares.
 */
import {
  badRequest,
  type Draft,
  draftOf,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  read,
  StatusError,
  type TypeSchema,
} from "../../src/apiserver/model/mod.ts";
import {
  applyConfiguration,
  applyConflict,
  type FieldContext,
  type FieldSet,
  jsonPatch,
  mergePatch,
  strategicMergePatch,
  unchangedButTimes,
  updateManagedFields,
  withManagedFields,
} from "../../src/apiserver/patch/mod.ts";

/** A kind, with the functions that the oracle needs. */
export interface OracleKind {
  readonly type: TypeSchema;
  readonly apiVersion: string;
  readonly kind: string;
  readonly path: string;
  readonly empty: JsonObject;
  /** Converts a body to an object of the kind and sets defaults. */
  decode(draft: Draft): void;
  /** The fields that a write does not change: the status, or all other fields for a write of the status. */
  resetFields(subresource: string): FieldSet;
}

/** One write. */
export interface Write {
  readonly how: "create" | "apply" | "update" | "merge" | "json" | "strategic";
  readonly manager: string;
  readonly isForced?: boolean;
  readonly subresource?: string;
  readonly body: Json | ((live: JsonObject) => Json);
}

/** The outcome of a write. */
export type Outcome =
  | { readonly kind: "written"; readonly object: JsonObject }
  | { readonly kind: "rejected"; readonly status: JsonObject };

/** The form of a write's body. */
export function bodyOf(write: Write, live: JsonObject | undefined): Json {
  return typeof write.body === "function" ? write.body(live ?? {}) : write.body;
}

/** Computes the outcome of a write with patch/. @param now milliseconds since 1970 */
export async function predict(
  kind: OracleKind,
  live: JsonObject | undefined,
  write: Write,
  now: number,
): Promise<Outcome> {
  try {
    return { kind: "written", object: await written(kind, live, write, now) };
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const status: Json = JSON.parse(JSON.stringify(error.status));
    return { kind: "rejected", status: isJsonObject(status) ? status : {} };
  }
}

async function written(
  kind: OracleKind,
  live: JsonObject | undefined,
  write: Write,
  now: number,
): Promise<JsonObject> {
  const body = bodyOf(write, live);
  const { subresource = "" } = write;
  const context: FieldContext = {
    type: kind.type,
    empty: kind.empty,
    apiVersion: kind.apiVersion,
    subresource,
    manager: write.manager,
    now,
    resetFields: new Map([[kind.apiVersion, kind.resetFields(subresource)]]),
  };
  if (write.how === "apply") return await applied(kind, live, write, context, body);
  const draft = live === undefined ? draftOf(objectOf(body)) : patched(kind, live, write, body);
  kind.decode(draft);
  const managedFields = await updateManagedFields({ ...context, live, updated: draft });
  return settled(live, withManagedFields(draft, managedFields), write);
}

async function applied(
  kind: OracleKind,
  live: JsonObject | undefined,
  write: Write,
  context: FieldContext,
  body: Json,
): Promise<JsonObject> {
  const { isForced = false } = write;
  const outcome = await applyConfiguration({
    ...context,
    live,
    applied: objectOf(body),
    kind: kind.kind,
    isForced,
  });
  if (outcome.kind === "conflicts") throw applyConflict(outcome.conflicts);
  const draft = draftOf(outcome.object);
  kind.decode(draft);
  return settled(live, withManagedFields(draft, outcome.managedFields), write);
}

/** A write through the status keeps the spec; one that changes only times is not a write. */
function settled(live: JsonObject | undefined, object: JsonObject, { subresource }: Write): JsonObject {
  if (live === undefined) return object;
  const kept: JsonObject = subresource === "status" ? { ...object, spec: live["spec"] ?? null } : object;
  const same = unchangedButTimes(live, kept);
  return same === undefined ? kept : withManagedFields(kept, same);
}

function patched(kind: OracleKind, live: JsonObject, write: Write, body: Json): Draft {
  switch (write.how) {
    case "json":
      return jsonPatch(live, body).object;
    case "merge":
      return mergePatch(live, body);
    case "strategic":
      return strategicMergePatch(live, body, kind.type);
    case "create":
    case "update":
    case "apply":
      return draftOf(objectOf(body));
    default:
      return write.how satisfies never;
  }
}

function objectOf(body: Json): JsonObject {
  if (isJsonObject(body)) return body;
  throw badRequest("not an object");
}

/** The time of the last write, from the managed fields: entries are in the order of their times. */
export function writtenAt(outcome: Outcome): number {
  const metadata = outcome.kind === "written" ? read(outcome.object, "metadata") : undefined;
  const entries = isJsonObject(metadata) ? read(metadata, "managedFields") : undefined;
  const times = isJsonArray(entries)
    ? entries.map((entry) => isJsonObject(entry) ? read(entry, "time") : undefined)
    : [];
  return Math.max(0, ...times.map((time) => typeof time === "string" ? Date.parse(time) : 0));
}

/** The manager of objects that the test did not write. */
const others: ReadonlySet<Json> = new Set(["kube-controller-manager"]);

/**
 * Removes the values that a server chooses from an outcome: identifiers, times (only their presence is compared), addresses,
 * and fields that controllers wrote in the meantime.
 */
export function masked(outcome: Outcome): Json {
  if (outcome.kind === "rejected") return { code: outcome.status["code"] ?? null, status: statusOf(outcome.status) };
  const { object } = outcome;
  const result = draftOf(object);
  const metadata = read(object, "metadata");
  const kept = isJsonObject(metadata) ? metadata : {};
  result["metadata"] = {
    labels: draftOf(read(kept, "labels") ?? null),
    annotations: withoutKeys(read(kept, "annotations") ?? null, ["deployment.kubernetes.io/revision"]),
    finalizers: draftOf(read(kept, "finalizers") ?? null),
    managedFields: entriesOf(read(kept, "managedFields") ?? null),
  };
  const addresses = ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"];
  result["spec"] = withoutKeys(read(object, "spec") ?? null, addresses);
  delete result["status"];
  return result;
}

function withoutKeys(value: Json, keys: readonly string[]): ReturnType<typeof draftOf> | null {
  if (!isJsonObject(value)) return draftOf(value);
  const copy = draftOf(value);
  for (const key of keys) delete copy[key];
  return Object.keys(copy).length === 0 ? null : copy;
}

function entriesOf(managedFields: Json): Draft[] {
  const entries = isJsonArray(managedFields) ? managedFields.filter(isJsonObject) : [];
  return entries.filter((entry) => !others.has(read(entry, "manager") ?? null)).map((entry) => {
    const copy = draftOf(entry);
    copy["time"] = Object.hasOwn(entry, "time") ? "some" : "none";
    return copy;
  });
}

/** The real server returns conflicts with several managers in any order. */
function statusOf(status: JsonObject): Draft {
  const { reason, message, details } = status;
  const found = isJsonObject(details) ? read(details, "causes") : undefined;
  const causes = isJsonArray(found) ? found.map((cause) => JSON.stringify(cause)).sort() : [];
  return draftOf({ reason: reason === "" ? null : reason ?? null, message: message ?? null, causes });
}
