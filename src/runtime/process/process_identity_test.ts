import process from "node:process";
import { assert, assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { spawn } from "./child_process.ts";
import { isProcessAlive, processSpace } from "./process_identity.ts";

test("isProcessAlive() is true for this process and false for one that has ended", async () => {
  const ended = await spawn(["/bin/sh", "-c", "echo $$"]);
  const stdout = ended.kind === "ended" ? ended.stdout : "";
  assertEquals([isProcessAlive(process.pid), isProcessAlive(Number(stdout.trim()))], [true, false]);
  assert(isProcessAlive(1), "a process of another user");
});

test("processSpace() is the same at each call, and names no machine", async () => {
  const space = await processSpace();
  assertEquals(await processSpace(), space);
  if (process.platform === "linux") assertMatch(space ?? "", /^[0-9a-f]{32}$/);
});
