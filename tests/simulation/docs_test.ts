/** Tests that the tables of docs/SIMULATION.md are the lists of faults and invariants in the code. */
import { readFile } from "node:fs/promises";
import { faultSchemas, invariants } from "../../src/simulation/mod.ts";
import { assertEquals, test } from "../testing.ts";

const page = await readFile(new URL("../../docs/SIMULATION.md", import.meta.url), "utf8");

/** The rows of the table below a heading, without its header: name and text. */
function tableBelow(heading: string): readonly (readonly string[])[] {
  const [, section = ""] = page.split(`\n## ${heading}\n`);
  const rows = section.split("\n## ")[0]?.split("\n").filter((line) => line.startsWith("|")).slice(2) ?? [];
  return rows.map((row) => row.split("|").slice(1, -1).map((cell) => cell.trim()));
}

test("docs/SIMULATION.md lists all kinds of faults with their descriptions", () => {
  const faults = faultSchemas.map((schema) => [`\`${schema.shape.kind.value}\``, schema.description ?? ""]);
  assertEquals(tableBelow("Faults"), faults);
});

test("docs/SIMULATION.md lists all invariants with their promises", () => {
  assertEquals(tableBelow("Invariants"), invariants.map(({ name, promise }) => [`\`${name}\``, promise]));
});
