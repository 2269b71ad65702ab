/**
 * The verb patch: applies a patch to the live state, and again to a newer one after a concurrent write. So a patch without a
 * resourceVersion never conflicts. The algorithms are in patch/; this file adds decoding, errors and field ownership.
 */
import { apiVersionOf, printExactJson } from "../../api/mod.ts";
import {
  badRequest,
  type Draft,
  draftOf,
  type FieldError,
  goJson,
  goPlain,
  internalError,
  invalid,
  isDraft,
  isJsonArray,
  isJsonObject,
  isSameJson,
  type Json,
  type JsonObject,
  jsonTypeName,
  type Kind,
  notFound,
  put,
  read,
  StatusError,
  type TypeSchema,
  withLiterals,
} from "../model/mod.ts";
import {
  applyConfiguration,
  applyConflict,
  type ApplyOutcome,
  jsonPatch,
  mergePatch,
  strategicMergePatch,
} from "../patch/mod.ts";
import { type Call, type FieldValidation, type RegistryParts, subjectOf, type WriteResponse } from "./call.ts";
import { decodeObject, normalVersion } from "./decode_object.ts";
import { fieldContext, setManagedFields, trackFields } from "./track_fields.ts";
import { decodeMetadata, metadataText as metadataValue } from "./metadata.ts";
import { update } from "./update.ts";

/** The content types of patches. */
export type PatchType =
  | "application/json-patch+json"
  | "application/merge-patch+json"
  | "application/strategic-merge-patch+json"
  | "application/apply-patch+yaml";

/** The body of a PATCH. */
export interface PatchBody {
  readonly type: PatchType;
  readonly value: Json;
  readonly text: string;
  /** Duplicate keys, as a strict decoder reports them. */
  readonly duplicates: readonly string[];
  /** For apply: takes fields from other managers. */
  readonly isForced: boolean;
}

/** Applies a patch. @throws StatusError */
export function patch(parts: RegistryParts, call: Call, name: string, body: PatchBody): Promise<WriteResponse> {
  const isApply = body.type === "application/apply-patch+yaml";
  return update(parts, call, {
    name,
    mayCreate: isApply,
    uid: "",
    next: (old) => isApply ? applyBody(parts, call, old, body) : patchBody(parts, call, name, old, body),
  });
}

async function patchBody(
  parts: RegistryParts,
  call: Call,
  name: string,
  old: JsonObject | undefined,
  body: PatchBody,
): Promise<Draft> {
  const { kind } = call;
  if (old === undefined) throw notFound(subjectOf(kind, name));
  const { object, problems } = patchedObject(call, old, body);
  decodePatched(parts, call, old, { object, problems, body });
  await trackFields(parts, call, old, object);
  return object;
}

function patchedObject(call: Call, old: JsonObject, body: PatchBody) {
  const { kind, fieldValidation } = call;
  const result = appliedPatch(old, body, fieldValidation);
  if (result !== undefined) return result;
  return { object: strategicMergePatch(old, body.value, kind.schema), problems: body.duplicates };
}

/** The object after a JSON patch or merge patch; undefined for other patches. */
export function appliedPatch(
  old: JsonObject,
  body: PatchBody,
  validation: FieldValidation,
): { readonly object: Draft; readonly problems: readonly string[] } | undefined {
  switch (body.type) {
    case "application/json-patch+json": {
      const { object, problems } = jsonPatch(old, body.value, validation);
      return { object, problems: [...body.duplicates.map((text) => `json patch ${text}`), ...problems] };
    }
    case "application/merge-patch+json":
      return { object: mergePatch(old, body.value, validation), problems: body.duplicates };
    case "application/strategic-merge-patch+json":
    case "application/apply-patch+yaml":
      return undefined;
    default:
      return body.type satisfies never;
  }
}

