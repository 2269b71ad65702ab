/**
 * The shape of what an API server answers. TypeScript believes the declared types, but the bytes come from a server, a
 * proxy or an attacker. Everything that enters the program as an object or a Status is checked here, once.
 *
 * Guarantees: after {@link checkObject}, the fields of the metadata have their declared types, so no code behind it meets
 * null or a number where it expects text; the check takes a constant time for each object and each of its labels,
 * annotations and owners. After {@link toStatus}, each field of a Status has its declared type or is absent.
 *
 * Caveats: spec and status are not checked here, because their shape depends on the kind (`client/response_shape.ts`).
 */
import { isJsonObject } from "./exact_json.ts";
import type { ApiStatus, StatusCause, StatusDetails } from "./object.ts";

/**
 * The API server answered, but the answer cannot be used: it is not JSON, not of the requested kind, too large, or one of
 * its fields has a wrong type. If the request was a write, it may have taken effect.
 *
 * @example
 * ```ts
 * import { Client, InvalidResponseError } from "@pintle/controller/client";
 * import { ConfigMap } from "@pintle/controller";
 *
 * const answer = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "a", name: 7 } };
 * const client = new Client(() => Promise.resolve(Response.json(answer)));
 * const error = await client.get(ConfigMap, "a/b").catch((reason: unknown) => reason);
 * console.assert(error instanceof InvalidResponseError && error.message.endsWith("metadata.name is a number, not a string"));
 * ```
 */
export class InvalidResponseError extends Error {
  /** Always "InvalidResponseError". */
  override readonly name = "InvalidResponseError";

  /**
   * Creates the error, e.g. for a fake server in a test.
   *
   * @param message `Cannot <action>: <state>`, where the state names the field.
   */
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
  }
}

/** The types of the optional fields of the metadata. Go reads null as absent. */
const metadataTypes = Object.entries(
  {
    name: "string",
    generateName: "string",
    namespace: "string",
    uid: "string",
    resourceVersion: "string",
    generation: "number",
    creationTimestamp: "string",
    deletionTimestamp: "string",
    deletionGracePeriodSeconds: "number",
  } as const,
);

/**
 * Checks an object that was just parsed, and removes optional fields of its metadata that are null: they are absent for
 * programs in Go, so some servers write them.
 *
 * @returns what is wrong: `metadata.name is a number, not a string`; undefined if nothing is
 */
export function checkObject(value: unknown): string | undefined {
  if (!isJsonObject(value)) return `it is ${describeType(value)}, not an object`;
  const { apiVersion, kind, metadata } = value;
  if (apiVersion !== undefined && typeof apiVersion !== "string") {
    return wrongType("apiVersion", apiVersion, "a string");
  }
  if (kind !== undefined && typeof kind !== "string") return wrongType("kind", kind, "a string");
  if (!isJsonObject(metadata)) return wrongType("metadata", metadata, "an object");
  for (const [name, type] of metadataTypes) {
    const field = metadata[name];
    if (field === undefined || typeof field === type) continue;
    // Exact integers are objects of their own class above 2^53; no number of the metadata is.
    if (field !== null) return wrongType(`metadata.${name}`, field, type === "string" ? "a string" : "a number");
    Reflect.deleteProperty(metadata, name);
  }
  return mapProblem(metadata, "labels") ?? mapProblem(metadata, "annotations") ??
    listProblem(metadata, "finalizers", (item) => typeof item === "string" ? undefined : "a string") ??
    listProblem(metadata, "ownerReferences", ownerProblem) ??
    listProblem(metadata, "managedFields", (item) => isJsonObject(item) ? undefined : "an object");
}

function mapProblem(metadata: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const map = metadata[name];
  if (map === undefined) return undefined;
  if (map === null) {
    Reflect.deleteProperty(metadata, name);
    return undefined;
  }
  if (!isJsonObject(map)) return wrongType(`metadata.${name}`, map, "an object");
  for (const key of Object.keys(map)) {
    if (typeof map[key] !== "string") return wrongType(`a value of metadata.${name}`, map[key], "a string");
  }
  return undefined;
}

/** @param expected Returns what an item should have been; undefined if it is that. */
function listProblem(
  metadata: Readonly<Record<string, unknown>>,
  name: string,
  expected: (item: unknown) => string | undefined,
): string | undefined {
  const list = metadata[name];
  if (list === undefined) return undefined;
  if (list === null) {
    Reflect.deleteProperty(metadata, name);
    return undefined;
  }
  if (!Array.isArray(list)) return wrongType(`metadata.${name}`, list, "an array");
  for (const item of list) {
    const type = expected(item);
    if (type !== undefined) return wrongType(`an item of metadata.${name}`, item, type);
  }
  return undefined;
}

function ownerProblem(item: unknown): string | undefined {
  const isOwner = isJsonObject(item) && typeof item.apiVersion === "string" && typeof item.kind === "string" &&
    typeof item.name === "string" && typeof item.uid === "string";
  return isOwner ? undefined : "an object with apiVersion, kind, name and uid";
}

/** Any value as a Status: fields of a wrong type are left out. */
export function toStatus(value: unknown): ApiStatus {
  if (!isJsonObject(value)) return {};
  const { metadata, details, status, code } = value;
  const next = isJsonObject(metadata) ? textOf(metadata.continue) : undefined;
  return present<ApiStatus>({
    apiVersion: textOf(value.apiVersion),
    kind: value.kind === "Status" ? value.kind : undefined,
    metadata: next === undefined ? undefined : { continue: next },
    status: status === "Success" || status === "Failure" ? status : undefined,
    // As net/http of Go: three digits.
    code: typeof code === "number" && Number.isInteger(code) && code >= 100 && code <= 999 ? code : undefined,
    reason: textOf(value.reason),
    message: textOf(value.message),
    details: isJsonObject(details) ? detailsOf(details) : undefined,
  });
}

/** Seconds that a server may ask to wait: a longer wait is a mistake or an attack (security 21). */
const maxRetryAfterSeconds = 300;

function detailsOf(details: Readonly<Record<string, unknown>>): StatusDetails {
  const { causes, retryAfterSeconds: seconds } = details;
  return present<StatusDetails>({
    name: textOf(details.name),
    group: textOf(details.group),
    kind: textOf(details.kind),
    uid: textOf(details.uid),
    causes: Array.isArray(causes) ? causes.filter(isJsonObject).map(causeOf) : undefined,
    retryAfterSeconds: typeof seconds === "number" && seconds > 0 ? Math.min(seconds, maxRetryAfterSeconds) : undefined,
  });
}

function causeOf(cause: Readonly<Record<string, unknown>>): StatusCause {
  return present<StatusCause>({
    reason: textOf(cause.reason),
    message: textOf(cause.message),
    field: textOf(cause.field),
  });
}

/** Without the fields that are undefined, so that a Status is equal to what the server has sent. */
function present<T extends object>(value: T): T {
  for (const [key, field] of Object.entries(value)) {
    if (field === undefined) Reflect.deleteProperty(value, key);
  }
  return value;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The words for a field of a wrong type: `items is a string, not an array`. */
export function wrongType(field: string, value: unknown, expected: string): string {
  return `${field} is ${describeType(value)}, not ${expected}`;
}

function describeType(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
