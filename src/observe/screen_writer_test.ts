/** Tests of ScreenWriter on a terminal that understands what it writes. */
import { assert, assertEquals, assertMatch, test } from "../../tests/testing.ts";
import { TinyTerminal } from "../../tests/fakes/terminal.ts";
import { type Line, ScreenWriter } from "./mod.ts";

function start(rows = 5) {
  const terminal = new TinyTerminal({ rows });
  const screen = new ScreenWriter(terminal, { hasColors: true });
  return { terminal, screen };
}

test("show() draws lines from the top, and cuts what does not fit", () => {
  const { terminal, screen } = start(3);
  // Not one letter many times: that may be a credential of another test in this process, and would be masked.
  const long = "a line that is too long for this terminal";
  screen.show(["one", { text: "two", tone: "error" }, long, "four"]);
  assertEquals(terminal.lines.slice(0, 3), ["one", "two", long.slice(0, 20)]);
  assertEquals(terminal.lines.includes("four"), false);
});

test("a frame is one write, of the lines that differ only, and none if nothing differs", () => {
  const { terminal, screen } = start();
  screen.show(["a", "b", "c"]);
  assertEquals(terminal.writes, 1);
  screen.show(["a", "b", "c"]);
  assertEquals(terminal.writes, 1);
  let written = "";
  const write = terminal.write.bind(terminal);
  terminal.write = (text) => (written += text, write(text));
  screen.show(["a", "longer", "c"]);
  assertEquals([terminal.lines.slice(0, 3), terminal.writes], [["a", "longer", "c"], 2]);
  assert(!written.includes("c\u001b"), written);
  screen.show(["z"]);
  assertEquals(terminal.lines, ["z", "", "", "", ""]);
  screen.show(["1", "2", "3", "4", "5"]);
  screen.show(["1", "2", "3", "4", "6"]);
  assertEquals(terminal.lines, ["1", "2", "3", "4", "6"], "the last line is not cleared");
});

test("a terminal of another size is drawn as a whole", () => {
  const { terminal, screen } = start();
  screen.show(["a", "b", "c"]);
  terminal.lines = ["rubbish", "rubbish", "rubbish", "rubbish", "rubbish"];
  terminal.columns = 12;
  screen.show(["a", "b", "c"]);
  assertEquals(terminal.lines, ["a", "b", "c", "", ""]);
  terminal.lines[4] = "rubbish";
  screen.forget();
  screen.show(["a", "b", "c"]);
  assertEquals(terminal.lines, ["a", "b", "c", "", ""]);
});

test("leave() restores what the first frame has changed, once", () => {
  const { terminal, screen } = start();
  terminal.modes = new Set(["?7", "?25"]);
  screen.leave();
  assertEquals(terminal.writes, 0);
  screen.show([]);
  assertEquals([...terminal.modes], ["?1049"]);
  screen.leave();
  screen.leave();
  assertEquals([[...terminal.modes].sort(), terminal.writes], [["?25", "?7"], 2]);
});

test("[security 19] no text of others controls the screen or leaves its line", () => {
  const { terminal, screen } = start();
  const hostile: Line = "a\u001b[2J\u001b[?1049l\nb\rc\u0007\u009b1;1H";
  terminal.columns = 200;
  screen.show([hostile, { text: "\u001b]0;title\u0007", tone: "error" }]);
  assertMatch(terminal.lines[0] ?? "", /^a\\u001b\[2J\\u001b\[\?1049l\\u000ab\\u000dc\\u0007\\u009b1;1H$/);
  assertEquals(terminal.lines[1], "\\u001b]0;title\\u0007");
  assert(terminal.modes.has("?1049"));
});
