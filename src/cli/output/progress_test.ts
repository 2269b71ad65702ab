import { assertEquals, test } from "../../../tests/testing.ts";
import { TestProcess } from "../testing/test_process.ts";
import { plainProgress } from "./progress.ts";
import { Session } from "../command/session.ts";

function session(isTerminal: boolean): { readonly session: Session; readonly process: TestProcess } {
  const process = new TestProcess([], {}, { isTerminal });
  return { session: new Session({ name: "op", controllers: [] }, process), process };
}

test("progress on a terminal is one line that is overwritten and then removed", () => {
  const { session: at, process } = session(true);
  {
    using progress = at.progress();
    progress.report("1 of 2");
    progress.report("1 of 2");
    progress.report("2 of 2\u001b[2J");
  }
  assertEquals(process.err, "\rop: 1 of 2\u001b[K\rop: 2 of 2\\u001b[2J\u001b[K\r\u001b[K");
});

test("a result or a message replaces the progress line", () => {
  const { session: at, process } = session(true);
  using progress = at.progress();
  progress.report("working");
  at.info("news");
  progress.report("still");
  at.print("result");
  assertEquals(process.err, "\rop: working\u001b[K\r\u001b[Kop: news\n\rop: still\u001b[K\r\u001b[K");
});

test("live lines are overwritten in place and then removed", () => {
  const { session: at, process } = session(true);
  {
    using lines = at.liveLines();
    lines?.show(["a", "b"]);
    lines?.show(["a", "b"]);
    lines?.show(["a", "c"]);
    at.print("printed");
    lines?.show(["a", "b", "c"]);
    lines?.show(["all"]);
  }
  const [first, second] = ["\ra\u001b[K\nb\u001b[K", "\u001b[1A\ra\u001b[K\nc\u001b[K"];
  const third = "\ra\u001b[K\nb\u001b[K\nc\u001b[K";
  assertEquals(process.err, `${first}${second}\u001b[1A\r\u001b[J${third}\u001b[2A\rall\u001b[K\u001b[J\r\u001b[K`);
  assertEquals([process.out, session(false).session.liveLines()], ["printed\n", undefined]);
});

test("progress elsewhere is a line for a new text, and rarely the same again", async () => {
  const { process } = session(false);
  const written: string[] = [];
  const progress = plainProgress((text) => written.push(text), process.clock);
  for (let ms = 0; ms < 30_000; ms += 100) {
    progress.report(ms < 20_000 ? "waiting" : `${Math.floor(ms / 1_000)} done`);
    await process.clock.advance(100);
  }
  assertEquals(written, ["waiting", "waiting", "20 done", "22 done", "24 done", "26 done", "28 done"]);
});

test("progress of an operation shorter than a second writes nothing", async () => {
  const { session: at, process } = session(false);
  using progress = at.progress();
  for (let ms = 0; ms < 1_000; ms += 100) {
    progress.report("waiting");
    await process.clock.advance(100);
  }
  assertEquals(process.err, "");
});
