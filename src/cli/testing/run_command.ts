/** Runs a command line to its end on a process and a cluster that are none. */
import type { Transport } from "../../client/mod.ts";
import { type FakeTerminal, TestProcess } from "./test_process.ts";
import type { Operator } from "../command/operator.ts";
import { operatorCli } from "../operator_cli.ts";
import type { Environment } from "../../runtime/mod.ts";

/** How a command ended. */
export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Around a command line. */
export interface Around {
  /** Where requests go, whatever cluster is named. @default there is no cluster */
  readonly transport?: Transport;
  readonly environment?: Environment;
  readonly terminal?: FakeTerminal;
}

/** A process whose surroundings are complete. */
export function processOf(words: readonly string[], { transport, environment, terminal }: Around = {}): TestProcess {
  const installOnServer = transport === undefined ? words : [...words, "--server", "https://10.0.0.1:6443"];
  return new TestProcess(installOnServer, { HOME: "/nonexistent", ...environment }, terminal);
}

/** Starts an operator's command line on a process. */
export function start(operator: Operator, process: TestProcess, transport?: Transport): Promise<number> {
  const { args, environment, clock, random, stdin, stdout, stderr, onSignal, onUnhandledRejection } = process;
  const around = { args, environment, clock, random, stdin, stdout, stderr, onSignal, onUnhandledRejection };
  return operatorCli(operator, { ...around, transport });
}

/** Runs a command line, its clock going on as long as it runs. */
export async function runCommandLine(
  operator: Operator,
  words: readonly string[],
  around: Around = {},
): Promise<CommandResult> {
  const process = processOf(words, around);
  const ending = start(operator, process, around.transport);
  let isOver = false;
  const over = () => void (isOver = true);
  ending.then(over, over);
  for (let step = 0; step < 5_000 && !isOver; step++) await process.clock.advance(200);
  return { code: await ending, out: process.out, err: process.err };
}
