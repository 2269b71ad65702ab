/**
 * Ending the process. One place, so that a search finds every way out; the exit codes themselves are the command
 * line's business.
 */
import process from "node:process";

/** Ends the process at once with `code`. Output that was not awaited may be lost when it goes into a pipe. */
export function exit(code: number): never {
  process.exit(code);
}
