/** QueueObserver: learns what a queue decides about keys that it does not give to a worker yet, for the recording. */

/** Notified of the decisions of a queue. C is the type of the causes. */
export interface QueueObserver<K, C> {
  /**
   * A key is due in `delayMs` milliseconds.
   *
   * @param retries Failures in a row; undefined if the delay does not follow from failures.
   * @returns The cause that the key carries from here on.
   */
  delayed(key: K, delayMs: number, cause: C | undefined, retries: number | undefined): C | undefined;
  /** A key is not reconciled until it is unparked. @returns its entry in the recording */
  parked(key: K, reason: string): number | undefined;
  /** A parked key may be reconciled again. */
  unparked(key: K): void;
  /** A run of a key was cancelled, because the running one has considered all its causes. */
  withdrawn(key: K): void;
}
