/** runChild(): another program on the terminal of this one: the command after `--` of `dev` and `envtest`. */
import { runAttached } from "../../runtime/mod.ts";
import { CommandError, type ExitCode, exitCode } from "./exit_code.ts";
import type { Session } from "./session.ts";

/**
 * Runs a program with the environment of the session and further variables.
 *
 * @param signal ends the program with SIGTERM
 * @returns Its exit code
 * @throws CommandError when it cannot be started
 */
export async function runChild(
  command: readonly string[],
  variables: Readonly<Record<string, string>>,
  session: Session,
  signal: AbortSignal,
): Promise<ExitCode> {
  const env = { ...definedOnly(session.environment), ...variables };
  const killing = new AbortController();
  // A second signal ends the session, and a command that ignores SIGTERM would outlive it.
  session.atEnd(() => Promise.resolve(killing.abort()));
  const hasOwnGroup = !session.processEnvironment.stdin.isTerminal;
  const ending = await runAttached(command, { env, signal, kill: killing.signal, hasOwnGroup });
  // Any number: it is the exit code of another program.
  if (ending.kind === "ended") return ending.code as ExitCode;
  const advice = "Check whether it is installed and in PATH";
  throw new CommandError(`Cannot run "${command[0]}": ${ending.message}`, { code: exitCode.failed, advice });
}

function definedOnly(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([key, value]) => value === undefined ? [] : [[key, value]]),
  );
}
