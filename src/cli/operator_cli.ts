/**
 * operatorCli(): a whole command line out of a list of controllers. This is what an operator's main.ts calls.
 *
 * Guarantees: never ends the process, it returns the exit code; every error is one line on stderr and the code of
 * behaviours.md 84; an error that nobody handled ends the program too, with 70, instead of leaving it half alive (89).
 */
import { type ExitCode, failureOf } from "./exit_code.ts";
import { type Operator, type Surroundings, surroundingsWith } from "./operator.ts";
import { runProgram } from "./program.ts";
import { Session } from "./session.ts";

/**
 * Runs an operator's command line.
 *
 * @param surroundings What a test puts in the place of the process.
 * @returns The exit code. What still runs then was told to stop twice, or is broken: the caller should exit with it.
 * @example
 * ```ts
 * import { controller, done, Namespace, operatorCli } from "@pintle/controller";
 *
 * const greeter = controller("greeter").for(Namespace).reconcile(() => Promise.resolve(done));
 * const code = await operatorCli({ name: "my-operator", version: "1.0.0", controllers: [greeter] }, { args: ["--version"] });
 * console.assert(code === 0);
 * ```
 */
export async function operatorCli(operator: Operator, surroundings: Partial<Surroundings> = {}): Promise<number> {
  using session = new Session(operator, surroundingsWith(surroundings));
  const unhandled = Promise.withResolvers<ExitCode>();
  using _net = session.surroundings.onUnhandledRejection((error) => {
    unhandled.resolve(report(session, new Error(`Cannot go on: nobody handled ${describe(error)}`, { cause: error })));
  });
  const code = await Promise.race([guarded(session), unhandled.promise]);
  await session.flush();
  return code;
}

async function guarded(session: Session): Promise<ExitCode> {
  try {
    return await runProgram(session);
  } catch (error) {
    return report(session, error);
  }
}

function report(session: Session, error: unknown): ExitCode {
  const failure = failureOf(error);
  session.fail(failure, error);
  return failure.code;
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name} "${error.message}"` : String(error);
}