/** Decodes a patched object. Its errors are about the patch and not about a body. */
function decodePatched(
  parts: RegistryParts,
  call: Call,
  old: JsonObject,
  { object: draft, problems, body }: { object: Draft; problems: readonly string[]; body: PatchBody },
): void {
  const isLenient = call.fieldValidation === "Ignore";
  const found: string[] = isLenient ? [] : [...problems];
  const collecting: Call = {
    ...call,
    fieldValidation: isLenient ? "Ignore" : "Warn",
    warn: (text) => void found.push(text),
  };
  try {
    checkPatchedVersion(call.kind, draft);
    decodeAsItself(parts, call, draft);
    const isMerged = body.type === "application/strategic-merge-patch+json";
    const numbers = isMerged ? "converted" : "json";
    // The decoder reads the patched object with sorted keys, so the problems are sorted, too.
    const order = (unknown: readonly string[]) => (isMerged ? unknown.map(unquoted) : unknown).toSorted();
    decodeObject(parts.kinds, collecting, { draft, duplicates: [], text: "", numbers, order });
  } catch (error) {
    throw asPatchError(error, call, old, body);
  }
  call.kind.setDefaults(draft);
  if (found.length === 0) return;
  if (call.fieldValidation === "Strict") {
    throw patchError(shownPatch(call, old, body), `strict decoding error: ${found.join(", ")}`);
  }
  for (const problem of found) call.warn(problem);
}

/** The decoder of merged maps escapes nothing in the names of fields. */
function unquoted(problem: string): string {
  const quoted = /^unknown field (".*")$/s.exec(problem)?.[1];
  return quoted === undefined ? problem : `unknown field "${JSON.parse(quoted)}"`;
}

/** A patch may change the version of a custom resource, which is an error of its own: its objects are maps. */
function checkPatchedVersion(kind: Kind, draft: Draft): void {
  const { apiVersion } = draft;
  if (kind.hasStrategicMerge || typeof apiVersion !== "string" || apiVersion.split("/").length > 2) return;
  const [version, expected] = [normalVersion(apiVersion), apiVersionOf(kind)];
  if (version === expected || draft["kind"] !== kind.kind) return;
  if (version === "" || version.endsWith("/")) {
    throw internalError("Object 'apiVersion' is missing in 'object has no apiVersion field'");
  }
  const group = version.includes("/") ? version.slice(0, version.indexOf("/")) : "";
  const error: FieldError = { type: "Invalid", field: "apiVersion", value: version, detail: `must be ${expected}` };
  throw invalid({ group, resource: kind.kind, name: metadataValue(draft, "name") }, [error]);
}

/** kube-apiserver decodes a patched object of another built-in kind as that kind first, and reports those errors. */
function decodeAsItself(parts: RegistryParts, call: Call, draft: Draft): void {
  const { apiVersion, kind } = draft;
  if (!call.kind.hasStrategicMerge || kind === call.kind.kind || typeof kind !== "string") return;
  const [version = "", group = ""] = `${apiVersion}`.split("/").reverse();
  parts.kinds.findKind(group, version, kind)?.kind.decode(draftOf(draft));
}

/** The start of an error about a body that is not an object of the kind: `Secret in version "v1" cannot be handled as a ConfigMap: ...`. */
const unreadable = /^[^ ]+ in version "[^"]*" cannot be handled as an? [^ ]+: /;

/** The same about a body without a readable apiVersion or kind. */
const unrecognized = /^the object provided is unrecognized \(must be of type [^)]*\): (.*) \(<empty>\)$/s;

/** Turns an error about a value of the wrong type into an error of the patch. */
function asPatchError(error: unknown, call: Call, old: JsonObject, body: PatchBody): unknown {
  if (!(error instanceof StatusError)) return error;
  const shown = shownPatch(call, old, body);
  const head = unrecognized.exec(error.message)?.[1];
  if (head !== undefined) {
    return patchError(
      shown,
      head.replace(/ is missing in ''$/, () => ` is missing in '${shown}'`),
    );
  }
  const title = unreadable.exec(error.message);
  if (title === null) return error;
  const detail = error.message.slice(title[0].length).replace(/ is missing in ''$/, () => ` is missing in '${shown}'`);
  const isMerged = body.type === "application/strategic-merge-patch+json";
  return patchError(shown, isMerged ? restoringText(detail) : detail);
}

