/**
 * A program for pipe_reader_test.ts: prints one line, then looks whether the reader of its standard output has left, as
 * often as its argument says, and writes the last answer to standard error.
 */
import process from "node:process";
import { setTimeout } from "node:timers";
import { isReaderGone } from "../process/pipe_reader.ts";

const [, , maxLooks = "1"] = process.argv;

process.stdout.on("error", () => {});
process.stdout.write("line\n");
let isGone = isReaderGone(1);
for (let look = 1; look < Number(maxLooks) && !isGone; look++) {
  await new Promise((resolve) => setTimeout(resolve, 10)); // The reader needs a moment to leave.
  isGone = isReaderGone(1);
}
process.stderr.write(isGone ? "closed\n" : "open\n");
