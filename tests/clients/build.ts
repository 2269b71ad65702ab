/**
 * Builds the programs of this folder: unmodified clients of other projects. They print each check and end with 0, or with
 * 1 at the first failed check. The Go modules and the crates are those of bench/peers. Crates take minutes to build, so
 * the Rust program is built only if bench/peers/rust/target has them already.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";

const run = promisify(execFile);
const folder = import.meta.dirname ?? ".";
const peer = join(folder, "../../bench/peers/rust");
const rustTarget = join(peer, "target");

/** A built program. Disposing removes it if it cannot be reused. */
export interface Program extends AsyncDisposable {
  readonly path: string;
}

/** What the programs of this folder are built with. */
export type Tool = "go" | "rust" | "make" | "java" | "mvn" | "node" | "python3";

/** Why a program cannot be built here; undefined if it can. */
export function missing(tool: Tool): string | undefined {
  const program = tool === "rust" ? "cargo" : tool;
  if (!isOnPath(program)) return `there is no ${program}`;
  const isBuilt = existsSync(join(rustTarget, "release/deps")) && existsSync(join(peer, "Cargo.lock"));
  if (tool === "rust" && !isBuilt) return "bench/peers/rust is not built";
  return undefined;
}

/** What the Go program prints: a line for each check. */
export const goChecks = [
  "discovery",
  "objects in JSON",
  "objects in protobuf",
  "a definition in protobuf",
  "an informer in JSON",
  "an informer in protobuf",
  "server-side apply",
  "leader election",
  "a controller-runtime manager",
] as const;

/** Builds the Go program. */
export async function buildGo(): Promise<Program> {
  const target = await mkdtemp(join(tmpdir(), "pintle-clients-"));
  const path = join(target, "clients");
  await run("go", ["build", "-o", path, "."], { cwd: join(folder, "go") });
  return { path, [Symbol.asyncDispose]: () => rm(target, { recursive: true }) };
}

/** Builds the Rust program offline. It stays for the next run. */
export async function buildRust(): Promise<Program> {
  // The lockfile is not committed; the versions are those of the built crates.
  const lock = await readFile(join(peer, "Cargo.lock"), "utf8");
  await writeFile(join(folder, "rust/Cargo.lock"), lock.replace('name = "peer-kube-rs"', 'name = "client-kube-rs"'));
  const args = ["build", "--release", "--offline", "--quiet", "--target-dir", rustTarget];
  await run("cargo", args, { cwd: join(folder, "rust") });
  return { path: join(rustTarget, "release/client-kube-rs"), [Symbol.asyncDispose]: () => Promise.resolve() };
}

function isOnPath(name: string): boolean {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.some((one) => one !== "" && existsSync(join(one, name)));
}
