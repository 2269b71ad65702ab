/** The command behind `--`, with a development cluster as its cluster. */
import { runAttached } from "../../runtime/mod.ts";
import { CommandError } from "../command_error.ts";
import { type ExitCode, exitCode } from "../exit_code.ts";
import type { Session } from "../session.ts";

/** Runs it. @returns its exit code */
export async function runCommand(
  command: readonly string[],
  kubeconfig: string,
  session: Session,
  signal: AbortSignal,
): Promise<ExitCode> {
  const env = { ...definedOnly(session.environment), KUBECONFIG: kubeconfig };
  const ending = await runAttached(command, { env, signal });
  // What the program says is what is answered, whatever the number.
  if (ending.kind === "ended") return ending.code as ExitCode;
  const advice = "Is it installed, and in PATH?";
  throw new CommandError(`Cannot run "${command[0]}": ${ending.message}`, { code: exitCode.failed, advice });
}

function definedOnly(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([key, value]) => value === undefined ? [] : [[key, value]]),
  );
}
