/**
 * Writes src/api/generated and src/schema/generated: the types and Resources of all built-in kinds of Kubernetes, and the
 * schemas for embedding, from the schemas in src/apiserver/kinds/generated, which tasks/api_kinds.ts reads from a real
 * kube-apiserver.
 *
 *   deno task types              writes them
 *   deno task types --check      writes nothing, names what differs and exits 1 if anything does
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { embeddedTypes } from "./_schema_files.ts";
import { type TypeFile, typeFiles, typesFolder } from "./_type_files.ts";
import { root } from "./_root.ts";

/** The generated files that are not what the task writes, and those that it does not write. */
export function staleTypes(files: readonly TypeFile[]): readonly string[] {
  const changed = files.filter(({ path, text }) => textAt(path) !== text).map(({ path }) => path);
  const known = new Set(files.map(({ path }) => path));
  const folder = join(root, typesFolder);
  const found = existsSync(folder) ? readdirSync(folder).map((name) => `${typesFolder}/${name}`) : [];
  return [...changed, ...found.filter((path) => !known.has(path))];
}

function textAt(path: string): string {
  return existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : "";
}

function main(isCheck: boolean): number {
  const files = [...typeFiles(), embeddedTypes()];
  const stale = staleTypes(files);
  for (const path of stale) console.log(path);
  if (isCheck) return stale.length === 0 ? 0 : 1;
  rmSync(join(root, typesFolder), { recursive: true, force: true });
  for (const { path, text } of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return 0;
}

if (import.meta.main) process.exitCode = main(process.argv.includes("--check"));
