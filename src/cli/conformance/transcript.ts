/**
 * How the transcripts of two servers differ, and how a difference is shown: a unified diff of YAML, without the values of
 * secrets.
 */
import { formatPatch, structuredPatch } from "diff";
import { isDeepEqual, isJsonObject } from "../../api/mod.ts";
import { redactWhole } from "../../observe/mod.ts";
import { printYaml } from "../../yaml/mod.ts";
import type { Transcript } from "./case_recorder.ts";

/** Equal lines around a difference. */
const context = 4;

/** The names of the two servers. */
export type ServerNames = readonly [left: string, right: string];

/** The lines of a unified diff; none if the transcripts are equal. They may have secrets. */
export function differenceOf(left: Transcript, right: Transcript, names: ServerNames): readonly string[] {
  return isEqual(left, right) ? [] : linesOf(left, right, names);
}

/** What two transcripts are without the values of secrets. */
export interface ShownTranscripts {
  readonly left: unknown;
  readonly right: unknown;
}

/** Both transcripts without secrets. A secret that differs is marked on both sides, `[masked] (NAME)`. */
export function withoutSecrets(left: Transcript, right: Transcript, names: ServerNames): ShownTranscripts {
  const [shownLeft, shownRight] = marked([left, right], [redactWhole(left), redactWhole(right)], names);
  return { left: shownLeft, right: shownRight };
}

/** As {@link differenceOf}, without secrets. */
export function shownDifference(left: Transcript, right: Transcript, names: ServerNames): readonly string[] {
  if (isEqual(left, right)) return [];
  const shown = withoutSecrets(left, right, names);
  return linesOf(shown.left, shown.right, names);
}

/** The order of fields is that of the mask. What is no JSON is not in a recording either. */
function isEqual(left: Transcript, right: Transcript): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

function linesOf(left: unknown, right: unknown, names: ServerNames): readonly string[] {
  const [before, after] = [yamlOf(left), yamlOf(right)];
  const patch = structuredPatch(...names, before, after, undefined, undefined, { context });
  const requests = before.split("\n").map((line) => /^- request: (.*)$/.exec(line)?.[1]);
  return formatPatch(patch).trimEnd().split("\n").filter((line) => !/^(={5,}|Index: )/.test(line)).map((line) => {
    // As the function in a diff of git: which request it is about.
    const [, start] = /^@@ -(\d+)[ ,].*@@$/.exec(line) ?? [];
    if (start === undefined) return line;
    const request = requests.slice(0, Number(start) + context).findLast((one) => one !== undefined);
    return request === undefined ? line : `${line} ${request}`;
  });
}

function yamlOf(value: unknown): string {
  return printYaml(JSON.parse(JSON.stringify(value)), { sortKeys: false, style: "go" });
}

type Pair = readonly [left: unknown, right: unknown];

/** Marks the values that differ and look equal without their secrets. */
function marked([left, right]: Pair, shown: Pair, names: ServerNames): Pair {
  if (bothHaveParts(left, right, ...shown)) return markedParts([left, right], shown, names);
  if (isDeepEqual(left, right) || !isDeepEqual(...shown)) return shown;
  const text = typeof shown[0] === "string" ? shown[0] : JSON.stringify(shown[0]);
  return [`${text} (${names[0]})`, `${text} (${names[1]})`];
}

function bothHaveParts(...values: readonly unknown[]): boolean {
  return values.every(isJsonObject) || values.every(Array.isArray);
}

function markedParts([left, right]: Pair, [shownLeft, shownRight]: Pair, names: ServerNames): Pair {
  const [before, after] = [partsOf(left), partsOf(right)];
  const sides = [partsOf(shownLeft), partsOf(shownRight)] as const;
  for (const [key, value] of before) {
    if (!after.has(key) || !sides[0].has(key) || !sides[1].has(key)) continue;
    const shown = marked([value, after.get(key)], [sides[0].get(key), sides[1].get(key)], names);
    sides[0].set(key, shown[0]);
    sides[1].set(key, shown[1]);
  }
  const isList = Array.isArray(shownLeft);
  const [one, other] = sides.map((parts) => isList ? [...parts.values()] : Object.fromEntries(parts));
  return [one, other];
}

function partsOf(value: unknown): Map<string, unknown> {
  return new Map(Object.entries(Object(value)));
}
