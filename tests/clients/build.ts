/**
 * Builds the programs of this folder: unmodified clients of other projects. They print each check and end with 0, or with
 * 1 at the first failed check. The Go modules are those of the control plane, so that Go compiles them once. rust.ts builds the
 * Rust program.
 */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";
import { goProgram } from "../controlplane/go_build.ts";

/** What the programs of this folder are built with. */
export type Tool = "go" | "cargo" | "make" | "java" | "kubectl" | "mvn" | "node" | "python3";

/** Why a program cannot be built here; undefined if it can. */
export function missing(tool: Tool): string | undefined {
  return isOnPath(tool) ? undefined : `there is no ${tool}`;
}

/** What the Go program prints: a line for each check. */
export const goChecks = [
  "discovery",
  "objects in JSON",
  "objects in protobuf",
  "a definition in protobuf",
  "an informer in JSON",
  "an informer in protobuf",
  "80 watches on one connection",
  "server-side apply",
  "leader election",
  "a controller-runtime manager",
] as const;

/** The path of the Go program. It stays for the next run. */
export async function buildGo(): Promise<string> {
  const moduleDir = join(import.meta.dirname ?? ".", "go");
  return await goProgram({ name: "clients", moduleDir, programs: { clients: "pintle/tests/clients" } });
}

function isOnPath(name: string): boolean {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.some((one) => one !== "" && existsSync(join(one, name)));
}
