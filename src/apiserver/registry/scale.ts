/**
 * The scale subresource: reads and writes an autoscaling/v1 Scale through the paths that a kind declares, so that HPAs and
 * `kubectl scale` work on any kind. The managedFields of the object contain the owner of the replicas.
 */
import { apiVersionOf, formatLabelSelector, type LabelRequirement } from "../../api/mod.ts";
import {
  badRequest,
  conflict,
  type Draft,
  draftOf,
  type DraftValue,
  type FieldError,
  internalError,
  invalid,
  isDraft,
  isJsonArray,
  isJsonNumber,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonTypeName,
  type Kind,
  notFound,
  numberLiteral,
  type NumberRule,
  put,
  read,
  type ScalePaths,
  type StatusError,
  type StructSchema,
  type TypeSchema,
  withLiterals,
} from "../model/mod.ts";
import {
  applyConfiguration,
  managedFieldsAfterScale,
  managedFieldsOf,
  type ReplicasPaths,
  scaleManagedFields,
  updateManagedFields,
} from "../patch/mod.ts";
import { type Body, type Call, type RegistryParts, represented, subjectOf, type WriteResponse } from "./call.ts";
import { setManagedFields } from "./track_fields.ts";
import { metadataText, readMetadata } from "./metadata.ts";
import {
  appliedPatch,
  configurationOf,
  mergedOrConflict,
  type PatchBody,
  patchedText,
  patchError,
  restoringText,
  unconverted,
} from "./patch.ts";
import { get } from "./read.ts";
import { modifiedText, update } from "./update.ts";

/** The Scale of an object. @throws StatusError 404 */
export async function getScale(parts: RegistryParts, call: Call, name: string, version: string): Promise<JsonObject> {
  const { object } = await get(parts, call, name, version);
  const paths = pathsOf(call, name);
  if (hasReplicas(call, object, paths)) return scaleOf(object, paths);
  throw internalError(`the spec replicas field ${JSON.stringify(paths.specReplicas)} does not exist`);
}

/** The replicas of a custom resource may be absent; those of built-in kinds have a default. */
function hasReplicas({ kind }: Call, object: JsonObject, { specReplicas }: ScalePaths): boolean {
  return kind.hasStrategicMerge || (atPath(object, specReplicas) ?? null) !== null;
}

/** Sets the replicas of an object from a Scale. @throws StatusError */
export function putScale(parts: RegistryParts, call: Call, name: string, body: Body): Promise<WriteResponse> {
  return changeScale(parts, call, name, async (live) => {
    const scale = body();
    const mismatch = decodeReplicas(scale, "json");
    if (mismatch !== undefined) {
      throw badRequest(`Scale in version "v1" cannot be handled as a Scale: ${mismatch}`);
    }
    const fields = await updateManagedFields({ ...scaleContext(parts, call), live, updated: scale });
    setManagedFields(scale, fields);
    return scale;
  });
}

/** Patches the Scale of an object. @throws StatusError */
export function patchScale(parts: RegistryParts, call: Call, name: string, body: PatchBody): Promise<WriteResponse> {
  return changeScale(parts, call, name, async (live) => {
    const context = scaleContext(parts, call);
    if (body.type === "application/apply-patch+yaml") {
      const request = { ...context, live, applied: configurationOf(body), kind: "Scale", isForced: body.isForced };
      const { object, managedFields } = mergedOrConflict(await applyConfiguration(request));
      const applied = draftOf(object);
      const mismatch = decodeReplicas(applied, "converted");
      if (mismatch !== undefined) {
        throw unconverted(request.applied, "autoscaling/v1", "Scale", restoringText(mismatch));
      }
      setManagedFields(applied, managedFields);
      return applied;
    }
    // A Scale has no lists, so a strategic merge patch is a merge patch.
    const plain = body.type === "application/json-patch+json" ? body.type : "application/merge-patch+json";
    const result = appliedPatch(live, { ...body, type: plain }, call.fieldValidation);
    const scale = result?.object ?? draftOf(live);
    const shown = withLiterals(patchedText(scale, live, scaleSchema));
    const mismatch = decodeReplicas(scale, "json");
    if (mismatch !== undefined) throw patchError(shown, mismatch);
    setManagedFields(scale, await updateManagedFields({ ...context, live, updated: scale }));
    return scale;
  });
}

/** Computes the new Scale from the live one; both have the managedFields of the replicas. */
type NextScale = (live: JsonObject) => Promise<JsonObject>;

