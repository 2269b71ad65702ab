/**
 * Trace: everything that happened in a run, in order, with its virtual time. Its digest says whether two runs were the same;
 * its timeline is what a person reads when something went wrong.
 */

/** Who did something. */
export type TraceActor = "operator" | "somebody" | "cluster" | "fault";

/** One thing that happened. */
export interface TraceEntry {
  /** Virtual milliseconds since the start. */
  readonly atMs: number;
  readonly actor: TraceActor;
  /** Which process of the operator; 0 where it was none. */
  readonly process: number;
  /** `PATCH deployments.apps default/web`, `MODIFIED foos default/a`. */
  readonly what: string;
  /** The answer's status, the cause, whatever else is worth knowing. */
  readonly detail: string;
  /** "" where there is none. */
  readonly resourceVersion: string;
}

/** A record of a run. */
export class Trace {
  readonly entries: TraceEntry[] = [];
  readonly #now: () => number;

  /** @param now virtual milliseconds since the start */
  constructor(now: () => number) {
    this.#now = now;
  }

  add(actor: TraceActor, what: string, { process = 0, detail = "", resourceVersion = "" }: Partial<TraceEntry> = {}) {
    this.entries.push({ atMs: this.#now(), actor, process, what, detail, resourceVersion });
  }

  /** 16 hexadecimal digits that are the same for the same run. FNV-1a over the timeline, twice. */
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

  /** One line per entry, in columns. @param from entries before it are left out */
  timeline(from = 0): string {
    return this.entries.slice(from).map((entry) => `${lineOf(entry)}\n`).join("");
  }
}

function lineOf({ atMs, actor, process, what, detail, resourceVersion }: TraceEntry): string {
  const who = process > 0 ? `${actor} ${process}` : actor;
  const version = resourceVersion === "" ? "" : ` @${resourceVersion}`;
  const seconds = (atMs / 1000).toFixed(3).padStart(9);
  return `${seconds} s  ${who.padEnd(10)}  ${what}${version}${detail === "" ? "" : `  (${detail})`}`;
}

function hex(value: number): string {
  return (value >>> 0).toString(16).padStart(8, "0");
}
