/**
 * asInternal(): a value as kube-apiserver's own types show it: Go's names, every field in its order, null for what is
 * absent. Messages about what may not change end with the difference of two such values.
 */
import {
  type Draft,
  draftOf,
  type DraftValue,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  put,
} from "../model/mod.ts";
import { findObject } from "./fields.ts";
import { internalTypes } from "./generated/internal_types.ts";
import { unifiedDiff } from "./unified_diff.ts";

/** Types that messages show. */
export type InternalType =
  | "CertificateSigningRequestCondition"
  | "EphemeralContainer"
  | "PersistentVolumeClaimSpec"
  | "PersistentVolumeSource"
  | "PodSpec";

/** One field: `Name:code`; an embedded type has no name. */
interface InternalField {
  readonly name: string;
  readonly code: string;
}

let types: ReadonlyMap<string, readonly InternalField[]> | undefined;

/** The differences of two values of a type, as messages show them. */
export function internalDiff(type: InternalType, before: JsonObject, after: JsonObject): string {
  return unifiedDiff(asInternal(type, before), asInternal(type, after));
}

/** The value as the server's own type shows it. */
export function asInternal(type: InternalType, value: JsonObject): Json {
  types ??= readTypes();
  return structOf(type, value);
}

function readTypes(): ReadonlyMap<string, readonly InternalField[]> {
  return new Map(
    internalTypes.trim().split("\n").map((line) => {
      const [name = "", ...fields] = line.split(" ");
      return [name, fields.filter((field) => field !== "").map(readField)] as const;
    }),
  );
}

function readField(text: string): InternalField {
  const colon = text.indexOf(":");
  return { name: text.slice(0, colon), code: text.slice(colon + 1) };
}

function structOf(type: string, written: JsonObject): Draft {
  const value = type === "PodSpec" ? withHostFlags(written) : written;
  const made: Draft = {};
  const keys = new Map(Object.keys(value).map((key) => [key.toLowerCase(), key]));
  for (const { name, code } of types?.get(type) ?? []) {
    // The fields of an embedded struct are those of the one around it.
    if (name === "") Object.assign(made, structOf(code.replace("@", ""), value));
    else made[name] = valueOf(code, value[keys.get(name.toLowerCase()) ?? ""] ?? null);
  }
  return made;
}

/** What of the node a Pod shares stands in its security context, inside the server. */
function withHostFlags(spec: JsonObject): JsonObject {
  const flags = ["hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers"];
  const shared = Object.fromEntries(flags.flatMap((key) => spec[key] === undefined ? [] : [[key, spec[key]]]));
  return { ...spec, securityContext: { ...findObject(spec, "securityContext"), ...shared } };
}

function valueOf(code: string, value: Json): DraftValue {
  const [mark, rest] = [code.charAt(0), code.slice(1)];
  switch (mark) {
    case "*":
      return value === null ? null : valueOf(rest, value);
    case "[":
      return isJsonArray(value) ? value.map((item) => valueOf(rest, item)) : null;
    case "{":
      return isJsonObject(value) ? mapOf(rest, value) : null;
    case "@":
      return structOf(rest, isJsonObject(value) ? value : {});
    default:
      return value === null ? zeros.get(code) ?? null : draftOf(value);
  }
}

const zeros: ReadonlyMap<string, DraftValue> = new Map<string, DraftValue>([["s", ""], ["n", 0], ["b", false], [
  "q",
  "0",
]]);

function mapOf(code: string, value: JsonObject): Draft {
  const made: Draft = {};
  for (const key of Object.keys(value).sort()) put(made, key, valueOf(code, value[key] ?? null));
  return made;
}
