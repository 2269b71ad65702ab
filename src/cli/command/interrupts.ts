/**
 * The signals that end a command: SIGHUP (the terminal was closed), SIGINT (Ctrl-C), SIGQUIT and SIGTERM.
 *
 * Guarantees: while a command listens, the first SIGHUP, SIGINT or SIGTERM only asks it to end; the second one, and any
 * SIGQUIT to a command that would finish something, ends it at once. What the session has to remove at its end is removed
 * in each case. A signal of the terminal that `deno task` or `npm run` passes on once more is no second one. A SIGHUP that
 * was ignored when the process started, as under `nohup`, stays ignored. Commands that do not listen are ended by the
 * system, as any program: their steps can be repeated.
 */
import { logger } from "../../observe/mod.ts";
import type { SignalName } from "../../runtime/mod.ts";
import { CommandError, type ExitCode, exitCode } from "./exit_code.ts";
import type { Session } from "./session.ts";

/** The signals of a command. While this is not disposed, they do not end the process. */
export interface Interrupts extends Disposable {
  /** Aborts with the first signal. */
  readonly stop: AbortSignal;
  /** Resolves with the exit code when the command must end at once. */
  readonly forced: Promise<ExitCode>;
}

/** How a command ends at the first signal. */
export interface InterruptOptions {
  /** Other signals do not end the command: a program on the same terminal decides, or they mean something else. @default all */
  readonly handled?: readonly SignalName[];
  /**
   * "finish": it completes what runs, and the exit code is its own. "undo": it removes what it has written, and the reason
   * of `stop` is the error with the exit code of the signal. @default "finish"
   */
  readonly mode?: "finish" | "undo";
}

const numbers = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGTERM: 15 } as const;

type EndingSignal = keyof typeof numbers;

/**
 * A terminal sends these to all its programs, and a program that has started another one passes them on: the other one gets
 * them twice within a millisecond or two. Nobody presses Ctrl-C twice within this time.
 */
const terminalSignals: readonly EndingSignal[] = ["SIGHUP", "SIGINT"];
const passedOnWithinMs = 100;

/** A signal, and when it came, in milliseconds of the monotonic clock. */
interface ReceivedSignal {
  readonly signal: EndingSignal;
  readonly at: number;
}

/** True when a signal is the first one once more. */
function isPassedOn({ signal, at }: ReceivedSignal, first: ReceivedSignal): boolean {
  return signal === first.signal && terminalSignals.includes(signal) && at - first.at < passedOnWithinMs;
}

/** The signals that end a program. */
export const endingSignals: readonly EndingSignal[] = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM"];

function isEnding(signal: SignalName): signal is EndingSignal {
  return Object.hasOwn(numbers, signal);
}

/** The exit code of a program that a signal ended: 128 and its number, as in a shell. */
function signalExitCode(signal: EndingSignal): ExitCode {
  return 128 + numbers[signal] as ExitCode;
}

/** Listens for the signals that end a command. */
export function listenForInterrupts(session: Session, options: InterruptOptions = {}): Interrupts {
  const { handled = endingSignals, mode = "finish" } = options;
  const log = logger("cli");
  const stopping = new AbortController();
  const forced = Promise.withResolvers<ExitCode>();
  const { clock, onSignal } = session.processEnvironment;
  let first: ReceivedSignal | undefined;
  const listening = onSignal(endingSignals, (signal) => {
    if (!isEnding(signal) || !handled.includes(signal)) return;
    if (signal === "SIGQUIT" && mode === "finish") return forced.resolve(signalExitCode(signal));
    const at = clock.monotonic();
    if (first !== undefined) {
      if (isPassedOn({ signal, at }, first)) return;
      log.warn("received a second signal, ending at once", { signal });
      return forced.resolve(mode === "undo" ? signalExitCode(signal) : exitCode.failed);
    }
    first = { signal, at };
    if (mode === "undo") {
      return stopping.abort(new CommandError(`Cannot finish: ended by ${signal}`, { code: signalExitCode(signal) }));
    }
    log.info("received a signal, finishing running reconciles", { signal });
    stopping.abort(new DOMException(`Ended by ${signal}`, "AbortError"));
  });
  return {
    stop: stopping.signal,
    forced: forced.promise,
    [Symbol.dispose]: () => listening[Symbol.dispose](),
  };
}
