/**
 * Standstill: what waits at the gate, and the processes that stand still there. One that goes on does first what it was about to
 * do when it stopped, as a process would whose next instruction is the system call, and only then hears of anything else:
 * answers, watch events, timers that are overdue.
 */
import { drain } from "../async/mod.ts";
import type { RequestInfo } from "../manager/mod.ts";
import { reset } from "./_answers.ts";
import type { OperatorProcess } from "./_operator_process.ts";

/** A request that was sent and has not arrived. */
export interface Waiting {
  readonly process: OperatorProcess;
  readonly request: Request;
  readonly info: RequestInfo | undefined;
  /** Decides who goes first. */
  readonly order: string;
  /** It was late, and nothing more happens to it. */
  isLate?: true;
  readonly isWrite: boolean;
  resolve(response: Response): void;
  reject(error: unknown): void;
}

/** What processes that stand still want to send. */
export class Standstill {
  readonly #asleep = new Map<OperatorProcess, Waiting[]>();

  /** Where a request of a process goes; undefined when it does not stand still. */
  of(sleeper: OperatorProcess): Waiting[] | undefined {
    return this.#asleep.get(sleeper);
  }

  /** A process stops. @param waiting what it has sent, and what did not arrive yet */
  begin(sleeper: OperatorProcess, waiting: readonly Waiting[], wallByMs = 0): void {
    this.#asleep.set(sleeper, [...waiting]);
    sleeper.clock.pause();
    sleeper.clock.jump(wallByMs);
  }

  /** A process goes on. @param next what it was about to do @returns what it has sent */
  async end(sleeper: OperatorProcess, next: () => Promise<void>): Promise<readonly Waiting[]> {
    await next();
    const waiting = this.#asleep.get(sleeper) ?? [];
    this.#asleep.delete(sleeper);
    for (const fire of sleeper.clock.resume()) {
      fire();
      await drain();
    }
    return waiting.filter(({ request }) => !request.signal.aborted);
  }

  /** A process has ended. */
  forget(sleeper: OperatorProcess): void {
    for (const { reject } of this.#asleep.get(sleeper) ?? []) reject(reset("the process has ended"));
    this.#asleep.delete(sleeper);
  }
}
