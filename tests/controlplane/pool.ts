/**
 * Runs test files on several real control planes at the same time:
 *
 *   deno run -A tests/controlplane/pool.ts [--workers N] [--apply PATH]... [--without PATH]... PATH...
 *
 * PATH is a test file or a folder of them. Each worker has a control plane of its own (with.ts) and runs one file after
 * the other, so a file never shares a control plane with another one that runs; the files start in the order in which
 * they are named, therefore name the longest ones first. The output of a file that passed is printed when it has ended,
 * that of a file that failed at the end of all, where nobody has to look for it.
 *
 * Without a control plane the files run nevertheless: their tests are then reported as skipped (in CI: as failed).
 */
import { spawn } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join, normalize } from "node:path";
import process from "node:process";
import { buildControlPlane } from "./build.ts";
import { withPidFile } from "./command.ts";
import { ControlPlane } from "./control_plane.ts";
import { unavailableVariable } from "./description.ts";

/** The options of the command line. */
export interface PoolOptions {
  readonly workers: number;
  readonly manifests: readonly string[];
  /** In the order in which they start. */
  readonly files: readonly string[];
}

/** Runs one file; resolves with its exit code. */
export type RunFile = (file: string) => Promise<number>;

/** What a worker runs its files with; disposed when no file is left. */
export type Worker = AsyncDisposable & { readonly run: RunFile };

/**
 * Reads the command line.
 *
 * @throws TypeError for an unknown option, and when no file is left
 */
export function parsePoolOptions(args: readonly string[]): PoolOptions {
  let workers = 2;
  const [manifests, without, paths]: [string[], string[], string[]] = [[], [], []];
  for (let index = 0; index < args.length; index++) {
    const word = args[index] ?? "";
    if (!word.startsWith("--")) paths.push(word);
    else if (word === "--workers") workers = Number(args[++index]);
    else if (word === "--apply") manifests.push(args[++index] ?? "");
    else if (word === "--without") without.push(args[++index] ?? "");
    else throw new TypeError(`Cannot read the command line: "${word}" is no option`);
  }
  if (!Number.isInteger(workers) || workers < 1) {
    throw new TypeError("Cannot read the command line: --workers is no number");
  }
  const excluded = new Set(without.flatMap(testFiles));
  const files = [...new Set(paths.flatMap(testFiles))].filter((file) => !excluded.has(file));
  if (files.length === 0) throw new TypeError("Cannot read the command line: it names no test file");
  return { workers, manifests, files };
}

/** What became of the files of a pool. */
export interface PoolResult {
  /** The files that failed, and those that no worker could run. */
  readonly failed: readonly string[];
  /** Why workers could not be started or broke. */
  readonly errors: readonly unknown[];
}

/** Runs each file once, with up to `workers` workers at the same time. When one breaks, the others go on. */
export async function runPool(
  files: readonly string[],
  workers: number,
  start: () => Promise<Worker>,
): Promise<PoolResult> {
  const [queue, errors, passed]: [string[], unknown[], Set<string>] = [[...files], [], new Set()];
  const work = async () => {
    await using worker = await start();
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
      if (await worker.run(file) === 0) passed.add(file);
    }
  };
  const pool = Array.from({ length: Math.min(workers, files.length) }, work);
  await Promise.all(pool.map((working) => working.catch((error: unknown) => void errors.push(error))));
  return { failed: files.filter((file) => !passed.has(file)), errors };
}

async function main({ workers, manifests, files }: PoolOptions): Promise<number> {
  const built = await buildControlPlane();
  const seconds = new Map<string, number>();
  const failures: string[] = [];
  const run = async (file: string, environment: Readonly<Record<string, string>>, pidPath: string) => {
    const startedAt = performance.now();
    const { code, output } = await runFile(file, environment, pidPath);
    seconds.set(file, (performance.now() - startedAt) / 1000);
    if (code === 0) console.log(`\n--- ${file}\n${output}`);
    else failures.push(`\n--- ${file}\n${output}`);
    return code;
  };
  const start = async (): Promise<Worker> => {
    if (built.kind === "unavailable") {
      const environment = { [unavailableVariable]: built.reason };
      return { run: (file) => run(file, environment, "/dev/null"), [Symbol.asyncDispose]: async () => {} };
    }
    const controlPlane = await ControlPlane.start({ binaries: built.binaries, manifests });
    const { environment, dir } = controlPlane;
    const pidPath = join(dir, "run", "command.pid");
    return {
      run: (file) => run(file, environment, pidPath),
      [Symbol.asyncDispose]: () => controlPlane[Symbol.asyncDispose](),
    };
  };
  const { failed, errors } = await runPool(files, workers, start);
  for (const error of errors) console.error(`controlplane: ${error instanceof Error ? error.message : String(error)}`);
  const took = (file: string) => `${file} (${seconds.get(file)?.toFixed(1) ?? "?"} s)`;
  for (const file of files) if (!failed.includes(file)) console.log(`ok      ${took(file)}`);
  for (const failure of failures) console.log(failure);
  for (const file of failed) console.log(`FAILED  ${took(file)}`);
  return failed.length + errors.length === 0 ? 0 : 1;
}

/** Runs `deno test` on a file. */
function runFile(
  file: string,
  environment: Readonly<Record<string, string>>,
  pidPath: string,
): Promise<{ readonly code: number; readonly output: string }> {
  const test = [process.execPath, "test", "-A", "--no-check", "--quiet", file];
  const [shell, ...args] = withPidFile(test, pidPath);
  const child = spawn(shell, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...environment } });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => output += text);
  child.stderr.setEncoding("utf8").on("data", (text: string) => output += text);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      resolve({ code: code ?? 1, output: `${output.trimEnd()}${signal === null ? "" : `\nended by ${signal}`}` });
    });
  });
}

function testFiles(path: string): readonly string[] {
  if (statSync(path).isFile()) return [normalize(path)];
  const names = readdirSync(path, { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith("_test.ts")).map((name) => join(normalize(path), name)).sort();
}

if (import.meta.main) {
  try {
    process.exitCode = await main(parsePoolOptions(process.argv.slice(2)));
  } catch (error) {
    console.error(`controlplane: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
