/**
 * Coverage of blocks, from the inspector of V8: which parts of src the inputs so far have not reached.
 *
 * Assumption: start() comes before the import of the measured modules, because V8 counts blocks only in functions that it
 * compiles afterwards.
 */
import type { Profiler } from "node:inspector";
import { Session } from "node:inspector/promises";

/** Positions in a file, the end exclusive. */
type Range = readonly [start: number, end: number];

/** What one or several runs did not reach: the ranges of each function that ran. */
export type Measured = ReadonlyMap<string, readonly Range[]>;

/** Counts what runs between two calls of {@link take}. */
export class CoverageMeter {
  readonly #session = new Session();
  readonly #covers: readonly string[];

  /** @param covers The paths in src that count. */
  constructor(covers: readonly string[]) {
    this.#covers = covers.map((path) => `/src/${path}`);
  }

  async start(): Promise<void> {
    this.#session.connect();
    await this.#session.post("Profiler.enable");
    await this.#session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  }

  /** What ran since the last call. */
  async take(): Promise<Measured> {
    const measured = new Map<string, readonly Range[]>();
    const { result } = await this.#session.post("Profiler.takePreciseCoverage");
    for (const script of result) {
      if (this.#covers.some((path) => script.url.includes(path))) addScript(measured, script);
    }
    return measured;
  }
}

function addScript(measured: Map<string, readonly Range[]>, { url, functions }: Profiler.ScriptCoverage): void {
  for (const { ranges: [whole, ...inner] } of functions) {
    if (whole === undefined || whole.count === 0) continue;
    const missed = inner.filter(({ count }) => count === 0)
      .map(({ startOffset, endOffset }): Range => [startOffset, endOffset]);
    measured.set(`${url}:${whole.startOffset}:${whole.endOffset}`, missed);
  }
}

/** What all inputs so far have reached. */
export class ReachedCode {
  readonly #missed = new Map<string, readonly Range[]>();

  /** The number of functions that ran. */
  get functions(): number {
    return this.#missed.size;
  }

  /** How much the measured run reaches that nothing before it reached; 0 for nothing. */
  gainOf(measured: Measured): number {
    let gain = 0;
    for (const [key, missed] of measured) {
      const known = this.#missed.get(key);
      gain += known === undefined ? 1000 : sizeOf(known) - sizeOf(intersectionOf(known, missed));
    }
    return gain;
  }

  add(measured: Measured): void {
    for (const [key, missed] of measured) {
      const known = this.#missed.get(key);
      this.#missed.set(key, known === undefined ? missed : intersectionOf(known, missed));
    }
  }
}

function sizeOf(ranges: readonly Range[]): number {
  return ranges.reduce((sum, [start, end]) => sum + end - start, 0);
}

/** Ranges come sorted; inner ones of a missed range may follow it. */
function intersectionOf(left: readonly Range[], right: readonly Range[]): readonly Range[] {
  const both: Range[] = [];
  for (const [start, end] of left) {
    for (const [from, to] of right) {
      if (from < end && start < to) both.push([Math.max(start, from), Math.min(end, to)]);
    }
  }
  return both;
}
