/**
 * Lists the packages in the binary: Bun bundles the main module and names the files it used, and each file of a package
 * is in a folder that names the package and its version.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { root } from "./_root.ts";

/** The page of a running operator is text in a program: Bun bundles it from here before. */
const page = { text: "src/page/generated/page_files.ts", entry: "page/main.tsx" } as const;

/** A package of which at least one file is in the binary. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression, from the package itself. */
  readonly license: string | undefined;
  /** Where it is installed, relative to the repository. */
  readonly folder: string;
  /** The checksum of its archive in deno.lock: `sha512-` and Base64. */
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

/** Reads a lock file. @throws ZodError when it is not a lockfile */
export function readLock(file: string = join(root, "deno.lock")): LockFile {
  return lockFile.parse(JSON.parse(readFileSync(file, "utf8")));
}

/** Bundles a module and names the packages in it, sorted. @throws Error when Bun cannot bundle it */
export function bundledPackages(entry: string): readonly BundledPackage[] {
  const lock = readLock();
  const inputs = inputsOf(entry);
  const all = inputs.includes(page.text) ? [...inputs, ...inputsOf(join(root, page.entry))] : inputs;
  const folders = new Set(all.map(packageFolder).filter((folder) => folder !== undefined));
  return [...folders].sort().map((folder) => {
    const { name, version, license } = manifest.parse(
      JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")),
    );
    return { name, version, license, folder, integrity: integrityOf(lock, name, version) };
  });
}

/** The files that Bun bundles. */
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
