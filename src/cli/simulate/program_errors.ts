/** The errors of the engine that are about the program or its files, in the words of the command line. */
import { PrepareError, ProgramStartError, ServiceStubError } from "../../simulation/mod.ts";

/** What to print. */
export interface ProgramError {
  readonly message: string;
  /** What to do. */
  readonly advice: string;
  /** The last lines of the program. */
  readonly output: readonly string[];
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
