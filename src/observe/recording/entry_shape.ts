/**
 * entryProblem(): what is wrong with a value that should be an entry. A recording may come from anywhere, and its readers rely
 * on the fields of each kind.
 *
 * Guarantees: every field that `Entry` declares has its declared type where it is present, and is present where it must be;
 * nesting is bounded. Kinds that this version does not know pass with the fields that every entry has.
 */

/** The deepest nesting of an entry, as of the objects that the client accepts. */
const maxDepth = 520;

/** A text, a number, yes or no, an ObjectRef, an object with metadata, a list of objects, an object with some fields. */
type Shape = "text" | "number" | "flag" | "ref" | "state" | "maps" | "fields" | "answer";

interface EntryShape {
  readonly required: Readonly<Record<string, Shape>>;
  readonly optional?: Readonly<Record<string, Shape>>;
}

const common: Readonly<Record<string, Shape>> = { controller: "text", key: "text", cluster: "text", process: "number" };

const shapes: Readonly<Record<string, EntryShape>> = {
  change: {
    required: { via: "text", change: "text", object: "ref" },
    optional: {
      ...{ uid: "text", resourceVersion: "text", oldVersion: "text", traceparent: "text", cache: "text" },
      ...{ isEcho: "flag", isInitial: "flag" },
      ...{ fields: "fields", moreFields: "number", by: "maps", state: "state" },
    },
  },
  list: {
    required: { cache: "text", object: "ref", resourceVersion: "text", objects: "number", isInitial: "flag" },
  },
  enqueue: { required: { object: "ref", role: "text", decision: "text" } },
  queue: {
    required: { decision: "text" },
    optional: { delayMs: "number", retries: "number", reason: "text", until: "number" },
  },
  "reconcile-start": {
    required: { waitedMs: "number", priority: "number", retries: "number" },
    optional: { lane: "text", causesDropped: "number" },
  },
  "reconcile-end": {
    required: { outcome: "text", durationMs: "number" },
    optional: { afterMs: "number", error: "text" },
  },
  read: {
    required: { from: "text", object: "ref" },
    optional: { resourceVersion: "text", objects: "number", subresource: "text", path: "text", failure: "answer" },
  },
  write: {
    required: { verb: "text", object: "ref", answer: "answer" },
    optional: { subresource: "text", fieldManager: "text", path: "text", contentType: "text" },
  },
  request: { required: { method: "text", path: "text", answer: "answer" }, optional: { contentType: "text" } },
  event: { required: { type: "text", reason: "text", note: "text", object: "ref" } },
  lease: { required: { lease: "text", state: "text" }, optional: { holder: "text", error: "text" } },
  review: {
    required: { webhook: "text", path: "text", object: "ref", isAllowed: "flag" },
    optional: { operation: "text", user: "text", message: "text" },
  },
  error: { required: { what: "text", error: "text" }, optional: { object: "ref" } },
  cache: {
    required: { cache: "text", object: "ref", state: "text" },
    optional: { reason: "text", error: "text", attempts: "number", until: "number" },
  },
  activation: { required: { object: "ref", isActive: "flag" }, optional: { reason: "text" } },
  note: { required: { actor: "text", what: "text" }, optional: { detail: "text" } },
};

/** Returns the problem as the rest of a sentence; undefined for an entry. @param text The JSON text of the value */
export function entryProblem(value: unknown, text: string): string | undefined {
  if (!isMap(value)) return "it is not an object";
  const { id, at, kind, causes } = value;
  if (!(Number.isSafeInteger(id) && (id as number) > 0)) return "id is not a number from 1 up";
  if (!(typeof at === "number" && Math.abs(at) <= maxTime)) return "at is not a time in milliseconds";
  if (typeof kind !== "string") return "kind is not a text";
  const areEarlier = Array.isArray(causes) &&
    causes.every((cause) => typeof cause === "number" && cause < (id as number));
  if (!areEarlier) return "causes are not ids of earlier entries";
  if (isTooDeep(text)) return `it is nested deeper than ${maxDepth} levels`;
  const shape = Object.hasOwn(shapes, kind) ? shapes[kind] : undefined;
  return shape === undefined ? undefined : shapeProblem(value, shape);
}

/** The last time that a Date can show. */
const maxTime = 8.64e15;

function shapeProblem(
  value: Readonly<Record<string, unknown>>,
  { required, optional }: EntryShape,
): string | undefined {
  for (const [name, shape] of Object.entries(required)) {
    if (!hasShape(value[name], shape)) return `${name} is missing or has another form`;
  }
  for (const [name, shape] of Object.entries({ ...common, ...optional })) {
    if (value[name] !== undefined && !hasShape(value[name], shape)) return `${name} has another form`;
  }
  return undefined;
}

function hasShape(value: unknown, shape: Shape): boolean {
  switch (shape) {
    case "text":
      return typeof value === "string";
    case "number":
      return typeof value === "number";
    case "flag":
      return typeof value === "boolean";
    case "ref":
      return isMap(value) && typeof value.resource === "string" && typeof value.kind === "string" &&
        (value.key === undefined || typeof value.key === "string");
    case "state":
      return isMap(value) && isMap(value.metadata);
    case "maps":
      return Array.isArray(value) && value.every(isMap);
    case "fields":
      return Array.isArray(value) && value.every((field) => isMap(field) && typeof field.path === "string");
    case "answer":
      return isMap(value) && typeof value.kind === "string" &&
        (value.kind !== "failed" || typeof value.message === "string");
    default:
      return shape satisfies never;
  }
}

/** Counts brackets outside of texts. Short texts cannot nest deep enough. */
function isTooDeep(text: string): boolean {
  if (text.length < 2 * maxDepth) return false;
  let depth = 0;
  let isText = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isText) {
      if (code === 0x5c) at++;
      else if (code === 0x22) isText = false;
    } else if (code === 0x22) isText = true;
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > maxDepth) return true;
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  return false;
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
