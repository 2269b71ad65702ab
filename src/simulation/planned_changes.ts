/** PlannedChanges: when processes of a run start and leave, by its virtual clock. */
import type { VirtualClock } from "../async/mod.ts";
import type { EntryId } from "../observe/mod.ts";

/** A process that starts. */
interface PlannedStart {
  /** Virtual time. */
  readonly at: number;
  /** Why, in the recording. */
  readonly causes: readonly EntryId[];
}

/** The processes that are due. */
export interface DueChanges {
  /** The causes of each process that starts. */
  readonly starts: readonly (readonly EntryId[])[];
  /** How many replicas leave that are more than the usual number. */
  readonly leaves: number;
}

const nothingDue: DueChanges = { starts: [], leaves: 0 };

export class PlannedChanges {
  readonly #clock: VirtualClock;
  #starts: PlannedStart[] = [];
  /** Virtual times. */
  #leaves: number[] = [];

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  /** The number of processes that are to start. */
  get starts(): number {
    return this.#starts.length;
  }

  isEmpty(): boolean {
    return this.#starts.length === 0 && this.#leaves.length === 0;
  }

  startIn(ms: number, cause: EntryId | undefined): void {
    this.#starts.push({ at: this.#at(ms), causes: cause === undefined ? [] : [cause] });
  }

  leaveIn(ms: number): void {
    this.#leaves.push(this.#at(ms));
  }

  /** The processes that were to start later do not start. */
  dropStarts(): void {
    this.#starts = [];
  }

  /** Removes what is due. */
  takeDue(): DueChanges {
    if (this.isEmpty()) return nothingDue;
    const now = this.#clock.monotonic();
    const starts = this.#starts.filter(({ at }) => at <= now).map(({ causes }) => causes);
    const leaves = this.#leaves.filter((at) => at <= now).length;
    if (starts.length > 0) this.#starts = this.#starts.filter(({ at }) => at > now);
    if (leaves > 0) this.#leaves = this.#leaves.filter((at) => at > now);
    return { starts, leaves };
  }

  /** The clock stops at that time. */
  #at(ms: number): number {
    this.#clock.timer(ms, () => {});
    return this.#clock.monotonic() + ms;
  }
}
