/**
 * Runs a command on a machine for kind:
 *
 *   deno run -A tests/kind/with.ts [--] COMMAND ARGS...
 *
 * COMMAND finds docker, kind and kubectl, and `kind create cluster` works; its exit code is ours. What it starts, and the
 * machine, end with it. Where there can be no machine, it is not run, and the exit code is 1.
 */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import process from "node:process";
import { Machine, machineParts } from "./machine.ts";

async function main(command: readonly string[]): Promise<number> {
  if (command.length === 0) throw new TypeError("Cannot read the command line: it names no command");
  const outcome = await machineParts();
  if (outcome.kind === "unavailable") throw new Error(`Cannot start a machine for kind: ${outcome.reason}`);
  await using machine = await Machine.start(outcome.parts);
  await machine.prepareForClusters();
  const [program, ...args] = machine.command(command);
  const ignore = () => {}; // Ctrl-C and SIGTERM end the command, which ends us
  const forward = () => child.pid !== undefined && process.kill(child.pid, "SIGTERM");
  process.on("SIGINT", ignore).on("SIGTERM", forward); // before the command can tell anybody that it runs
  const child = spawn(program, args, { stdio: "inherit", env: { ...process.env, ...machine.environment } });
  return await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
}

try {
  const words = process.argv.slice(2);
  process.exitCode = await main(words[0] === "--" ? words.slice(1) : words);
} catch (error) {
  console.error(`kind: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
