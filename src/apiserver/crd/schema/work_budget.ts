/**
 * WorkBudget: a bound on the work of one validation. Schema and object are each bounded in size, but their product is not: a
 * list of 100,000 items and 20,000 alternatives are a request of 1 MB and hours of work.
 *
 * One unit is about one visit of a value by one schema node.
 */

/** The most units of one validation, about a second. An object of 3 MiB with ten alternatives for each value has less. */
export const maxValidationWork = 5_000_000;

/** Units of an error, besides those of its message. Ten thousand errors end a validation. */
const errorWork = 500;

/** The work is used up. */
export class WorkExceededError extends Error {
  override readonly name = "WorkExceededError";
}

/** The remaining work of one validation. */
export class WorkBudget {
  #left: number;

  constructor(units: number = maxValidationWork) {
    this.#left = units;
  }

  /** The remaining units. */
  get left(): number {
    return this.#left;
  }

  /** @throws WorkExceededError when there is less left */
  spend(units: number): void {
    this.#left -= units;
    if (this.#left < 0) throw new WorkExceededError();
  }

  /** Counts an error with a message. */
  spendOnError(message: string): void {
    this.spend(errorWork + message.length);
  }
}
