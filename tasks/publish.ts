/**
 * `deno task publish`: packs the packages of the version in deno.json and sends them to a registry. A version with a suffix,
 * such as 0.2.0-next.1, gets the dist-tag `next`, every other one `latest`. In CI the registry gets a signed provenance, too.
 *
 *     deno task publish [--registry URL] [--dry-run]
 *
 * Guarantees: nothing is sent from a work tree with changes, of a version that is not the first heading of CHANGELOG.md, whose
 * number is too low for what has changed in the public API, or that the registry has already.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import config from "../deno.json" with { type: "json" };
import { packageNames } from "./_package.ts";
import { compareApis, parseApi, publicApi } from "./_public_api.ts";
import { root } from "./_root.ts";
import { nodeProgram, npmModule } from "./_runtimes.ts";
import { pack } from "./pack.ts";
import { firstHeadingOf, nextVersionOf, releasedApiFile, versionProblem } from "./version.ts";

/** The dist-tag of a version: users get `latest` unless they ask for another one. */
export function distTagOf(version: string): "latest" | "next" {
  return version.includes("-") ? "next" : "latest";
}

/** Why a version must not be published; undefined when it may be. */
export function changelogProblem(version: string, changelog: string): string | undefined {
  const heading = firstHeadingOf(changelog);
  if (heading === version && nextVersionOf(changelog) === version) return undefined;
  return `CHANGELOG.md begins with "## ${heading}" and not with "## ${version}", the version in deno.json`;
}

async function apiProblem(): Promise<string | undefined> {
  const { version: last, api } = parseApi(readFileSync(releasedApiFile, "utf8"));
  if (distTagOf(config.version) === "latest" && last !== config.version) {
    return `tests/golden/released_api.txt has the API of ${last}. Run: deno task version --write`;
  }
  const present = await publicApi({ folder: root, name: config.name, exports: config.exports });
  return versionProblem({ last, next: config.version, changes: compareApis(api, present) });
}

function workTreeProblem(): string | undefined {
  const changes = execFileSync("git", ["status", "--porcelain"], { cwd: root, encoding: "utf8" }).trim();
  return changes === "" ? undefined : `the work tree has changes. Commit them first:\n${changes}`;
}

/** Runs the npm that tests/runtimes pins. */
function npm(args: readonly string[], cwd: string) {
  return spawnSync(nodeProgram("node24"), [npmModule(), ...args], { cwd, encoding: "utf8" });
}

/** @throws Error when the registry does not answer */
function registryProblem(names: readonly string[], registry: readonly string[]): string | undefined {
  for (const name of names) {
    const { status, stdout } = npm(["view", `${name}@${config.version}`, "version", "--json", ...registry], root);
    // A version that is not there is no output, and a package that is not there an error in JSON.
    if (status === 0 && stdout.trim() !== "") return `the registry has ${name} ${config.version} already`;
    if (status !== 0 && !stdout.includes('"E404"')) throw new Error(`Cannot ask the registry for ${name}: ${stdout}`);
  }
  return undefined;
}

/** Whether this process may get a signed provenance: the CI gives it an identity. */
function hasIdentity(): boolean {
  return process.env["CI"] !== undefined && process.env["ACTIONS_ID_TOKEN_REQUEST_URL"] !== undefined;
}

/** Sends the archives. @throws Error when the version must not be published, or the registry refuses it */
export async function publish(
  { registry, isDryRun }: { readonly registry: string | undefined; readonly isDryRun: boolean },
): Promise<void> {
  const { version } = config;
  const where = registry === undefined ? [] : ["--registry", registry];
  const problem = workTreeProblem() ?? changelogProblem(version, readFileSync(join(root, "CHANGELOG.md"), "utf8")) ??
    await apiProblem() ?? registryProblem(packageNames, where);
  if (problem !== undefined) throw new Error(`Cannot publish ${version}: ${problem}`);
  const folder = mkdtempSync(join(tmpdir(), "pintle-publish-"));
  try {
    // The package that the other one depends on is the first one.
    for (const archive of pack(folder)) {
      const flags = ["--access", "public", "--tag", distTagOf(version), ...where];
      const options = [...hasIdentity() ? ["--provenance"] : [], ...isDryRun ? ["--dry-run"] : []];
      const { status, stderr } = npm(["publish", archive, ...flags, ...options], folder);
      if (status !== 0) throw new Error(`Cannot publish ${archive}: ${stderr}`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  console.log(
    `${isDryRun ? "would publish" : "published"} ${packageNames.join(", ")} ${version} as ${distTagOf(version)}`,
  );
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { registry: { type: "string" }, "dry-run": { type: "boolean", default: false } },
  });
  try {
    await publish({ registry: values.registry, isDryRun: values["dry-run"] });
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}
