/** The errors of the engine that are about the program or its files, in the words of the command line. */
import { CommandError, exitCode, type Session } from "../command/mod.ts";
import { PrepareError, ProgramStartError, ServiceStubError } from "../../simulation/mod.ts";

/** What to print. */
export interface ProgramError {
  readonly message: string;
  /** What to do. */
  readonly advice: string;
  /** The last lines of the program. */
  readonly output: readonly string[];
}

/** Runs something with a program. Its errors that are about the program become those of a command, after its last lines. */
export async function withCommandErrors<Result>(
  session: Session,
  signal: AbortSignal,
  run: () => Promise<Result>,
): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    // The workers have ended then.
    if (signal.aborted) throw interruptedError(error);
    const known = programError(error);
    if (known === undefined) throw error;
    for (const line of known.output) session.info(line);
    throw new CommandError(known.message, { code: exitCode.failed, advice: known.advice, cause: error });
  }
}

/** A signal has ended the work before there was anything to report. */
function interruptedError(cause: unknown): CommandError {
  return new CommandError("Cannot simulate: a signal ended it before its first result", {
    code: exitCode.failed,
    cause,
  });
}

/** Describes an error; undefined for one that is no fault of the user. */
export function programError(error: unknown): ProgramError | undefined {
  if (error instanceof ProgramStartError) {
    const advice = "The lines above are the last that it printed. Check --command";
    return { message: error.message, advice, output: error.output };
  }
  if (error instanceof ServiceStubError) return { message: error.message, advice: "Check --service", output: [] };
  if (error instanceof PrepareError) return { message: error.message, advice: "Check --crds", output: [] };
  return undefined;
}
