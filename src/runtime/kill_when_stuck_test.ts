import { spawn } from "node:child_process";
import process from "node:process";
import { assertEquals, assertMatch, assertThrows, test } from "../../tests/testing.ts";
import { killWhenStuck } from "./kill_when_stuck.ts";

interface Ending {
  readonly signal: string | null;
  readonly code: number | null;
  readonly stderr: string;
}

/** Runs a program beside this file on the runtime that runs the test. */
async function runProgram(code: string, during?: (pid: number) => Promise<void>): Promise<Ending> {
  const path = new URL("./kill_when_stuck.ts", import.meta.url).href;
  const text = `import { killWhenStuck } from ${JSON.stringify(path)};\n${code}`;
  const args = "Bun" in globalThis ? ["-e", text] : ["eval", "--ext=ts", "--no-check", text];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (part: string) => stderr += part);
  const started = new Promise<void>((resolve) => child.stdout.once("data", () => resolve()));
  const ended = new Promise<Ending>((resolve) =>
    child.once("close", (code, signal) => resolve({ code, signal, stderr }))
  );
  await Promise.race([started, ended]);
  if (child.pid !== undefined) await during?.(child.pid);
  return await ended;
}

test("[88] a process whose event loop is stuck is killed, and says why", async () => {
  const { signal, code, stderr } = await runProgram(`
    killWhenStuck({ afterMs: 1000 });
    console.log("started");
    setTimeout(() => { while (true) {} }, 600);
  `);
  assertEquals([signal, code], ["SIGKILL", null]);
  assertMatch(stderr, /The event loop has not turned for 1000 ms: the process is killed/);
});

test("[88] a process that is stopped for a while and goes on is not stuck, and ends when it wants to", async () => {
  const ending = await runProgram(
    `
    const watch = killWhenStuck({ afterMs: 1000 });
    console.log("started");
    setTimeout(() => watch[Symbol.dispose](), 1500);
  `,
    async (pid) => {
      process.kill(pid, "SIGSTOP");
      // The one wait of these tests: a stopped process gives no sign.
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      process.kill(pid, "SIGCONT");
    },
  );
  assertEquals([ending.signal, ending.code, ending.stderr], [null, 0, ""]);
});

test("a time limit that a collection of garbage may exceed is refused", () => {
  for (const afterMs of [999, 0, NaN, Infinity]) {
    assertThrows(() => killWhenStuck({ afterMs }), /Cannot watch the event loop/);
  }
});
