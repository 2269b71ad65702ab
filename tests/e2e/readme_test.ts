/** The `sh` blocks of README.md that compile a binary, in their order: later ones use what earlier ones wrote. */
import { ReadmeReader } from "../readme_blocks.ts";
import { shellBlocks } from "../shell_blocks.ts";
import { assertEquals, test } from "../testing.ts";

test("the blocks of README.md that compile a binary run, one after the other", async () => {
  using reader = new ReadmeReader();
  for (const block of shellBlocks()) {
    if (block.notRun !== undefined || !block.compiles) continue;
    const { code, output } = await reader.run(block);
    assertEquals(code, 0, `README.md:${block.line}\n${output}`);
  }
});
