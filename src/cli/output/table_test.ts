import { assertEquals, test } from "../../../tests/testing.ts";
import { type Line, LineWriter } from "../../observe/mod.ts";
import { hasColors, table } from "./table.ts";

/** The lines as they are written. */
function written(lines: readonly Line[], hasColors = false): string {
  let text = "";
  new LineWriter({ write: (part) => text += part }, { hasColors }).writeLines(...lines);
  return text;
}

test("table() aligns columns and leaves no spaces at the ends of lines", () => {
  const rows = [["NAME", "COUNT", "NOTE"], ["websites", "1", ""], ["a", "1,200", "two words"]];
  assertEquals(written(table(rows)), "NAME       COUNT   NOTE\nwebsites   1\na          1,200   two words\n");
  assertEquals(table([]), []);
});

test("table() aligns coloured cells like plain ones", () => {
  const rows = [[{ text: "ok", tone: "success" }, "a"], [{ text: "failed", tone: "error" }, "b"]] as const;
  assertEquals(written(table(rows), true), "\u001b[32mok\u001b[0m       a\n\u001b[31mfailed\u001b[0m   b\n");
  assertEquals(written(table(rows)), "ok       a\nfailed   b\n");
});

test("colours are shown on a terminal only, and not with NO_COLOR or TERM=dumb", () => {
  const terminal = { isTerminal: true, columns: 80, write: () => true, flush: () => Promise.resolve() };
  assertEquals(hasColors(terminal, {}), true);
  assertEquals(hasColors(terminal, { NO_COLOR: "1" }), false);
  assertEquals(hasColors(terminal, { TERM: "dumb" }), false);
  assertEquals(hasColors({ ...terminal, isTerminal: false }, {}), false);
});

test("table() escapes control characters that a cluster sent", () => {
  assertEquals(written(table([["a\u001b[2Jb\n", "é"]])), "a\\u001b[2Jb   é\n");
});
