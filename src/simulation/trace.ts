/**
 * Trace: everything that happened in a run, in order, with its virtual time. Its digest shows whether two runs were the same;
 * its timeline is what a user reads when an invariant was broken.
 */

/** Which side acted. */
export type TraceActor = "operator" | "user" | "cluster" | "fault";

/** One thing that happened. */
export interface TraceEntry {
  /** Virtual milliseconds since the start of the run. */
  readonly atMs: number;
  readonly actor: TraceActor;
  /** The number of the operator process, 0 for none. */
  readonly process: number;
  /** `PATCH deployments.apps default/web`, `MODIFIED foos default/a`. */
  readonly what: string;
  /** The status of the response, the cause, and so on. */
  readonly detail: string;
  /** "" for none. */
  readonly resourceVersion: string;
}

/** The record of a run. */
export class Trace {
  readonly entries: TraceEntry[] = [];
  readonly #now: () => number;

  /** @param now virtual milliseconds since the start of the run */
  constructor(now: () => number) {
    this.#now = now;
  }

  add(actor: TraceActor, what: string, { process = 0, detail = "", resourceVersion = "" }: Partial<TraceEntry> = {}) {
    this.entries.push({ atMs: this.#now(), actor, process, what, detail, resourceVersion });
  }

  /** 16 hexadecimal digits, equal for equal runs: FNV-1a over the timeline, twice. */
  digest(): string {
    let [low, high] = [0x811c9dc5, 0x01000193];
    for (const entry of this.entries) {
      const text = lineOf(entry);
      for (let index = 0; index < text.length; index++) {
        const code = text.charCodeAt(index);
        low = Math.imul(low ^ code, 0x01000193);
        high = Math.imul(high ^ code ^ (low >>> 16), 0x01000193);
      }
    }
    return hex(high) + hex(low);
  }

  /** One line per entry, in columns. @param from index of the first entry */
  timeline(from = 0): string {
    return this.entries.slice(from).map((entry) => `${lineOf(entry)}\n`).join("");
  }
}

function lineOf({ atMs, actor, process, what, detail, resourceVersion }: TraceEntry): string {
  const name = process > 0 ? `${actor} ${process}` : actor;
  const version = resourceVersion === "" ? "" : ` @${resourceVersion}`;
  const seconds = (atMs / 1000).toFixed(3).padStart(9);
  return `${seconds} s  ${name.padEnd(10)}  ${what}${version}${detail === "" ? "" : `  (${detail})`}`;
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
    if (count > maxRepeats) lines.push(`${" ".repeat(13)}... repeated ${count - maxRepeats} more times`);
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
