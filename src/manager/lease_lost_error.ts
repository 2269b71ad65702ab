/** LeaseLostError: this process led, and leads no more although it did not mean to stop. */

/** Why leadership ended. */
export type LeaseLoss =
  /** The Lease could not be renewed in time; another process may take it when it has run out. */
  | { readonly kind: "expired"; readonly afterMs: number }
  /** The Lease names somebody else, or nobody, or is gone. */
  | { readonly kind: "taken"; readonly by: string };

/** Options of a {@link LeaseLostError}. */
export interface LeaseLostErrorOptions {
  /** `Lease "namespace/name"`. */
  readonly lease: string;
  readonly loss: LeaseLoss;
  /** Why the last renewal failed, if one did. */
  readonly cause?: unknown;
}

/** The reason with which {@link Leadership.signal} aborts when leadership is lost. */
export class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
  readonly loss: LeaseLoss;

  constructor(options: LeaseLostErrorOptions) {
    super(`Cannot lead on: ${stateOf(options)}`, { cause: options.cause });
    this.loss = options.loss;
  }
}

function stateOf({ lease, loss }: LeaseLostErrorOptions): string {
  switch (loss.kind) {
    case "expired":
      return `${lease} was not renewed for ${Math.round(loss.afterMs)} ms`;
    case "taken":
      return loss.by === "" ? `${lease} names nobody now` : `${lease} is held by "${loss.by}" now`;
    default:
      return loss satisfies never;
  }
}
