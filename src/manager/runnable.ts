/**
 * Runnable: a part of a process that runs from a start to a stop. Controllers, caches, listeners and recorders are
 * all run as these, in groups that start and stop in a fixed order (`manager.ts`).
 */

/** The two ways a Runnable is told to end. */
export interface Life {
  /** Take nothing new, finish what is under way, return. */
  readonly stop: AbortSignal;
  /** The grace period is over: abort what is under way, return now. */
  readonly kill: AbortSignal;
}

/** Something that runs. */
export interface Runnable {
  /** For logs and errors. */
  readonly name: string;
  /** What must have happened before later groups start: a port that is bound, say. */
  prepare?(): Promise<void>;
  /** Runs until told to end. A throw ends the whole Manager; a return before the stop is fine. */
  run(life: Life): Promise<void>;
}
