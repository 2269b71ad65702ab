/** Refusal: why a request is not handed to the handler, as the status that the peer gets before the connection closes. */

/** A request, or a connection, that is not served. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  /** The HTTP status. */
  readonly status: number;

  constructor(status: number, state: string) {
    super(`Cannot serve request: ${state}`);
    this.status = status;
  }
}