/** The value in an error: the patched object as kube-apiserver encodes it, or the patch itself. */
function shownPatch(call: Call, old: JsonObject, body: PatchBody): string {
  const live = call.kind.inFieldOrder?.(old) ?? old;
  const patched = appliedPatch(live, body, call.fieldValidation);
  // A custom resource is a map, whose keys are always sorted.
  if (patched !== undefined && !call.kind.hasStrategicMerge) return withLiterals(goJson(patched.object));
  return patched === undefined
    ? goPlain(body.value)
    : withLiterals(patchedText(patched.object, live, call.kind.schema, visitedBy(body)));
}

/** The objects that a patch has read to change them, as the patch of evanphx/json-patch reads them: it writes them sorted. */
function visitedBy({ type, value }: PatchBody): JsonObject {
  if (type === "application/merge-patch+json") return isJsonObject(value) ? value : {};
  const visited: Draft = {};
  for (const operation of isJsonArray(value) ? value : []) {
    if (!isJsonObject(operation)) continue;
    for (const pointer of [read(operation, "path"), read(operation, "from")]) {
      let place = visited;
      for (const key of typeof pointer === "string" ? pointer.split("/").slice(1, -1) : []) {
        const next = read(place, key);
        const below: Draft = isDraft(next) ? next : {};
        put(place, key, below);
        place = below;
      }
    }
  }
  return visited as JsonObject;
}

/** 422: the patched object cannot be decoded. @param shown the object, or the patch itself */
export function patchError(shown: string, detail: string): StatusError {
  const error: FieldError = { type: "Invalid", field: "patch", value: shown, detail };
  return invalid({ group: "", resource: "", name: "" }, [error]);
}

function checkApply(call: Call, body: PatchBody): void {
  const { duplicates } = body;
  if (duplicates.length === 0 || call.fieldValidation === "Ignore") return;
  if (call.fieldValidation === "Strict") {
    throw badRequest(
      `error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  ${
        duplicates.join("\n  ")
      }`,
    );
  }
  for (const problem of duplicates) call.warn(problem);
}

async function applyBody(
  parts: RegistryParts,
  call: Call,
  live: JsonObject | undefined,
  body: PatchBody,
): Promise<Draft> {
  const { kind } = call;
  const context = fieldContext(parts, call);
  const configuration = configurationOf(body);
  const outcome = await applyConfiguration({
    ...context,
    live,
    applied: configuration,
    kind: kind.kind,
    isForced: body.isForced,
  });
  const { object, managedFields, isChanged } = mergedOrConflict(outcome);
  checkApply(call, body);
  const draft = draftOf(object);
  decodeApplied(kind, draft, configuration);
  decodeMetadata(draft, kind, true);
  if (isChanged) kind.setDefaults(draft);
  setManagedFields(draft, managedFields);
  return draft;
}

/** @throws StatusError 500, as the real server for a merged object that does not have the types of its kind */
function decodeApplied(kind: Kind, draft: Draft, configuration: JsonObject): void {
  if (kind.decodeApplied !== undefined) return kind.decodeApplied(draft);
  try {
    kind.decode(draft, "converted");
  } catch (error) {
    const title = error instanceof StatusError ? unreadable.exec(error.message) : null;
    if (!(error instanceof StatusError) || title === null) throw error;
    const groupVersion = `${kind.group}/${kind.version}`;
    throw unconverted(configuration, groupVersion, kind.kind, restoringText(error.message.slice(title[0].length)));
  }
}

/** 500: the merged object of an apply cannot be converted to its type. */
export function unconverted(configuration: JsonObject, groupVersion: string, kind: string, why: string): StatusError {
  const type = `${groupVersion}, Kind=${kind}`;
  const object = `${metadataValue(configuration, "namespace")}/${metadataValue(configuration, "name")}`;
  const message = `failed to convert new object (${object}; ${type}) to proper version: ` +
    `unable to convert unstructured object to ${type}: ${why}`;
  return new StatusError(500, "", message);
}

/** The configuration of an apply. @throws StatusError 400 when it is not an object */
export function configurationOf(body: PatchBody): JsonObject {
  if (isJsonObject(body.value)) return withNormalVersion(body.value);
  if (body.value === null) return {};
  throw badRequest(
    `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${
      jsonTypeName(body.value)
    } ` +
      "into Go value of type map[string]interface {}",
  );
}

