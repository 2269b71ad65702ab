import { assertEquals, test } from "../../tests/testing.ts";
import { parseYaml } from "./mod.ts";

test("positionOf() finds keys and items, and the last one of a key that occurs twice", () => {
  const { positionOf } = parseYaml("a: 1\nb:\n  - x\n  - c: 2\n\n    d: 3\na: 4\n2: y\n");
  const lineOf = (...path: readonly PropertyKey[]) => positionOf(path)?.line;
  assertEquals([lineOf("b"), lineOf("b", 0), lineOf("b", 1), lineOf("b", 1, "d")], [2, 3, 4, 6]);
  assertEquals([lineOf("a"), lineOf("2")], [7, 8]);
  assertEquals([lineOf("c"), lineOf("b", 2), lineOf("b", "0"), lineOf("a", "x"), lineOf()], Array(5).fill(undefined));
});
