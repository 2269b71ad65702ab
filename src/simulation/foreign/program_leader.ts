/**
 * ProgramLeader: which replica of a program leads, from the locks that they write, and whether another one writes all the same.
 *
 * Caveats: a request that was on its way when the lock was lost arrives, and a process learns of the loss at its next renewal, so
 * it has some time for that.
 */
import { requestInfo } from "../../manager/mod.ts";
import { isCounted, isRenewal } from "../engine.ts";
import type { Violation } from "../violation.ts";

/** A replica. */
interface Replica {
  readonly id: number;
  readonly hasEnded: boolean;
}

/** Longer than the retry period of an election, 2 s, and the request of a renewal. */
const graceMs = 10_000;

/** The leader of a run with several replicas. */
export class ProgramLeader<Process extends Replica> {
  readonly #isLock: (request: Request) => boolean;
  readonly #now: () => number;
  readonly #messages = new Set<string>();
  #leader: Process | undefined;
  #since = 0;
  /** The process that has written last while there was no lock. */
  #writer: Process | undefined;

  /** @param isLock true for a write of a lock that is no Lease */
  constructor(isLock: (request: Request) => boolean, now: () => number) {
    this.#isLock = isLock;
    this.#now = now;
  }

  isLeader(replica: Process | undefined): boolean {
    return replica !== undefined && replica === this.#leader;
  }

  violations(): readonly Violation[] {
    return [...this.#messages].map((message) => ({
      invariant: "one-leader",
      message,
      consequence: "Two processes of the program work at the same time, and may undo each other's work.",
    }));
  }

  /** Notes a write that the server has accepted. */
  noteWrite(replica: Process, request: Request): void {
    const info = requestInfo(request);
    if (isRenewal(info) || this.#isLock(request)) {
      if (this.#leader !== replica) this.#since = this.#now();
      this.#leader = replica;
      return;
    }
    if (!isCounted(info)) return;
    const leader = this.#leader;
    if (leader === undefined) {
      const other = this.#writer;
      if (other !== undefined && other !== replica && !other.hasEnded) {
        this.#messages.add("two replicas write, and none of them has a lock");
      }
      this.#writer = replica;
    } else if (leader !== replica && !leader.hasEnded && this.#now() - this.#since > graceMs) {
      this.#messages.add(`a replica writes more than ${graceMs / 1_000} s after another one has acquired the lock`);
    }
  }
}