function withNormalVersion(configuration: JsonObject): JsonObject {
  const apiVersion = read(configuration, "apiVersion");
  if (typeof apiVersion !== "string" || !apiVersion.includes("/")) return configuration;
  // Go forgets the kind, too.
  if (apiVersion.split("/").length > 2) throw badRequest("invalid object type: /, Kind=");
  return apiVersion.startsWith("/") ? { ...configuration, apiVersion: normalVersion(apiVersion) } : configuration;
}

/** The merged object. @throws StatusError 409 when other managers own fields that the configuration sets */
export function mergedOrConflict(outcome: ApplyOutcome): Extract<ApplyOutcome, { kind: "merged" }> {
  if (outcome.kind === "conflicts") throw applyConflict(outcome.conflicts);
  return outcome;
}

/** The fields of metadata in the order of Go. */
const metadataOrder = [
  "name",
  "generateName",
  "namespace",
  "selfLink",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "labels",
  "annotations",
  "ownerReferences",
  "finalizers",
  "managedFields",
];

/**
 * A patched object as kube-apiserver shows it in an error: the fields that the patch has changed are sorted, and the others
 * are in the order of the Go struct.
 *
 * @param old the object before the patch @param visited the objects that it has read, which are sorted, too
 */
export function patchedText(object: JsonObject, old: JsonObject, type: TypeSchema, visited: JsonObject = {}): string {
  return changedText(object, old, type, visited, true);
}

function changedText(
  object: JsonObject,
  old: JsonObject,
  type: TypeSchema,
  visited: JsonObject,
  isRoot = false,
): string {
  const fields = Object.keys(object).sort().map((key) => {
    const schema = type.kind === "struct" ? type.fields.get(key) : undefined;
    const [value, before] = [read(object, key) ?? null, read(old, key) ?? null];
    const below = read(visited, key);
    if (!isSameJson(value, before) || (isJsonObject(below) && isJsonObject(value))) {
      const isChanged = isJsonObject(value) && isJsonObject(before);
      const inner = isJsonObject(below) ? below : {};
      return `${goJson(key)}:${isChanged ? changedText(value, before, schema ?? type, inner) : goJson(value)}`;
    }
    if (isRoot && key === "metadata" && isJsonObject(value)) return `${goJson(key)}:${metadataText(value)}`;
    return `${goJson(key)}:${isJsonObject(value) && schema?.kind === "map" ? goJson(value) : printExactJson(value)}`;
  });
  return `{${fields.join(",")}}`;
}

function metadataText(metadata: JsonObject): string {
  const fields = metadataOrder.filter((key) => Object.hasOwn(metadata, key)).map((key) => {
    const value = metadata[key] ?? null;
    // Lists of structs are already in the order of Go; maps are sorted.
    return `${goJson(key)}:${isJsonObject(value) ? goJson(value) : printExactJson(value)}`;
  });
  return `{${fields.join(",")}}`;
}

const unmarshalling = /^json: cannot unmarshal (\w+)( [^ ]+)? into Go struct field [^ ]+ of type (.+)$/;

/** The names that Go's reflect package has for the types of its JSON decoder. */
const kinds: ReadonlyMap<string, string> = new Map([["array", "slice"], ["object", "map"]]);
const scalars: ReadonlySet<string> = new Set(["string", "bool", "int32", "int64", "float64"]);

/** Translates an error of the JSON decoder to one of the decoder for maps, which serves strategic merge patches. */
export function restoringText(message: string): string {
  const [, found, number = "", type] = unmarshalling.exec(message) ?? [];
  if (found === undefined || type === undefined) return message;
  const kind = found === "number" ? (/[.eE]/.test(number) ? "float64" : "int64") : kinds.get(found) ?? found;
  if (type.startsWith("[]")) return `cannot restore slice from ${kind}`;
  if (type.startsWith("map[")) return `cannot restore map from ${kind}`;
  if (!scalars.has(type)) return `cannot restore struct from: ${kind}`;
  // Go can convert numbers to text, so the message for these types differs.
  const isConvertible = (kind === "int64" && type === "string") || (kind === "float64" && type.startsWith("int"));
  return isConvertible ? `cannot convert ${kind} to ${type}` : `unrecognized type: ${type}`;
}
