/**
 * Builds the programs of this folder: clients of others, unmodified, that say what held and end with 0, or with 1 at the
 * first thing that did not. The Go modules are those of bench/peers. The crates are, too: they take minutes to build, so
 * the Rust program is built only where bench/peers/rust/target has them already.
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

/** A program that was built. Leaving its `await using` block removes it where nobody can use it again. */
export interface Program extends AsyncDisposable {
  readonly path: string;
}

/** Why a program cannot be built here; undefined where it can. */
export function missing(language: "go" | "rust"): string | undefined {
  const compiler = language === "go" ? "go" : "cargo";
  if (!isOnPath(compiler)) return `there is no ${compiler}`;
  const isBuilt = existsSync(join(rustTarget, "release/deps")) && existsSync(join(peer, "Cargo.lock"));
  if (language === "rust" && !isBuilt) return "bench/peers/rust is not built";
  return undefined;
}

/** Builds the Go program. */
export async function buildGo(): Promise<Program> {
  const target = await mkdtemp(join(tmpdir(), "pintle-clients-"));
  const path = join(target, "clients");
  await run("go", ["build", "-o", path, "."], { cwd: join(folder, "go") });
  return { path, [Symbol.asyncDispose]: () => rm(target, { recursive: true }) };
}

/** Builds the Rust program, without asking a registry for anything. It stays, for the next time. */
export async function buildRust(): Promise<Program> {
  // Not committed: the versions of all crates are those that are built already.
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
