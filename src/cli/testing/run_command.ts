/** Runs a command line in a test process, on a cluster that a Transport simulates. */
import type { Transport } from "../../client/mod.ts";
import type { Environment } from "../../runtime/mod.ts";
import type { Operator } from "../command/operator.ts";
import type { SubcommandEntry } from "../command/mod.ts";
import { runCommands, subcommands } from "../operator_cli.ts";
import { TestProcess, type TestTerminal } from "./test_process.ts";

/** How a command ended. */
export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The environment of a command line. */
export interface RunOptions {
  /** Handles the requests, whatever cluster the flags name. @default there is no cluster */
  readonly transport?: Transport;
  readonly environment?: Environment;
  readonly terminal?: TestTerminal;
  /** The time at the start, in milliseconds since 1970. @default the first day of 2026 */
  readonly startAt?: number;
  /** How far the clock goes in a turn of the event loop. Small when a limit covers the reading of files. @default 200 */
  readonly stepMs?: number;
  /** @default the commands of an operator */
  readonly commands?: readonly SubcommandEntry[];
}

/** Creates the process for a command line. */
export function createProcess(
  args: readonly string[],
  { transport, environment, terminal, startAt }: RunOptions = {},
): TestProcess {
  const withServer = transport === undefined ? args : [...args, "--server", "https://10.0.0.1:6443"];
  return new TestProcess(withServer, { HOME: "/nonexistent", ...environment }, terminal, startAt);
}

/** Starts the command line of an operator. @returns Its exit code */
export function startCommandLine(
  operator: Operator,
  process: TestProcess,
  transport?: Transport,
  commands: readonly SubcommandEntry[] = subcommands,
): Promise<number> {
  const { args, environment, clock, random, stdin, stdout, stderr, onSignal, onUnhandledRejection } = process;
  const replaced = { args, environment, clock, random, stdin, stdout, stderr, onSignal, onUnhandledRejection };
  return runCommands(operator, commands, { ...replaced, transport });
}

/** Runs a command line to its end, and advances its clock meanwhile. */
export async function runCommandLine(
  operator: Operator,
  args: readonly string[],
  options: RunOptions = {},
): Promise<CommandResult> {
  const process = createProcess(args, options);
  const ending = startCommandLine(operator, process, options.transport, options.commands);
  const code = await endOf(ending, process, options.stepMs);
  return { code, out: process.out, err: process.err };
}

/** Advances the clock of a command line that runs until it has ended. @returns Its exit code */
export async function endOf(ending: Promise<number>, process: TestProcess, stepMs = 200): Promise<number> {
  let isOver = false;
  const end = () => void (isOver = true);
  ending.then(end, end);
  // Files and modules are read in real time, which takes as many turns as it takes: more on a busy machine.
  while (!isOver) await process.clock.advance(stepMs);
  return await ending;
}
