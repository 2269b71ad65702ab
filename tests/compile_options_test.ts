/** Both ways to compile an operator, compile.sh and the command `compile`, build with the same options of Bun. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../tasks/_root.ts";
import { buildOptions } from "../src/cli/compile/compile.ts";
import { assert, assertEquals, test } from "./testing.ts";

/** They differ from build to build. */
const ofOneBuild: ReadonlySet<string> = new Set([
  "--compile",
  "--target",
  "--tsconfig-override",
  "--define",
  "--outfile",
]);

test("[security 28] compile builds with the options of compile.sh, so that the same files are ignored", () => {
  const script = readFileSync(join(root, "compile.sh"), "utf8");
  const command = /bun\.sh" build (?:.*\\\n)*.*/.exec(script)?.[0] ?? "";
  const options = (command.match(/(?<=[\s"])--[a-z-]+(?:=[a-z0-9]+)?/g) ?? [])
    .filter((option) => !ofOneBuild.has(option.replace(/=.*/, "")));
  assert(options.length >= 8, command);
  assertEquals(options.toSorted(), buildOptions.toSorted());
});
