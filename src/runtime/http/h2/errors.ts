/** The errors of HTTP/2 (RFC 9113, 7), and what each of them ends. */

/** The codes of RST_STREAM and GOAWAY. */
export const errorCodes = {
  noError: 0,
  protocolError: 1,
  internalError: 2,
  flowControlError: 3,
  streamClosed: 5,
  frameSizeError: 6,
  refusedStream: 7,
  cancel: 8,
  compressionError: 9,
  enhanceYourCalm: 11,
} as const satisfies Readonly<Record<string, number>>;

/** One of the codes. */
export type ErrorCode = typeof errorCodes[keyof typeof errorCodes];

/** Ends the connection: the peer gets a GOAWAY with this code. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, state: string) {
    super(`Cannot continue connection: ${state}`);
    this.code = code;
  }
}

/** Ends one stream: the peer gets a RST_STREAM with this code. */
export class StreamError extends Error {
  override readonly name = "StreamError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, state: string) {
    super(`Cannot continue stream: ${state}`);
    this.code = code;
  }
}
