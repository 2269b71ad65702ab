/**
 * The sources of the library, as Deno checks them for a project that links a clone: with the compiler options of that project,
 * which are Deno's own unless it sets others, not with ours. tests/package_types_test.ts has the same for the package.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import config from "../deno.json" with { type: "json" };
import { root } from "../tasks/_root.ts";
import { assert, assertEquals, assertMatch, test } from "./testing.ts";

test("the sources have no type error with the compiler options of Deno", () => {
  const dir = mkdtempSync(join(tmpdir(), "pintle-clone-"));
  try {
    const settings = join(dir, "deno.json");
    writeFileSync(settings, JSON.stringify({ links: [root], imports: config.imports, nodeModulesDir: "none" }));
    const entries = Object.keys(config.exports).map((entry) => join(config.name, entry));
    // An array element without `undefined` shows that our own options are not in use.
    const lines = entries.map((entry, index) => `export * as entry${index} from "${entry}";`);
    const loose = "export const first: number = [1][0];";
    const wrong = 'export const wrong: number = "1";';
    writeFileSync(join(dir, "main.ts"), [...lines, loose, wrong, ""].join("\n"));
    const command = ["check", "--quiet", "--no-lock", "--config", settings, join(dir, "main.ts")];
    const env = { ...process.env, NO_COLOR: "1" };
    const { status, stderr } = spawnSync(process.execPath, command, { cwd: dir, env, encoding: "utf8" });
    assertEquals(status, 1);
    assertMatch(stderr, /Type 'string' is not assignable to type 'number'/);
    assertEquals(stderr.match(/^TS\d+ \[ERROR\]/gm)?.length, 1, stderr);
    assert(stderr.includes("main.ts"), stderr);
  } finally {
    rmSync(dir, { recursive: true });
  }
});
