/**
 * Folders in the user's cache whose names have a hash of all that they are made from. Each is large, and every change of
 * an input makes another one, so those that no test has used for days are removed.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { cacheDir, fillCache } from "../controlplane/go_build.ts";

/** What a folder is made from, and how. */
export interface CachedFolder {
  /** The first part of its name. */
  readonly name: string;
  /** Source files that state versions and options. */
  readonly sources: readonly string[];
  /** Other inputs. @default [] */
  readonly inputs?: readonly string[];
  readonly fill: (building: string) => Promise<void>;
}

const unusedMs = 3 * 86_400_000;

/** The parent of all folders of kind. */
export const kindCache = join(cacheDir(), "kind");

/** The folder, made first if it is not there. */
export async function cachedFolder({ name, sources, inputs = [], fill }: CachedFolder): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify([process.arch, ...inputs]));
  for (const source of sources) hash.update(readFileSync(source));
  const dir = join(kindCache, `${name}-${hash.digest("hex").slice(0, 16)}`);
  mkdirSync(kindCache, { recursive: true });
  if (!existsSync(dir)) {
    removeUnused(name);
    await fillCache(kindCache, dir, fill);
  }
  const now = new Date();
  utimesSync(dir, now, now);
  return dir;
}

function removeUnused(name: string): void {
  const others = readdirSync(kindCache).filter((other) => other.startsWith(`${name}-`)).map((other) =>
    join(kindCache, other)
  );
  for (const path of others) {
    if (Date.now() - statSync(path).mtimeMs > unusedMs) rmSync(path, { recursive: true, force: true });
  }
}
