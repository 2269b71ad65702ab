/**
 * What the numbers were measured with: the versions of all sides, and the size of the machine, without its name.
 *
 * Versions are read from the files that pin them (go.mod, Cargo.toml, deno.json) or printed by the tools.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { arch, availableParallelism, platform, release, totalmem } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import type { Facts } from "./cases/mod.ts";

const benchDir = import.meta.dirname ?? ".";

/** Versions and the size of the machine. */
export async function describeSetup(): Promise<Facts> {
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return {
    "machine": `${availableParallelism()} cores (${arch()}), ${gigabytes} GiB, ${platform()} ${release()}`,
    "Bun (our binary's runtime)": pinned("../deno.json", /"npm:bun@([^"]+)"/),
    "controller-runtime": pinned("peers/go/go.mod", /controller-runtime v(\S+)/),
    "client-go": pinned("peers/go/go.mod", /k8s\.io\/client-go v(\S+)/),
    "Go": await printed("go", ["env", "GOVERSION"]),
    "kube-rs": pinned("peers/rust/Cargo.toml", /^kube = .*"=([\d.]+)"/m),
    "Rust": await printed("rustc", ["--version"]),
    "JOSDK": pinned("peers/java/pom.xml", /operator-framework-core<\/artifactId>\s*<version>([^<]+)/),
    "Java": await printed("java", ["--version"]),
    "kopf": pinned("peers/python/requirements.txt", /^kopf==(\S+)/m),
    "Python": await printed("python3", ["--version"]),
    "client-node": pinned("../deno.json", /client-node@([^"]+)"/),
    "Deno": process.versions["deno"] ?? "unknown",
  };
}

function pinned(file: string, pattern: RegExp): string {
  const version = pattern.exec(readFileSync(join(benchDir, file), "utf8"))?.[1];
  if (version === undefined) throw new Error(`Cannot find a version in ${file}: nothing matches ${pattern}`);
  return version;
}

/** The first line of a program's output. Not every case needs every program. */
async function printed(program: string, args: readonly string[]): Promise<string> {
  try {
    return (await promisify(execFile)(program, args)).stdout.trim().split("\n")[0] ?? "";
  } catch (error) {
    if (isMissing(error)) return "not installed";
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
