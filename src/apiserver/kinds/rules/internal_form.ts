/**
 * TODO remove
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
} from "../../model/mod.ts";
import { internalTypes } from "../generated/internal_types.ts";
import { findObject } from "../types/mod.ts";

/** Types that messages show. */
type InternalType =
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

const contextLines = 3;

interface Line {
  /** " ", "-" or "+". */
  readonly mark: string;
  readonly text: string;
  /** How many lines of each side are before it. */
  readonly at: readonly [before: number, after: number];
}

/** The differences; empty where there are none. */
export function unifiedDiff(before: Json, after: Json): string {
  const lines = compared(
    JSON.stringify(before, undefined, 1).split("\n"),
    JSON.stringify(after, undefined, 1).split("\n"),
  );
  return hunksOf(lines).map((hunk) => shown(lines.slice(...hunk))).join("");
}

/** All lines of both sides, with what is the same once. */
function compared(before: readonly string[], after: readonly string[]): readonly Line[] {
  const longest = lengthsOfCommon(before, after);
  const lines: Line[] = [];
  let [left, right] = [0, 0];
  while (left < before.length || right < after.length) {
    const at = [left, right] as const;
    const [old, now] = [before[left], after[right]];
    if (old !== undefined && old === now) {
      lines.push({ mark: " ", text: old, at });
      left++;
      right++;
    } else if (
      old !== undefined &&
      (now === undefined || commonAt(longest, left + 1, right) >= commonAt(longest, left, right + 1))
    ) {
      lines.push({ mark: "-", text: old, at });
      left++;
    } else {
      lines.push({ mark: "+", text: now ?? "", at });
      right++;
    }
  }
  return lines;
}

/** By line of each side: how many lines the rests have in common. */
function lengthsOfCommon(before: readonly string[], after: readonly string[]): readonly Uint16Array[] {
  const lengths = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1));
  for (let left = before.length - 1; left >= 0; left--) {
    const [row, below] = [lengths[left], lengths[left + 1]];
    if (row === undefined || below === undefined) continue;
    for (let right = after.length - 1; right >= 0; right--) {
      row[right] = before[left] === after[right]
        ? (below[right + 1] ?? 0) + 1
        : Math.max(below[right] ?? 0, row[right + 1] ?? 0);
    }
  }
  return lengths;
}

function commonAt(lengths: readonly Uint16Array[], left: number, right: number): number {
  return lengths[left]?.[right] ?? 0;
}

/** Which lines to show together: every difference with what is around it. */
function hunksOf(lines: readonly Line[]): readonly (readonly [from: number, to: number])[] {
  const hunks: (readonly [number, number])[] = [];
  lines.forEach(({ mark }, index) => {
    if (mark === " ") return;
    const [from, to] = [Math.max(0, index - contextLines), Math.min(lines.length, index + contextLines + 1)];
    const last = hunks.at(-1);
    if (last !== undefined && from <= last[1]) hunks[hunks.length - 1] = [last[0], to];
    else hunks.push([from, to]);
  });
  return hunks;
}

function shown(lines: readonly Line[]): string {
  const [before, after] = lines[0]?.at ?? [0, 0];
  const old = rangeText(before, lines.filter(({ mark }) => mark !== "+").length);
  const now = rangeText(after, lines.filter(({ mark }) => mark !== "-").length);
  return `@@ -${old} +${now} @@\n${lines.map(({ mark, text }) => `${mark}${text}\n`).join("")}`;
}

function rangeText(start: number, count: number): string {
  if (count === 1) return String(start + 1);
  return `${count === 0 ? start : start + 1},${count}`;
}
