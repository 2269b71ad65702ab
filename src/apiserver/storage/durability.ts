/** Durability: what keeps the changes of a storage beyond the process. A storage in memory has none. */

/** Says which changes are kept. Responses and watches wait for it, so that no client knows of a change that can be lost. */
export interface Durability {
  /** All changes up to this revision are kept. */
  readonly storedRevision: number;
  /**
   * Resolves when all changes until now are kept, after another attempt if the last one failed.
   *
   * @returns undefined when they are kept already
   * @throws StatusError 500 when they cannot be kept now
   */
  stored(): Promise<void> | undefined;
  /** Resolves when the changes up to a revision are kept, however long that takes. */
  reached(revision: number): Promise<void>;
  /** True after an attempt failed. Writes are refused until one succeeds. */
  readonly hasFailed: boolean;
}
