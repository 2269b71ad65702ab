/** Tests of the signals that end a command. */
import { assertEquals, test } from "../../../tests/testing.ts";
import { drain } from "../../async/mod.ts";
import type { SignalName } from "../../runtime/mod.ts";
import { TestProcess } from "../testing/test_process.ts";
import { listenForInterrupts } from "./interrupts.ts";
import type { Session } from "./session.ts";

/** A command that gets signals, each some milliseconds after the one before. @returns the exit code if it must end at once */
async function afterSignals(
  ...signals: readonly (readonly [SignalName, waitMs: number])[]
): Promise<number | undefined> {
  const process = new TestProcess([], {});
  using interrupts = listenForInterrupts({ processEnvironment: process } as unknown as Session);
  let code: number | undefined;
  void interrupts.forced.then((forced) => code = forced);
  for (const [signal, waitMs] of signals) {
    await process.clock.advance(waitMs);
    process.signal(signal);
  }
  await drain();
  assertEquals(interrupts.stop.aborted, true);
  return code;
}

test("a signal of the terminal that comes again at once is the same one, and a later one ends the command", async () => {
  for (const signal of ["SIGINT", "SIGHUP"] as const) {
    assertEquals(await afterSignals([signal, 0], [signal, 2]), undefined);
    assertEquals(await afterSignals([signal, 0], [signal, 2], [signal, 98]), 1);
    assertEquals(await afterSignals([signal, 0], [signal, 100]), 1);
  }
});

test("another signal, and a second SIGTERM, end the command at once", async () => {
  assertEquals(await afterSignals(["SIGINT", 0], ["SIGTERM", 1]), 1);
  assertEquals(await afterSignals(["SIGTERM", 0], ["SIGINT", 1]), 1);
  assertEquals(await afterSignals(["SIGTERM", 0], ["SIGTERM", 0]), 1);
});
