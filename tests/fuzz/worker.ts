/**
 * The process in which the inputs of one target run. It makes inputs, measures what they reach, and keeps those that reach
 * more. Before each run it writes the input to a file, so that the process above knows what ended or hung this one.
 *
 * Arguments: one JSON text, see {@link WorkerOptions}. Output: one JSON text a line, see {@link WorkerMessage}.
 */
import fc from "fast-check";
import { openSync, readFileSync, writeSync } from "node:fs";
import process from "node:process";
import { seededRandom } from "../../src/async/mod.ts";
import { readInputs } from "./corpus.ts";
import { CoverageMeter, type Measured, ReachedCode } from "./coverage.ts";
import { maxInputBytes, minimised, Mutator } from "./mutate.ts";
import { type FuzzTarget, signatureOf } from "./target.ts";
import { loadTarget, type TargetName } from "./targets.ts";

/** What a worker does. */
export interface WorkerOptions {
  readonly target: TargetName;
  readonly seed: number;
  readonly ms: number;
  /** Only V8 says what one run reached; elsewhere the inputs are mutations of those in the repository. */
  readonly isGuided: boolean;
  /** Where the input that runs is written: its number and its length in 4 bytes each, and its bytes. */
  readonly current: string;
  /** Defects that are known. */
  readonly known: readonly string[];
  /** Runs only the input in this file. */
  readonly replay?: string;
}

/** What a worker reports. Inputs are Base64. */
export type WorkerMessage =
  | { readonly kind: "find"; readonly signature: string; readonly message: string; readonly input: string }
  | { readonly kind: "done"; readonly runs: number; readonly functions: number; readonly corpus: readonly string[] };

/** How many inputs run between two measurements. */
const batchSize = 64;
const maxMinimiseRuns = 100;
/** Longer inputs stay in the memory of the worker, not in the repository. */
const maxCorpusBytes = 4 * 1024;

const options: WorkerOptions = JSON.parse(process.argv[2] ?? "");
const { target: name, seed, ms, isGuided, replay } = options;
const meter = new CoverageMeter(await coversOf(name));
const currentFile = openSync(options.current, "w");
let runs = 0;
let stray: { readonly error: unknown } | undefined;
process.on("unhandledRejection", (error) => stray ??= { error });

/** The covered paths stand beside the names, because the modules may not be loaded yet. */
async function coversOf(name: TargetName): Promise<readonly string[]> {
  return (await import("./targets.ts")).coverOf(name);
}

function report(message: WorkerMessage): void {
  const bytes = new TextEncoder().encode(`${JSON.stringify(message)}\n`);
  for (let at = 0; at < bytes.length;) at += writeSync(1, bytes, at);
}

/** Runs an input. @returns the error of a broken promise */
async function run(target: FuzzTarget, input: Uint8Array): Promise<{ readonly error: unknown } | undefined> {
  const head = new DataView(new ArrayBuffer(8));
  head.setUint32(0, ++runs);
  head.setUint32(4, input.length);
  const record = new Uint8Array(8 + input.length);
  record.set(new Uint8Array(head.buffer));
  record.set(input, 8);
  writeSync(currentFile, record, 0, record.length, 0);
  stray = undefined;
  try {
    await target.check(input.slice());
  } catch (error) {
    return { error };
  }
  return stray;
}

/** What an input reaches. Nothing ran since the last measurement. */
async function measuredRun(target: FuzzTarget, input: Uint8Array): Promise<Measured> {
  await run(target, input);
  return await meter.take();
}

/** The loop. */
class Fuzzer {
  readonly #target: FuzzTarget;
  readonly #random = seededRandom(seed);
  readonly #mutator: Mutator;
  readonly #reached = new ReachedCode();
  readonly #known = new Set(options.known);
  readonly #corpus: Uint8Array[] = [];
  readonly #endAt = performance.now() + ms;
  #generated: Uint8Array[] = [];

  constructor(target: FuzzTarget) {
    this.#target = target;
    this.#mutator = new Mutator(this.#random, target.words);
  }

