/** Tests of programs with a process group of their own. */
import { existsSync } from "node:fs";
import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { nextTurn } from "./process.ts";
import { isProcessAlive } from "./process_identity.ts";
import { startProgram } from "./process_group.ts";

const env = { PATH: "/usr/bin:/bin" };

/** Starts a shell, and resolves with its first output. */
async function started(script: string) {
  const { promise: output, resolve } = Promise.withResolvers<string>();
  const program = startProgram(["/bin/sh", "-c", script], { env, onOutput: resolve });
  return { program, output: await output };
}

test("startProgram() reports the exit code", async () => {
  const program = startProgram(["/bin/sh", "-c", "exit 7"], { env, onOutput: () => {} });
  assertEquals(await program.ended, { kind: "exited", code: 7 });
  program.signal("SIGKILL"); // a group that has ended gets none
});

test("startProgram() reports a program that does not exist", async () => {
  const program = startProgram(["/nonexistent/program"], { env, onOutput: () => {} });
  assertEquals((await program.ended).kind, "notStarted");
});

test("a signal reaches what the program has started", async () => {
  const { program, output } = await started("sleep 60 & echo $!; wait");
  const inner = Number(output);
  assert(isProcessAlive(inner));
  program.signal("SIGKILL");
  assertEquals(await program.ended, { kind: "killed", by: "SIGKILL" });
});

test("usage() counts what a program has started, and is undefined when all of it has ended", async () => {
  const { program } = await started("while :; do :; done & echo ready; wait");
  let usage = await program.usage();
  if (existsSync("/proc/self/stat")) {
    // The shell itself only waits.
    while (usage !== undefined && usage.cpuMs < 50) usage = await program.usage();
    assert(usage !== undefined && usage.maxRssBytes > 0);
  }
  program.signal("SIGKILL");
  await program.ended;
  while (await program.usage() !== undefined) await nextTurn();
});

test("a stopped program goes on after SIGCONT", async () => {
  const { program } = await started("echo ready; sleep 0.2; exit 3");
  program.signal("SIGSTOP");
  program.signal("SIGCONT");
  assertEquals(await program.ended, { kind: "exited", code: 3 });
});
