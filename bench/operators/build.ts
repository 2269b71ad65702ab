/**
 * buildOperator(): an operator's program and CRDs in the user's cache, built from a pinned version of a Go module. The module
 * is copied from Go's own cache before it is built, because many go.mod files need their own replace directives and folders.
 *
 * Guarantees: the sources are those of the module proxy, checked by Go's checksum database; only requirements that the
 * proxy has no more are taken out. A folder of the cache is complete or not there. Two processors at most are used.
 */
import { createHash } from "node:crypto";
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { z } from "zod";
import { readDocuments } from "../../src/cli/documents/mod.ts";
import { printYaml } from "../../src/yaml/mod.ts";
import { cacheDir, fillCache } from "../../tests/controlplane/go_build.ts";
import { run } from "../../tests/controlplane/run.ts";
import { servedDefinition } from "./crd_v1.ts";
import type { OperatorCase, OperatorSource } from "./operator.ts";

/** An operator that can be started. */
export interface BuiltOperator {
  /** The path of the program. */
  readonly program: string;
  /** The folder with its CustomResourceDefinitions, one a file. */
  readonly crds: string;
}

/** Changes when the form of the cache's folders changes. */
const format = 1;

/** Builds an operator, if this machine has not built it yet (minutes). @throws Error when Go is missing or fails */
export async function buildOperator({ name, source }: OperatorCase): Promise<BuiltOperator> {
  const root = join(cacheDir(), "operators", name);
  const hash = createHash("sha256").update(JSON.stringify({ format, source, platform: process.platform }));
  const dir = join(root, hash.digest("hex").slice(0, 16));
  if (!existsSync(dir)) {
    console.error(`${name}: building ${source.module} ${source.version}; once, in minutes`);
    await fillCache(root, dir, (building) => fill(building, source));
  }
  return { program: join(dir, "operator"), crds: join(dir, "crds") };
}

async function fill(building: string, source: OperatorSource): Promise<void> {
  const downloaded = await go(["mod", "download", "-json", `${source.module}@${source.version}`], building);
  const { Dir } = z.object({ Dir: z.string() }).parse(JSON.parse(downloaded));
  const work = join(building, "source");
  cpSync(Dir, work, { recursive: true });
  makeWritable(work); // Go's cache is read-only
  const edits = [
    ...(source.excludes ?? []).map((one) => `-exclude=${one}`),
    ...(source.requires ?? []).map((one) => `-require=${one}`),
    ...(source.dropsReplaced ?? []).map((one) => `-dropreplace=${one}`),
  ];
  if (edits.length > 0) await go(["mod", "edit", ...edits], work);
  const flags = ["-mod=mod", "-p=2", "-trimpath", "-buildvcs=false", "-ldflags=-s -w"];
  await go(["build", ...flags, "-o", join(building, "operator"), source.package], work);
  mkdirSync(join(building, "crds"));
  const definitions = (await Promise.all(source.crds.map((path) => definitionsOf(join(work, path))))).flat();
  if (definitions.length === 0) {
    throw new Error(`Cannot build ${source.module}: no CRD is in ${source.crds.join(", ")}`);
  }
  definitions.push(...(await Promise.all((source.webhooks ?? []).map((path) => webhooksOf(join(work, path))))).flat());
  for (const [index, definition] of definitions.entries()) {
    writeFileSync(join(building, "crds", `${index}.yaml`), printYaml(definition));
  }
  rmSync(work, { recursive: true });
}

async function go(args: readonly string[], cwd: string): Promise<string> {
  const env = { CGO_ENABLED: "0", GOWORK: "off", GOFLAGS: "" };
  const result = await run("nice", ["-n", "10", "go", ...args], { cwd, env });
  if (result.kind === "missing") throw new Error("Cannot build operators: there is no Go");
  if (result.code !== 0) {
    throw new Error(`Cannot run go ${args.join(" ")}: it ended with ${result.code}\n${result.stderr}`);
  }
  return result.stdout;
}

function makeWritable(path: string): void {
  const stat = statSync(path);
  chmodSync(path, stat.mode | 0o200);
  if (stat.isDirectory()) readdirSync(path).forEach((name) => makeWritable(join(path, name)));
}

/** The configurations of webhooks in a file. */
async function webhooksOf(path: string): Promise<readonly unknown[]> {
  const isConfiguration = z.object({
    kind: z.enum(["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"]),
  });
  return (await valuesOf(path)).filter((value) => isConfiguration.safeParse(value).success);
}

/** The definitions in a file, or in the files of a folder. */
async function definitionsOf(path: string): Promise<readonly unknown[]> {
  return (await valuesOf(path)).map(servedDefinition).filter((definition) => definition !== undefined);
}

async function valuesOf(path: string): Promise<readonly unknown[]> {
  const documents = await readDocuments(path, {
    stdin: { isTerminal: false, readLine: () => Promise.resolve(undefined) },
    cannotRead: (place, state) => new Error(`Cannot read CRDs of ${place}: ${state}`),
  });
  return documents.map(({ value }) => value);
}
