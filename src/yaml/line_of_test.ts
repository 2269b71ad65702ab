import { assertEquals, test } from "../../tests/testing.ts";
import { lineOf, parseYaml } from "./mod.ts";

test("lineOf() finds the deepest part of a path that exists", () => {
  const document = parseYaml("# a comment\na:\n  - b: 1\n    c: 2\n");
  const paths = [["a", 0, "c"], ["a", 0, "d", "e"], ["a", 7], ["x"], []];
  assertEquals(paths.map((path) => lineOf(document, path)), [4, 3, 2, 1, 1]);
});
