/** Tests of TextWriter with broken, full and slow streams. */
import { Writable } from "node:stream";
import { assertEquals, test } from "../../../tests/testing.ts";
import { keysOf, textWriter } from "./standard_streams.ts";

/** A stream whose reader has closed the pipe. */
class BrokenPipe extends Writable {
  writes = 0;

  override _write(_chunk: unknown, _encoding: unknown, done: (error: Error) => void): void {
    this.writes++;
    done(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
  }
}

test("[85] after the reader has closed the pipe, write() does nothing and raises no error", async () => {
  const stream = new BrokenPipe();
  const writer = textWriter(stream);
  writer.write("lost");
  await writer.flush();
  assertEquals(writer.write("not written"), false);
  await writer.flush();
  assertEquals(stream.writes, 1);
  assertEquals([writer.isOpen, writer.failure], [false, undefined]);
});

test("an error other than a closed pipe is the failure of the writer", async () => {
  const full = new Error("ENOSPC: no space left on device");
  const writer = textWriter(new Writable({ write: (_chunk, _encoding, done) => done(full) }));
  assertEquals([writer.isOpen, writer.failure], [true, undefined]);
  writer.write("lost");
  await writer.flush();
  assertEquals([writer.isOpen, writer.failure, writer.write("not written")], [false, full, false]);
});

test("write() keeps the order, and flush() waits for the text", async () => {
  const seen: string[] = [];
  const writer = textWriter(
    new Writable({
      write(chunk, _encoding, done) {
        queueMicrotask(() => {
          seen.push(String(chunk));
          done();
        });
      },
    }),
  );
  assertEquals([writer.write("a"), writer.write("b")], [true, true]);
  await writer.flush();
  assertEquals(seen, ["a", "b"]);
  assertEquals([writer.isTerminal, writer.columns], [false, undefined]);
});

test("keysOf() reads characters and named keys, and leaves out what it does not know", () => {
  assertEquals(keysOf("q/ü😀"), ["q", "/", "ü", "😀"]);
  assertEquals(keysOf("\u001b[A\u001bOB\u001b[6~\r\u007f\u0003"), [
    "up",
    "down",
    "pagedown",
    "enter",
    "backspace",
    "ctrl-c",
  ]);
  assertEquals(keysOf("\u001b"), ["escape"]);
  assertEquals(keysOf("\u001b[200~x\u001b[1;5C\u0001\u001b[<0;1;1M"), ["x"]);
});