async function changeScale(parts: RegistryParts, call: Call, name: string, next: NextScale): Promise<WriteResponse> {
  const paths = pathsOf(call, name);
  const { kind } = call;
  const response = await update(parts, { ...call, subresource: "scale" }, {
    name,
    mayCreate: false,
    uid: "",
    next: async (old) => {
      if (old === undefined) throw notFound(subjectOf(kind, name));
      const replicas = replicasPaths(call);
      const before = managedFieldsOf(old);
      const found = hasReplicas(call, old, paths) ? scaleOf(old, paths) : { ...scaleOf(old, paths), spec: unset };
      const live = withManagedFields(found, scaleManagedFields(before, replicas));
      const scale = await next(live);
      checkScale(call, old, scale);
      if (!kind.hasStrategicMerge && replicasIn(scale) === unset.replicas) {
        throw badRequest(`the spec replicas field ${JSON.stringify(paths.specReplicas)} cannot be empty`);
      }
      const draft = draftOf(old);
      setPath(draft, paths.specReplicas, replicasOf(kind, paths, scale, name));
      const write = {
        managedFields: before,
        scale: managedFieldsOf(scale),
        apiVersion: apiVersionOf(kind),
        paths: replicas,
      };
      setManagedFields(draft, managedFieldsAfterScale(write));
      return draft;
    },
  });
  return { code: response.code, result: represented(scaleOf(response.result.object, paths)) };
}

function scaleContext(parts: RegistryParts, call: Call) {
  return {
    type: scaleSchema,
    apiVersion: "autoscaling/v1",
    subresource: "scale",
    manager: call.fieldManager,
    now: parts.clock.now(),
  };
}

function withManagedFields(scale: JsonObject, fields: readonly Json[] | undefined): JsonObject {
  const metadata = read(scale, "metadata");
  if (fields === undefined || !isJsonObject(metadata)) return scale;
  return { ...scale, metadata: { ...metadata, managedFields: fields } };
}

/** The path of the replicas in each version of the kind. */
function replicasPaths(call: Call): ReplicasPaths {
  return new Map(call.family.served.map((kind) => {
    const path = kind.subresources.get("scale")?.scale?.specReplicas;
    const parts = path?.split(".").filter((part) => part !== "").map((part) => `f:${part}`);
    return [apiVersionOf(kind), parts];
  }));
}

