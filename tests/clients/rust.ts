/**
 * The Rust programs of this folder: a client with kube-rs, and an operator whose tests start their servers with the crate
 * envtest. cargo builds the crates in the user's cache, once in minutes. Its lockfile is kept there, too: it contains the
 * address of a registry, so it is not committed, and Cargo.toml pins the versions.
 */
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { cacheDir } from "../controlplane/go_build.ts";
import { run } from "../controlplane/run.ts";
import { pythonPackages } from "./packaged.ts";

const folder = join(import.meta.dirname ?? ".", "rust");

/** A project to which nothing is left to build, and what cargo needs to find that. */
export interface RustProject {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The path of the client. It stays for the next run. @throws Error when cargo fails */
export async function buildRust(): Promise<string> {
  const target = targetDir();
  await cargo(["build"], { CARGO_TARGET_DIR: target });
  return join(target, "debug/client-kube-rs");
}

/** Builds the tests of the operator. The crate envtest needs Go and libclang. @throws Error when cargo fails */
export async function buildRustTests(): Promise<RustProject> {
  const env = { CARGO_TARGET_DIR: targetDir(), ...await libclangVariables() };
  await cargo(["test", "--no-run"], env);
  return { path: folder, env };
}

/** A folder for these versions. */
function targetDir(): string {
  return join(cacheDir(), "client-rust", hashOf(["Cargo.toml"]));
}

/** The files of the project, relative to its folder. */
function projectFiles(): readonly string[] {
  const sources = ["src", "tests"].flatMap((name) =>
    readdirSync(join(folder, name), { recursive: true, encoding: "utf8" }).map((path) => join(name, path))
  );
  return ["Cargo.toml", ...sources.filter((path) => path.endsWith(".rs")).sort()];
}

function hashOf(files: readonly string[]): string {
  const hash = createHash("sha256");
  for (const path of files) hash.update(readFileSync(join(folder, path)));
  return hash.digest("hex").slice(0, 16);
}

/** libclang of PyPI, which comes without the headers of a compiler. */
async function libclangVariables(): Promise<Readonly<Record<string, string>>> {
  const native = join(await pythonPackages("libclang", join(folder, "libclang.txt")), "clang/native");
  const headers = await run("cc", ["-print-file-name=include"]);
  if (headers.kind === "missing") throw new Error("Cannot build the crate envtest: there is no cc");
  return { LIBCLANG_PATH: native, BINDGEN_EXTRA_CLANG_ARGS: `-I${headers.stdout.trim()}` };
}

/**
 * Runs cargo with the lockfile of the cache. cargo compares the times of files, so it takes what another clone has built of
 * other sources for its own: that is removed first.
 */
async function cargo(args: readonly string[], env: { readonly CARGO_TARGET_DIR: string }): Promise<void> {
  const target = env.CARGO_TARGET_DIR;
  const [lock, kept, mark] = [join(folder, "Cargo.lock"), join(target, "Cargo.lock"), join(target, "sources.txt")];
  const sources = hashOf(projectFiles());
  if (existsSync(kept)) copyFileSync(kept, lock);
  else process.stderr.write("client-rust: building the crates; once, in minutes\n");
  if (!existsSync(mark) || readFileSync(mark, "utf8") !== sources) {
    rmSync(mark, { force: true });
    if (existsSync(kept)) await runCargo(["clean", "-p", "client-kube-rs"], env);
  }
  await runCargo(args, env);
  mkdirSync(target, { recursive: true });
  copyFileSync(lock, kept);
  writeFileSync(mark, sources);
}

async function runCargo(args: readonly string[], env: Readonly<Record<string, string>>): Promise<void> {
  const ended = await run("cargo", [...args, "--quiet"], { cwd: folder, env });
  if (ended.kind === "missing") throw new Error(`Cannot run cargo ${args[0]}: it is missing`);
  if (ended.code !== 0) throw new Error(`Cannot run cargo ${args[0]}: code ${ended.code}\n${ended.stderr}`);
}
