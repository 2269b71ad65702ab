/**
 * The packages as `deno task pack` writes them, in a folder of each test file: tests that run at the same time pack, too, and
 * each one starts with an empty folder.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pack } from "../../tasks/pack.ts";

/** Packs the packages. They are there until the tests of the file end. @returns the paths of the archives */
export function packedArchives(): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), "pintle-packed-"));
  addEventListener("unload", () => rmSync(folder, { recursive: true, force: true }));
  return pack(folder);
}