  async run(): Promise<void> {
    const files = [...readInputs("corpus", name), ...readInputs("regressions", name)].map(({ bytes }) => bytes);
    const first = [...files, ...this.#target.seeds.map(bytesOf)];
    if (!isGuided) this.#corpus.push(...first);
    await this.#runAll(first, true);
    while (performance.now() < this.#endAt) await this.#runAll(Array.from({ length: batchSize }, () => this.#next()));
    const corpus = isGuided ? await this.#smallestCorpus() : [];
    report({ kind: "done", runs, functions: this.#reached.functions, corpus: corpus.map(encoded) });
  }

  #next(): Uint8Array {
    const input = this.#mutator.below(4) === 0 || this.#corpus.length === 0
      ? this.#generate()
      : this.#mutator.pick(this.#corpus, new Uint8Array(0));
    if (this.#mutator.below(8) === 0) return input;
    return this.#mutator.mutate(input, this.#mutator.pick(this.#corpus, input));
  }

  #generate(): Uint8Array {
    if (this.#generated.length === 0) {
      const sampled = fc.sample(this.#target.arbitrary, { seed: this.#mutator.below(2 ** 31), numRuns: 50 });
      this.#generated = sampled.map(bytesOf).filter(({ length }) => length <= maxInputBytes);
    }
    return this.#generated.pop() ?? new Uint8Array(0);
  }

  /** @param areSmall those of the repository were made small when they were found */
  async #runAll(inputs: readonly Uint8Array[], areSmall = false): Promise<void> {
    if (isGuided) await meter.take();
    for (const input of inputs) {
      const outcome = await run(this.#target, input);
      if (outcome !== undefined) await this.#onFind(input, outcome.error);
    }
    if (!isGuided || this.#reached.gainOf(await meter.take()) === 0) return;
    for (const input of inputs) await this.#keepIfNew(input, areSmall);
  }

  /** Makes an input that reaches more as small as the time allows: each attempt is a run and a measurement. */
  async #keepIfNew(input: Uint8Array, isSmall: boolean): Promise<void> {
    const gain = this.#reached.gainOf(await measuredRun(this.#target, input));
    if (gain === 0) return;
    const isAsGood = async (candidate: Uint8Array) =>
      this.#reached.gainOf(await measuredRun(this.#target, candidate)) >= gain;
    const isDone = isSmall || input.length < 16 || performance.now() >= this.#endAt;
    const small = isDone ? input : await minimised(input, isAsGood, maxMinimiseRuns);
    this.#reached.add(await measuredRun(this.#target, small));
    this.#corpus.push(small);
  }

  async #onFind(input: Uint8Array, error: unknown): Promise<void> {
    const signature = signatureOf(error);
    if (this.#known.has(signature)) return;
    this.#known.add(signature);
    const isSame = async (candidate: Uint8Array) => {
      const outcome = await run(this.#target, candidate);
      return outcome !== undefined && signatureOf(outcome.error) === signature;
    };
    const small = await minimised(input, isSame, 2000);
    const text = error instanceof Error ? error.stack ?? error.message : String(error);
    report({ kind: "find", signature, message: text, input: encoded(small) });
  }

  /** The inputs that are needed for what all of them reach, the shortest first. */
  async #smallestCorpus(): Promise<readonly Uint8Array[]> {
    await meter.take();
    const reached = new ReachedCode();
    const needed: Uint8Array[] = [];
    for (const input of this.#corpus.toSorted((left, right) => left.length - right.length)) {
      if (input.length > maxCorpusBytes) continue;
      const measured = await measuredRun(this.#target, input);
      if (reached.gainOf(measured) === 0) continue;
      reached.add(measured);
      needed.push(input);
    }
    return needed;
  }
}

function bytesOf(input: string | Uint8Array): Uint8Array {
  return typeof input === "string" ? new TextEncoder().encode(input) : input;
}

function encoded(bytes: Uint8Array): string {
  return bytes.toBase64();
}

if (isGuided) await meter.start();
const target = await loadTarget(name);
if (replay === undefined) await new Fuzzer(target).run();
else {
  const outcome = await run(target, new Uint8Array(readFileSync(replay)));
  if (outcome !== undefined) {
    report({ kind: "find", signature: signatureOf(outcome.error), message: String(outcome.error), input: "" });
  }
  report({ kind: "done", runs, functions: 0, corpus: [] });
}
process.exit(0);
