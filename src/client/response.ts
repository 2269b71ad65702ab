/**
 * Reading responses: whole bodies with limits on bytes and on waiting, and the Retry-After header.
 *
 * Guarantees: at most `maxBytes` of a body are read, whatever content-length says; a body that is shorter than its
 * content-length, or that stalls, is an error; the stream is cancelled unless it was read to its end (behaviours 81, 90).
 */
import { InvalidResponseError } from "../api/mod.ts";
import { type Clock, onAbort } from "../async/mod.ts";
import { knownTextOf, releaseBytes } from "../runtime/mod.ts";
import { unreachable, UnreachableError } from "./unreachable_error.ts";

/** Options of {@link readBody}. */
export interface ReadBodyOptions {
  /** Infinitive for messages: what the request should do. */
  readonly action: string;
  readonly maxBytes: number;
  /** Milliseconds without a byte after which the body counts as lost. */
  readonly stallMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** What to do with a body above `maxBytes`. */
  readonly whenLarger: "throw" | "cut";
}

/** Bytes of a UTF-16 code unit in UTF-8, at most. */
const maxBytesPerUnit = 3;

/**
 * Reads the body as UTF-8.
 *
 * @throws UnreachableError when it breaks off, InvalidResponseError when it is too large, the reason of the signal.
 */
export async function readBody(response: Response, options: ReadBodyOptions): Promise<string> {
  const known = knownTextOf(response);
  if (known !== undefined && known.length * maxBytesPerUnit <= options.maxBytes) {
    options.signal.throwIfAborted();
    return known;
  }
  const decoder = new TextDecoder();
  const parts: string[] = [];
  await readChunks(response, options, (chunk) => void parts.push(decoder.decode(chunk, { stream: true })));
  parts.push(decoder.decode());
  return parts.length <= 2 ? (parts[0] ?? "") + (parts[1] ?? "") : parts.join("");
}

/**
 * Reads the body in chunks.
 *
 * @param take Gets each chunk, and keeps none. The body is cancelled when it throws.
 * @throws UnreachableError when it breaks off, InvalidResponseError when it is too large, the reason of the signal, an
 * InvalidResponseError of `take`.
 */
export async function readChunks(
  response: Response,
  options: ReadBodyOptions,
  take: (chunk: Uint8Array) => void,
): Promise<void> {
  const { action, maxBytes, whenLarger, signal } = options;
  if (response.body === null) return;
  const announcedBytes = contentLength(response);
  if (announcedBytes > maxBytes && whenLarger === "throw") {
    discard(response);
    throw tooLarge(action, maxBytes);
  }
  const reader = response.body.getReader();
  using watchdog = new StallWatchdog(reader, options);
  // The transport may never end the stream.
  using _aborting = onAbort(signal, () => void reader.cancel(signal.reason).catch(() => {}));
  try {
    const sizeBytes = await collect(reader, watchdog, { ...options, take });
    signal.throwIfAborted(); // A cancelled read looks like the end of the body.
    if (sizeBytes < announcedBytes && sizeBytes < maxBytes) {
      throw new UnreachableError({
        action,
        reason: { kind: "unreachable", detail: "reset" },
        state: `the response broke off after ${sizeBytes} of ${announcedBytes} bytes`,
      });
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    if (signal.aborted) throw signal.reason;
    if (watchdog.hasStalled) throw new UnreachableError({ action, reason: { kind: "timeout", detail: "stalled" } });
    throw error instanceof InvalidResponseError ? error : unreachable(error, action);
  }
}

/**
 * Cancels a body that is not needed, so that its connection becomes free. Nothing waits for that: a transport may have
 * cloned the response, and then the stream ends only when the other one does.
 */
export function discard(response: Response): void {
  response.body?.cancel().catch(() => {}); // The stream may be broken already.
}

async function collect(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  watchdog: StallWatchdog,
  options: ReadBodyOptions & { readonly take: (chunk: Uint8Array) => void },
): Promise<number> {
  const { action, maxBytes, whenLarger, take } = options;
  let sizeBytes = 0;
  while (true) {
    const { done, value } = await reader.read();
    if (done) {
      if (watchdog.hasStalled) throw new Error("stalled"); // Bun ends a cancelled read instead of failing it.
      break;
    }
    watchdog.touch();
    sizeBytes += value.length;
    if (sizeBytes <= maxBytes) {
      take(value);
      releaseBytes(value);
    } else if (whenLarger === "throw") throw tooLarge(action, maxBytes);
    else {
      take(value.subarray(0, value.length - (sizeBytes - maxBytes)));
      sizeBytes = maxBytes;
      reader.cancel().catch(() => {});
      break;
    }
  }
  return sizeBytes;
}

/** Cancels a reader that got no bytes for a while. It needs one timer per `stallMs`, none per chunk. */
class StallWatchdog implements Disposable {
  hasStalled = false;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #clock: Clock;
  readonly #stallMs: number;
  #touchedAt: number;
  #timer: Disposable;

  constructor(reader: ReadableStreamDefaultReader<Uint8Array>, options: Pick<ReadBodyOptions, "clock" | "stallMs">) {
    this.#reader = reader;
    this.#clock = options.clock;
    this.#stallMs = options.stallMs;
    this.#touchedAt = this.#clock.monotonic();
    this.#timer = this.#clock.timer(this.#stallMs, () => this.#check());
  }

  /** Call it for each chunk. */
  touch(): void {
    this.#touchedAt = this.#clock.monotonic();
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }

  #check(): void {
    const leftMs = this.#touchedAt + this.#stallMs - this.#clock.monotonic();
    if (leftMs > 0) {
      this.#timer = this.#clock.timer(leftMs, () => this.#check());
      return;
    }
    this.hasStalled = true;
    this.#reader.cancel().catch(() => {});
  }
}

/** The content-length of a response, 0 if it has none. */
function contentLength(response: Response): number {
  const text = response.headers.get("content-length");
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : 0;
}

function tooLarge(action: string, maxBytes: number): InvalidResponseError {
  return new InvalidResponseError(`Cannot ${action}: the response is larger than ${maxBytes} bytes`);
}

/** Longest wait for a Retry-After header, in milliseconds: a server that asks for a year is wrong or hostile (security 21). */
const maxRetryAfterMs = 5 * 60_000;

/**
 * The delay of the Retry-After header in milliseconds (behaviour 74). Undefined if it is missing or not a number of
 * seconds; API servers send no other form.
 */
export function retryAfterMs(headers: Headers): number | undefined {
  const text = headers.get("retry-after")?.trim() ?? "";
  return /^\d{1,20}$/.test(text) ? Math.min(Number(text) * 1000, maxRetryAfterMs) : undefined;
}
