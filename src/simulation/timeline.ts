/**
 * Readings of the recording of a run: the timeline is what a user reads when an invariant was broken, and the digest shows
 * whether two runs were the same.
 */
import type { Entry, NoteEntry, ReconcileEndEntry } from "../observe/mod.ts";

/**
 * The timeline of what matters for some objects: what users and faults did, the starts and ends of processes, failed reconciles,
 * the writes of the operator, and what else happened to these objects. Other lines are counted.
 *
 * @param objects as `deployments.apps default/web`; with none, everything matters
 */
export function focusedTimeline(entries: readonly Entry[], objects: readonly string[]): string {
  const words = objects.flatMap((object) => pathsOf(object));
  if (words.length === 0) return foldRepeats(timelineOf(entries));
  const lines: string[] = [];
  let hidden = 0;
  const close = () => {
    if (hidden > 0) lines.push(`${indent}... ${hidden} more ${hidden === 1 ? "line" : "lines"} (--full)`);
    hidden = 0;
  };
  for (const line of timelineOf(entries).split("\n")) {
    if (isAbout(line, words)) {
      close();
      lines.push(line);
    } else hidden++;
  }
  close();
  return foldRepeats(lines.join("\n"));
}

const indent = " ".repeat(13);

/** How lines name an object: as in the requests of the operator, and as the path of a request of the cluster. */
function pathsOf(object: string): readonly string[] {
  const [collection = "", key = ""] = object.split(" ");
  const [plural = ""] = collection.split(".");
  const name = key.slice(key.indexOf("/") + 1);
  return key === "" ? [] : [`${collection} ${key}`, `/${plural}/${name}`, ` ${key}`];
}

/** Lines without an object: who acts is enough. */
function isAbout(line: string, words: readonly string[]): boolean {
  if (line === "" || line.includes("(write ") || words.some((word) => line.includes(word))) return true;
  return /s {2}(?:user|fault)\b/.test(line) ||
    /s {2}operator \d+(?: [\w-]+)? {2}(?:starts|ends|resumes|reconcile )/.test(line);
}

/** One line for each note, and for each reconcile that failed, in columns. Seconds since the first entry. */
export function timelineOf(entries: readonly Entry[]): string {
  const startedAt = entries[0]?.at ?? 0;
  return entries.flatMap((entry) => {
    const columns = columnsOf(entry);
    return columns === undefined ? [] : [`${lineOf(entry.at - startedAt, columns)}\n`];
  }).join("");
}

/**
 * 16 hexadecimal digits, equal for equal runs: FNV-1a over all entries, twice. The texts of errors are left out, because each
 * runtime has its own.
 */
export function digestOf(entries: readonly Entry[]): string {
  let [low, high] = [0x811c9dc5, 0x01000193];
  for (const entry of entries) {
    const text = JSON.stringify(entry, withoutRuntimeTexts);
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      low = Math.imul(low ^ code, 0x01000193);
      high = Math.imul(high ^ code ^ (low >>> 16), 0x01000193);
    }
  }
  return hex(high) + hex(low);
}

function withoutRuntimeTexts(name: string, value: unknown): unknown {
  return name === "error" || name === "message" ? undefined : value;
}

/** Who acted, and what happened. */
interface Columns {
  readonly name: string;
  readonly text: string;
}

function columnsOf(entry: Entry): Columns | undefined {
  // What was violated is told before the timeline.
  if (entry.kind === "note" && entry.actor === "violation") return undefined;
  if (entry.kind === "note") return { name: nameOf(entry.actor, entry), text: noteText(entry) };
  if (entry.kind !== "reconcile-end" || entry.error === undefined) return undefined;
  const { controller, key, outcome, error } = entry;
  return { name: nameOf("operator", entry), text: `reconcile ${controller} ${key}  (${outcome}: ${error})` };
}

function nameOf(actor: string, { process, cluster }: NoteEntry | ReconcileEndEntry): string {
  const name = process === undefined ? actor : `${actor} ${process}`;
  return cluster === undefined ? name : `${name} ${cluster}`;
}

function noteText({ what, detail, resourceVersion }: NoteEntry): string {
  const version = resourceVersion === undefined ? "" : ` @${resourceVersion}`;
  return `${what}${version}${detail === undefined ? "" : `  (${detail})`}`;
}

function lineOf(ms: number, { name, text }: Columns): string {
  return `${(ms / 1000).toFixed(3).padStart(9)} s  ${name.padEnd(10)}  ${text}`;
}

function hex(value: number): string {
  return (value >>> 0).toString(16).padStart(8, "0");
}

/** Consecutive similar lines that a folded timeline shows. */
const maxRepeats = 4;

/** Shortens runs of lines that differ only in numbers, so that a retry loop does not hide the rest of a timeline. */
export function foldRepeats(timeline: string): string {
  const lines: string[] = [];
  let [pattern, count] = ["", 0];
  const close = () => {
    if (count > maxRepeats) lines.push(`${indent}... repeated ${count - maxRepeats} more times`);
  };
  for (const line of timeline.split("\n")) {
    const next = line.replaceAll(/\d+/g, "#").trimStart();
    if (next !== pattern) {
      close();
      [pattern, count] = [next, 0];
    }
    count++;
    if (count <= maxRepeats) lines.push(line);
  }
  close();
  return lines.join("\n");
}
