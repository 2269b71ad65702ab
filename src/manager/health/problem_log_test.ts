import { assertEquals, test } from "../../../tests/testing.ts";
import { VirtualClock } from "../../async/mod.ts";
import type { Fields, Logger } from "../../observe/mod.ts";
import { ProblemLog } from "./problem_log.ts";

function recorder(): { readonly records: string[]; readonly log: Logger } {
  const records: string[] = [];
  const note = (level: string) => (message: string, fields: Fields = {}) =>
    void records.push([level, message, fields["problem"]].filter((part) => part !== undefined).join(": "));
  const log: Logger = {
    debug: note("debug"),
    info: note("info"),
    warn: note("warn"),
    error: note("error"),
    with: () => log,
  };
  return { records, log };
}

test("a problem is logged once when it begins, when it changes, and when it is over", async () => {
  const clock = new VirtualClock();
  const { records, log } = recorder();
  let problem: string | undefined = "forbidden";
  const checks = () => [{ name: "foo", probe: "ready", problem: () => problem } as const];
  const stop = new AbortController();
  const running = new ProblemLog({ checks, clock, log }).run({ stop: stop.signal });
  await clock.advance(30_000);
  problem = "CRD missing";
  await clock.advance(30_000);
  problem = undefined;
  await clock.advance(30_000);
  stop.abort();
  await running;
  assertEquals(records, [
    "warn: controller is not ready: forbidden",
    "warn: controller is not ready: CRD missing",
    "info: controller is ready",
  ]);
  assertEquals(clock.pendingTimers, 0);
});
