/** What can be wrong with a run. The names are those of the invariants in docs/SIMULATION.md. */

/** Which promise was broken. */
export type Invariant =
  /** The end is that of a run without faults. */
  | "end state"
  /** Objects were created and deleted as often as in a run without faults. */
  | "lives"
  /** Everything comes to rest, and stays so without a write. */
  | "rest"
  /** Two leaders do not write at the same time. */
  | "one leader"
  /** No process ends by itself. */
  | "process"
  /** Whole collections are listed no more often than faults make necessary. */
  | "load"
  /** The caches hold what the server holds. */
  | "cache"
  /** Handlers hear of each object's life in order: added, updated, deleted; at the end they believe what is. */
  | "told"
  /** What is somebody else's is neither deleted nor changed. */
  | "strangers"
  /** No key is given up. */
  | "starved key";

/** One broken promise. */
export interface Violation {
  readonly invariant: Invariant;
  readonly message: string;
}
