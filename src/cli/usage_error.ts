/** UsageError: the command line makes no sense. Nothing was done, and nothing was asked of a cluster. */

/** What was typed, or what stands in the environment instead, cannot be used. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  /** One sentence on what to do next, without a period. */
  readonly advice: string | undefined;

  constructor(message: string, advice?: string) {
    super(message);
    this.advice = advice;
  }
}
