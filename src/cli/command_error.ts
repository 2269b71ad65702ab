/** CommandError: a command cannot do what it should, and knows the exit code and what its user can do about it. */
import type { ExitCode } from "./exit_code.ts";

/** Options of a {@link CommandError}. */
export interface CommandErrorOptions {
  readonly code: ExitCode;
  /** One sentence on what to do next, without a period. */
  readonly advice?: string;
  readonly cause?: unknown;
}

/** An error that is explained already. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly code: ExitCode;
  readonly advice: string | undefined;

  constructor(message: string, options: CommandErrorOptions) {
    super(message, { cause: options.cause });
    this.code = options.code;
    this.advice = options.advice;
  }
}
