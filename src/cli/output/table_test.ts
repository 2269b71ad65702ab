import { assertEquals, test } from "../../../tests/testing.ts";
import { paintFor, table } from "./table.ts";

test("table() aligns columns and leaves no spaces at the ends of lines", () => {
  const rows = [["NAME", "COUNT", "NOTE"], ["websites", "1", ""], ["a", "1,200", "two words"]];
  assertEquals(table(rows), "NAME       COUNT   NOTE\nwebsites   1\na          1,200   two words\n");
  assertEquals(table([]), "");
});

test("table() aligns coloured cells like plain ones", () => {
  const writer = { isTerminal: true, columns: 80, write: () => true, flush: () => Promise.resolve() };
  const rows = [[{ text: "ok", tone: "success" }, "a"], [{ text: "failed", tone: "error" }, "b"]] as const;
  const colored = table(rows, paintFor(writer, {}));
  assertEquals(colored, "\u001b[32mok\u001b[0m       a\n\u001b[31mfailed\u001b[0m   b\n");
  assertEquals(table(rows, paintFor(writer, { NO_COLOR: "1" })), "ok       a\nfailed   b\n");
  assertEquals(table(rows, paintFor({ ...writer, isTerminal: false }, {})), "ok       a\nfailed   b\n");
});

test("table() escapes control characters that a cluster sent", () => {
  assertEquals(table([["a\u001b[2Jb\n", "é"]]), "a\\u001b[2Jb   é\n");
});
