/**
 * What is inside of the binary: Bun bundles the main module and says which files it took, and each file of a package stands
 * in a folder that names the package and its version.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { root } from "./_root.ts";

/** A package of which at least one file is in the binary. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** As the package states it, an SPDX expression. */
  readonly license: string | undefined;
  /** Of its archive, as deno.lock has it: `sha512-` and Base64. */
  readonly integrity: string | undefined;
}

/** The packages that deno.lock pins, by `name@version` and sometimes the peers. */
export interface LockFile {
  readonly npm: Readonly<Record<string, { readonly integrity?: string; readonly scripts?: boolean }>>;
}

const metafile = z.object({ inputs: z.record(z.string(), z.unknown()) });
const manifest = z.object({ name: z.string(), version: z.string(), license: z.string().optional() });
const lockFile = z.object({
  npm: z.record(z.string(), z.object({ integrity: z.string().optional(), scripts: z.boolean().optional() })),
});

/** @throws ZodError when deno.lock is none */
export function readLock(): LockFile {
  return lockFile.parse(JSON.parse(readFileSync(join(root, "deno.lock"), "utf8")));
}

/** Bundles a module and names the packages in it, sorted. @throws Error when Bun cannot bundle it */
export function bundledPackages(entry: string): readonly BundledPackage[] {
  const lock = readLock();
  const folders = new Set(inputsOf(entry).map(packageFolder).filter((folder) => folder !== undefined));
  return [...folders].sort().map((folder) => {
    const { name, version, license } = manifest.parse(
      JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")),
    );
    return { name, version, license, integrity: integrityOf(lock, name, version) };
  });
}

/** Files that Bun takes into the bundle. */
function inputsOf(entry: string): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), "pintle-bundle-"));
  try {
    const file = join(folder, "meta.json");
    const args = ["build", "--target=bun", "--splitting", `--metafile=${file}`, `--outdir=${folder}`, entry];
    execFileSync(join(root, "tasks", "bun.sh"), args, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
    return Object.keys(metafile.parse(JSON.parse(readFileSync(file, "utf8"))).inputs);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The folder of the package that a file belongs to. @returns undefined for a file of ours */
function packageFolder(file: string): string | undefined {
  return /^.*node_modules\/(?:@[^/]+\/)?[^/@]+(?=\/)/.exec(file)?.[0];
}

function integrityOf(lock: LockFile, name: string, version: string): string | undefined {
  const pin = `${name}@${version}`;
  return Object.entries(lock.npm).find(([key]) => key === pin || key.startsWith(`${pin}_`))?.[1].integrity;
}