function checkScale(call: Call, old: JsonObject, scale: JsonObject): void {
  const name = metadataText(old, "name");
  const subject = subjectOf(call.kind, name);
  if (read(scale, "kind") !== "Scale") {
    throw badRequest(`the API version in the data (${String(read(scale, "apiVersion"))}) does not match`);
  }
  const own = metadataText(scale, "name");
  if (own !== name) {
    throw badRequest(`the name of the object (${own}) does not match the name on the URL (${name})`);
  }
  const [uid, version] = [metadataText(scale, "uid"), metadataText(scale, "resourceVersion")];
  if (uid !== "" && uid !== metadataText(old, "uid")) {
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadataText(old, "uid")}`;
    throw conflict(subject, why);
  }
  if (version !== "" && version !== metadataText(old, "resourceVersion")) throw conflict(subject, modifiedText);
}

/** The spec of a Scale before its first replicas, as kube-apiserver marks it: a patch that sets no replicas keeps it. */
const unset = { replicas: -(2 ** 31) };

function replicasIn(scale: JsonObject): number {
  const spec = read(scale, "spec");
  return Number(isJsonObject(spec) ? read(spec, "replicas") ?? 0 : 0);
}

function replicasOf(kind: Kind, paths: ScalePaths, scale: JsonObject, name: string): number {
  const replicas = replicasIn(scale);
  if (replicas >= 0) return replicas;
  throw negative(kind, paths, replicas, name);
}

/** Decodes the replicas in place, as the decoder of built-in kinds decodes an int32. @returns the error of Go's decoder */
function decodeReplicas(scale: Draft, numbers: NumberRule): string | undefined {
  const spec = read(scale, "spec");
  const value = isDraft(spec) ? read(spec, "replicas") ?? 0 : 0;
  const replicas = int32Of(value, numbers);
  if (replicas !== undefined) {
    if (isDraft(spec)) spec["replicas"] = replicas;
    return undefined;
  }
  const literal = typeof value === "string" ? numberLiteral(value) : undefined;
  const found = literal ?? (isJsonNumber(value) ? String(value) : undefined);
  const type = found === undefined ? jsonTypeName(value) : `number ${found}`;
  return `json: cannot unmarshal ${type} into Go struct field ScaleSpec.spec.replicas of type int32`;
}

function int32Of(value: DraftValue, numbers: NumberRule): number | undefined {
  if (!isJsonNumber(value) || (typeof value === "number" && !Number.isInteger(value))) return undefined;
  // A double beyond int64 becomes the smallest int64, whose lower bits are zeros.
  const isBeyond = typeof value === "number" && Math.abs(value) >= 2 ** 63;
  const kept = isBeyond ? 0 : Number(BigInt.asIntN(32, BigInt(value)));
  return numbers === "converted" || kept === Number(value) ? kept : undefined;
}

function negative(kind: Kind, paths: ScalePaths, replicas: number, name: string): StatusError {
  if (!kind.hasStrategicMerge) {
    const detail = "should be a non-negative integer";
    const error: FieldError = { type: "Invalid", field: paths.specReplicas, value: replicas, detail };
    return invalid({ group: kind.group, resource: kind.kind, name }, [error]);
  }
  const detail = "must be greater than or equal to 0";
  const error: FieldError = { type: "Invalid", field: "spec.replicas", value: replicas, detail };
  return invalid({ group: "autoscaling", resource: "Scale", name }, [error]);
}

function pathsOf(call: Call, name: string): ScalePaths {
  const paths = call.kind.subresources.get("scale")?.scale;
  if (paths === undefined) throw notFound(subjectOf(call.kind, name));
  return paths;
}

/** The type of a Scale, for merging. */
const scaleSchema: StructSchema = struct({
  apiVersion: { kind: "scalar", type: "string" },
  kind: { kind: "scalar", type: "string" },
  metadata: { kind: "any" },
  spec: struct({ replicas: { kind: "scalar", type: "integer", format: "int32" } }),
  status: struct({
    replicas: { kind: "scalar", type: "integer", format: "int32" },
    selector: { kind: "scalar", type: "string" },
  }),
});

function struct(fields: Readonly<Record<string, TypeSchema>>): StructSchema {
  return {
    kind: "struct",
    fields: new Map(Object.entries(fields)),
    patch: new Map(),
    isAtomic: false,
    keepsUnknown: false,
  };
}

/** The Scale of an object. */
function scaleOf(object: JsonObject, paths: ScalePaths): JsonObject {
  const replicas = atPath(object, paths.specReplicas);
  const present = atPath(object, paths.statusReplicas);
  const selector = paths.labelSelector === undefined ? "" : selectorText(atPath(object, paths.labelSelector));
  const metadata = readMetadata(object);
  const identity: Record<string, Json> = {};
  for (const field of ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"]) {
    const value = read(metadata, field);
    if (value !== undefined) identity[field] = value;
  }
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: identity,
    spec: typeof replicas === "number" && replicas !== 0 ? { replicas } : {},
    status: {
      replicas: typeof present === "number" ? present : 0,
      ...(selector === "" ? {} : { selector }),
    },
  };
}

/** Sets the value at a JSON path, and creates missing objects on the path. */
function setPath(draft: Draft, path: string, value: number): void {
  const parts = partsOf(path);
  const last = parts.pop();
  if (last === undefined) return;
  let target = draft;
  for (const part of parts) {
    const next = read(target, part);
    if (isDraft(next)) target = next;
    else {
      const created: Draft = {};
      put(target, part, created);
      target = created;
    }
  }
  put(target, last, value);
}

function atPath(object: JsonObject, path: string): Json | undefined {
  let value: Json | undefined = object;
  for (const part of partsOf(path)) {
    if (!isJsonObject(value)) return undefined;
    value = read(value, part);
  }
  return value;
}

function partsOf(path: string): string[] {
  return path.split(".").filter((part) => part !== "");
}

/** A selector as text. The field may be text, a LabelSelector or a map of labels. */
function selectorText(value: Json | undefined): string {
  if (typeof value === "string") return value;
  if (!isJsonObject(value)) return "";
  const labels = read(value, "matchLabels");
  const expressions = read(value, "matchExpressions");
  const isSelector = labels !== undefined || expressions !== undefined;
  const matchLabels = stringsOf(isSelector ? labels : value);
  const matchExpressions = isJsonArray(expressions) ? expressions.flatMap(requirementOf) : [];
  return formatLabelSelector({ matchLabels, matchExpressions });
}

function stringsOf(value: Json | undefined): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {};
  if (!isJsonObject(value)) return texts;
  for (const key of Object.keys(value).sort()) {
    const text = read(value, key);
    if (typeof text === "string") put(texts, key, text);
  }
  return texts;
}

function requirementOf(value: Json): readonly LabelRequirement[] {
  if (!isJsonObject(value)) return [];
  const [key, operator, values] = [read(value, "key"), read(value, "operator"), read(value, "values")];
  if (typeof key !== "string") return [];
  switch (operator) {
    case "In":
    case "NotIn":
      return [{ key, operator, values: isJsonArray(values) ? values.map(String) : [] }];
    case "Exists":
    case "DoesNotExist":
      return [{ key, operator }];
    default:
      return [];
  }
}
