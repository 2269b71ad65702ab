/**
 * What the first lines of an operator load: everything that src/mod.ts and the command `run` import statically is
 * parsed, compiled and resident before anything runs, whether it is used or not.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { assert, assertEquals, test } from "./testing.ts";

const root = join(import.meta.dirname ?? ".", "..");

/** The files that `path` imports when it is loaded: no types, and nothing that import() loads later. */
function loadedBy(path: string): readonly string[] {
  const source = readFileSync(join(root, path), "utf8").replaceAll(/\/\*[\s\S]*?\*\//g, "");
  const statements = source.matchAll(/^(?:import|export)\s+(?!type\b)([^;"]*?\bfrom\s+)?"(\.[^"]+)";/gm);
  return [...statements].filter(([, names = ""]) => !isOnlyTypes(names))
    .map(([, , specifier = ""]) => join(dirname(path), specifier));
}

/** Whether `{ type A, type B } from` names types only, which compilers erase. */
function isOnlyTypes(names: string): boolean {
  const listed = /^\{([^}]*)\}\s*from\s+$/.exec(names)?.[1];
  return listed !== undefined && listed.split(",").every((name) => name.trim() === "" || /^\s*type\s/.test(name));
}

/** Every file that is loaded with `entry`, and the file that imports it. */
function loadedWith(entry: string): ReadonlyMap<string, string> {
  const importers = new Map([[entry, ""]]);
  for (const path of importers.keys()) {
    for (const imported of loadedBy(path)) if (!importers.has(imported)) importers.set(imported, path);
  }
  return importers;
}

/** The files that import something in `folder` first, among those that are loaded with `entry`. */
function importersOf(folder: string, entry: string): readonly string[] {
  return [...loadedWith(entry)].filter(([path, importer]) => path.startsWith(folder) && !importer.startsWith(folder))
    .map(([path, importer]) => `${importer} imports ${path}`);
}

const entries = ["src/mod.ts", "src/cli/run/mod.ts"];

test("an operator loads its controllers and caches with its first lines", () => {
  for (const entry of entries) {
    const loaded = loadedWith(entry);
    assert(loaded.has("src/cache/reflector.ts") && loaded.has("src/controller/controller.ts"), entry);
  }
});

for (const folder of ["apiserver", "cluster", "simulation", "graph", "cli/new"]) {
  test(`an operator that runs does not load src/${folder}`, () => {
    for (const entry of entries) assertEquals(importersOf(`src/${folder}/`, entry), []);
  });
}
