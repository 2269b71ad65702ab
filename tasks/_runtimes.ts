/**
 * The programs of tests/runtimes: Node 22 and 24, npm, and the TypeScript of most users. They have a lock file of their
 * own, so that only those who run these tests fetch them.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { root } from "./_root.ts";

const folder = join(root, "tests", "runtimes");
const installed = join(folder, "node_modules");

/** The versions of Node that the package is tested with: the two that get security updates for years. */
export const nodeVersions = ["node22", "node24"] as const;

/** Why the programs cannot run here; undefined if they can. */
export const missingRuntimes: string | undefined = process.platform === "linux" && process.arch === "x64"
  ? undefined
  : "the Node of tests/runtimes runs on Linux on x64 only";

/** The path of a Node. */
export function nodeProgram(version: typeof nodeVersions[number]): string {
  return join(fetched(), version, "bin", "node");
}

/** The main module of npm. */
export function npmModule(): string {
  return join(fetched(), "npm", "bin", "npm-cli.js");
}

/** The main module of TypeScript 5. */
export function typescriptModule(): string {
  return join(fetched(), "typescript", "bin", "tsc");
}

/** Fetches the programs if necessary. @returns the folder of the packages */
function fetched(): string {
  if (!existsSync(join(installed, ".deno", ".setup-cache.bin"))) {
    execFileSync(process.execPath, ["install", "--frozen", "--quiet"], { cwd: folder, stdio: ["ignore", 2, 2] });
  }
  return installed;
}
