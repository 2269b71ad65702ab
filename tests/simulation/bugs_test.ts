import { readdir, readFile } from "node:fs/promises";
import { assertEquals, test } from "../testing.ts";

test("each seeded bug can still be put into the source: the text that it replaces is there once", async () => {
  const folder = new URL("bugs/", import.meta.url);
  const problems: string[] = [];
  for (const name of await readdir(folder)) {
    const { file, edits } = JSON.parse(await readFile(new URL(name, folder), "utf8"));
    const source = await readFile(new URL(`../../${file}`, import.meta.url), "utf8");
    for (const { find } of edits) {
      const count = source.split(find).length - 1;
      if (count !== 1) problems.push(`${name}: ${count} times in ${file}: ${find}`);
    }
  }
  assertEquals(problems, []);
});
