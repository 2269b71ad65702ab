/**
 * Writes the golden files: crds/*.yaml, tests/golden/public_api.txt, tests/golden/mistakes.txt and
 * tests/golden/manifests_*.
 *
 *   deno run -A tasks/golden.ts           writes them
 *   deno run -A tasks/golden.ts --check   writes nothing, shows what differs and exits 1 if anything does
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { createTwoFilesPatch } from "diff";
import { crdGoldens, manifestGoldens, mistakesGolden, present, publicApiGolden, strayCrds } from "./_goldens.ts";
import { reportedMistakes } from "./_mistakes.ts";
import { root } from "./_root.ts";

async function main(isCheck: boolean): Promise<number> {
  const crds = await crdGoldens();
  const goldens = [...crds, ...await manifestGoldens(), await publicApiGolden(), mistakesGolden(reportedMistakes())];
  const changed = goldens.filter((golden) => present(golden) !== golden.text);
  const strays = strayCrds(crds);
  for (const golden of changed) {
    console.log(isCheck ? createTwoFilesPatch(golden.path, "from code", present(golden), golden.text) : golden.path);
    if (isCheck) continue;
    mkdirSync(dirname(join(root, golden.path)), { recursive: true });
    writeFileSync(join(root, golden.path), golden.text);
  }
  for (const path of strays) {
    console.log(`${path}: no controller defines it`);
    if (!isCheck) rmSync(join(root, path));
  }
  return isCheck && changed.length + strays.length > 0 ? 1 : 0;
}

process.exitCode = await main(process.argv.includes("--check"));
