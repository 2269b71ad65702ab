/**
 * The Scale of an object: what it looks like, and how JSON paths like `.spec.replicas` are read and set.
 */
import { formatLabelSelector, type LabelRequirement } from "../../api/mod.ts";
import {
  type Draft,
  isDraft,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  put,
  read,
  type ScalePaths,
  type StructSchema,
  type TypeSchema,
} from "../model/mod.ts";
import { readMetadata } from "./metadata.ts";

/** The type of a Scale, as far as merging needs it. */
export const scaleSchema: StructSchema = struct({
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
export function scaleOf(object: JsonObject, paths: ScalePaths): JsonObject {
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

/** Sets the value at a JSON path, with the objects on the way to it. */
export function setPath(draft: Draft, path: string, value: number): void {
  const parts = partsOf(path);
  const last = parts.pop();
  if (last === undefined) return;
  let target = draft;
  for (const part of parts) {
    const next = read(target, part);
    if (isDraft(next)) target = next;
    else {
      const made: Draft = {};
      put(target, part, made);
      target = made;
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

/** A selector field as text: it may be text, a LabelSelector or a map of labels. */
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
