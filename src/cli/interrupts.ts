/**
 * interrupts(): SIGINT and SIGTERM as a long-running command sees them. The first asks it to finish, the second ends it
 * (behaviours.md 61).
 */
import { logger } from "../observe/mod.ts";
import type { SignalName } from "../runtime/mod.ts";
import { type ExitCode, exitCode } from "./exit_code.ts";
import type { Session } from "./session.ts";

/** The signals of one command. While it stands, they do not end the process by themselves. */
export interface Interrupts extends Disposable {
  /** Aborts with the first signal. */
  readonly stop: AbortSignal;
  /** Resolves, with the exit code, when a second one says that this takes too long. */
  readonly forced: Promise<ExitCode>;
}

/** Listens to the signals. Others that could end the process are ignored meanwhile. */
export function interrupts(session: Session, heeded: readonly SignalName[] = ["SIGINT", "SIGTERM"]): Interrupts {
  const log = logger("cli");
  const stopping = new AbortController();
  const forced = Promise.withResolvers<ExitCode>();
  const listening = session.surroundings.onSignal(["SIGINT", "SIGTERM"], (signal) => {
    if (!heeded.includes(signal)) return;
    if (stopping.signal.aborted) {
      log.warn("second signal: ending at once", { signal });
      return forced.resolve(exitCode.failed);
    }
    log.info("signal: finishing what runs, a second one ends at once", { signal });
    stopping.abort(new DOMException(`Ended by ${signal}`, "AbortError"));
  });
  return {
    stop: stopping.signal,
    forced: forced.promise,
    [Symbol.dispose]: () => listening[Symbol.dispose](),
  };
}
