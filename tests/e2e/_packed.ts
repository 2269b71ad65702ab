/**
 * The packages as `deno task pack` writes them, for the tests that install them. To pack takes the compiler over the whole
 * library, so it is done once for a state of the sources: `dist/packed` has a folder for each state, named by its digest.
 *
 *   deno run -A tests/e2e/_packed.ts
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { root } from "../../tasks/_root.ts";
import { pack } from "../../tasks/pack.ts";
import { fillCache, removeUnchanged } from "../controlplane/go_build.ts";

const states = join(root, "dist", "packed");

/** All that the packages are made of; deno.lock pins the compiler, and the program that packs. */
const inputs = ["deno.json", "deno.lock", "LICENSE", "README.md", "src", "tasks"] as const;

/** A folder of an older state may still be in use by tests that have begun before the change. */
const keptMs = 86_400_000;

/** Packs the packages unless this state of the sources is packed already. @returns the paths of the archives */
export async function packedArchives(): Promise<readonly string[]> {
  const folder = join(states, digestOf(inputs.flatMap(filesAt)));
  if (!existsSync(folder)) {
    await fillCache(states, folder, (building) => Promise.resolve(void pack(building)));
    removeUnchanged(states, { forMs: keptMs });
  }
  return readdirSync(folder).filter((name) => name.endsWith(".tgz")).sort().map((name) => join(folder, name));
}

/** The names and contents of files, and the runtime, whose types the compiler reads. */
function digestOf(files: readonly string[]): string {
  const hash = createHash("sha256").update(Deno.version.deno);
  for (const file of files) {
    const bytes = readFileSync(join(root, file));
    hash.update(`\0${file}\0${bytes.byteLength}\0`).update(bytes);
  }
  return hash.digest("hex");
}

function filesAt(path: string): readonly string[] {
  if (statSync(join(root, path)).isFile()) return [path];
  const names = readdirSync(join(root, path), { recursive: true, encoding: "utf8" });
  return names.map((name) => join(path, name)).filter((name) => statSync(join(root, name)).isFile()).sort();
}

if (import.meta.main) {
  for (const archive of await packedArchives()) console.log(basename(archive));
}
