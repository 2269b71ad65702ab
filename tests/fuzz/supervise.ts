/**
 * Supervises the process of a fuzz target. A process that ends, makes no progress, or needs too much memory shows a find:
 * the input that it was running. Such an input counts only if it does the same alone in a new process.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { root } from "../../tasks/_root.ts";
import { minimised } from "./mutate.ts";
import type { TargetName } from "./targets.ts";
import type { WorkerMessage, WorkerOptions } from "./worker.ts";

/** Seconds of processor time that one input may take. */
const maxCpuSeconds = 5;
/** Seconds that one input may take without using the processor. */
const maxIdleSeconds = 60;
/** Resident memory of a process above the one it starts with. */
const maxGrownMiB = 768;
const maxHeapMiB = 512;
const pollMs = 250;

/** An input that broke something. */
export interface Find {
  readonly signature: string;
  readonly message: string;
  readonly input: Uint8Array;
}

/** What one process did. */
export interface Supervised {
  readonly finds: readonly Find[];
  readonly runs: number;
  /** Undefined if the process did not end well. */
  readonly done: { readonly corpus: readonly Uint8Array[] } | undefined;
}

/** Where a worker runs: guided by coverage on Deno, or on the runtime of the binary. */
export type FuzzRuntime = "deno" | "bun";

interface SuperviseOptions {
  readonly runtime: FuzzRuntime;
  readonly target: TargetName;
  readonly ms: number;
  readonly seed: number;
  readonly known: readonly string[];
  readonly folder: string;
}

/** Runs a worker for a time. */
export async function superviseWorker(options: SuperviseOptions): Promise<Supervised> {
  const { target, ms, seed, known, folder, runtime } = options;
  const isGuided = runtime === "deno";
  const outcome = await runWorker(runtime, { target, ms, seed, known, isGuided, current: join(folder, "current") });
  const finds: Find[] = outcome.messages.filter((message) => message.kind === "find").map((message) => ({
    ...message,
    input: Uint8Array.fromBase64(message.input),
  }));
  const done = outcome.messages.find((message) => message.kind === "done");
  const { number, input } = readCurrent(join(folder, "current"));
  if (outcome.failure !== undefined && !known.includes(outcome.failure)) {
    const find = await confirm(options, input, outcome.failure);
    if (find !== undefined) finds.push(find);
    else console.log(`note  ${target}: ${outcome.failure} after ${number} inputs, not by the last one alone`);
  }
  const corpus = done?.corpus.map((text) => Uint8Array.fromBase64(text));
  return { finds, runs: number, done: corpus === undefined ? undefined : { corpus } };
}

/** Runs an input alone, and makes it small as long as it fails in the same way. */
async function confirm(options: SuperviseOptions, input: Uint8Array, failure: string): Promise<Find | undefined> {
  const { target, folder, seed, runtime } = options;
  const file = join(folder, "replay");
  const failsAlone = async (candidate: Uint8Array) => {
    writeFileSync(file, candidate);
    const alone = { target, ms: 0, seed, known: [], isGuided: false, current: join(folder, "alone"), replay: file };
    return (await runWorker(runtime, alone)).failure === failure;
  };
  if (!await failsAlone(input)) return undefined;
  const small = await minimised(input, failsAlone, 24);
  return { signature: failure, message: `The process ${failure}`, input: small };
}

interface WorkerOutcome {
  readonly messages: readonly WorkerMessage[];
  /** Why the process did not end well. */
  readonly failure: string | undefined;
}

function runWorker(runtime: FuzzRuntime, options: WorkerOptions): Promise<WorkerOutcome> {
  const deno = ["run", "-A", "--no-check", "--quiet", `--v8-flags=--max-old-space-size=${maxHeapMiB}`];
  const [program, flags] = runtime === "deno" ? [process.execPath, deno] : [join(root, "tasks", "bun.sh"), ["run"]];
  const args = [...flags, join(import.meta.dirname ?? ".", "worker.ts"), JSON.stringify(options)];
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  let output = "", errors = "", killedFor: string | undefined;
  child.stdout.setEncoding("utf8").on("data", (text: string) => output += text);
  child.stderr.setEncoding("utf8").on("data", (text: string) => errors = (errors + text).slice(-4000));
  const watching = watchProcess(child.pid ?? 0, options.current, (failure) => {
    killedFor = failure;
    child.kill("SIGKILL");
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      watching[Symbol.dispose]();
      const messages: WorkerMessage[] = output.split("\n").filter((line) => line.startsWith('{"kind":')).map((line) =>
        JSON.parse(line)
      );
      const isDone = messages.some(({ kind }) => kind === "done");
      const failure = killedFor ?? (code === 0 && isDone ? undefined : exitReason(errors));
      if (failure !== undefined && killedFor === undefined) console.log(errors);
      resolve({ messages, failure });
    });
  });
}

function exitReason(errors: string): string {
  // Without anything left to do, a runtime ends.
  if (errors.trim() === "" || errors.includes("Promise resolution is still pending")) return "waits for ever";
  if (errors.includes("heap out of memory") || errors.includes("Fatal JavaScript out of memory")) {
    return "takes too much memory";
  }
  return `ends: ${errors.trim().split("\n")[0]?.slice(0, 80) ?? ""}`;
}

/** Calls `onFailure` when an input takes too long, or the process too much memory. Knows Linux only. */
function watchProcess(pid: number, current: string, onFailure: (failure: string) => void): Disposable {
  let last = { number: 0, cpuSeconds: 0, at: performance.now() };
  let startMiB: number | undefined;
  const timer = setInterval(() => {
    const usage = usageOf(pid);
    const { number } = readCurrent(current);
    if (usage === undefined || number === 0) return;
    startMiB ??= usage.residentMiB;
    if (number !== last.number) last = { number, cpuSeconds: usage.cpuSeconds, at: performance.now() };
    if (usage.residentMiB - startMiB > maxGrownMiB) onFailure("takes too much memory");
    else if (usage.cpuSeconds - last.cpuSeconds > maxCpuSeconds) onFailure("takes too long");
    else if (performance.now() - last.at > maxIdleSeconds * 1000) onFailure("waits for ever");
  }, pollMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

interface Usage {
  readonly cpuSeconds: number;
  readonly residentMiB: number;
}

function usageOf(pid: number): Usage | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // The 14th, 15th and 24th field of proc(5): times in hundredths of a second, and pages of 4 KiB.
    const [user, system, pages] = [fields[11], fields[12], fields[21]].map(Number);
    return { cpuSeconds: ((user ?? 0) + (system ?? 0)) / 100, residentMiB: (pages ?? 0) / 256 };
  } catch {
    return undefined;
  }
}

/** The input that a worker is running. */
function readCurrent(path: string): { readonly number: number; readonly input: Uint8Array } {
  const none = { number: 0, input: new Uint8Array(0) };
  if (!existsSync(path)) return none;
  const bytes = new Uint8Array(readFileSync(path));
  if (bytes.length < 8) return none;
  const head = new DataView(bytes.buffer, bytes.byteOffset);
  return { number: head.getUint32(0), input: bytes.slice(8, 8 + head.getUint32(4)) };
}
