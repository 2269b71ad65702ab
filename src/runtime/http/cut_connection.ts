/**
 * CutConnectionError: a handler throws it to end the connection of its request without a response, as a network that breaks
 * does. Over HTTP/2 only the stream of the request is reset.
 */

/** Ends the connection of a request when a handler throws it. The server reports no error. */
export class CutConnectionError extends Error {
  override readonly name = "CutConnectionError";

  constructor(options?: ErrorOptions) {
    super("Cannot respond: the handler cut the connection", options);
  }
}
