/**
 * Reads whole bodies, bounded in bytes and in silence.
 *
 * Guarantees: never more than `maxBytes` in memory, whatever content-length says; a body that is shorter than it said, or
 * that stops coming, is an error; the stream is cancelled on every path on which it was not read to its end
 * (behaviours.md 81, 90).
 */
import type { Clock } from "../async/mod.ts";
import { releaseBytes } from "../runtime/mod.ts";
import { unreachable, UnreachableError } from "./unreachable_error.ts";

/** Options of {@link readBody}. */
export interface ReadBodyOptions {
  /** Infinitive for messages: what the body is the answer to. */
  readonly action: string;
  readonly maxBytes: number;
  /** Milliseconds without a byte after which the body counts as lost. */
  readonly stallMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** What to do with a body beyond `maxBytes`. */
  readonly whenLarger: "throw" | "cut";
}

/** Reads the body as UTF-8. @throws UnreachableError when it breaks off, RangeError when it is too large, the signal's reason. */
export async function readBody(response: Response, options: ReadBodyOptions): Promise<string> {
  const { action, maxBytes, whenLarger, signal } = options;
  if (response.body === null) return "";
  const announced = announcedBytes(response);
  if (announced > maxBytes && whenLarger === "throw") {
    await response.body.cancel();
    throw tooLarge(action, maxBytes);
  }
  const reader = response.body.getReader();
  using watchdog = new StallWatchdog(reader, options);
  try {
    const { text, sizeBytes } = await collect(reader, watchdog, options);
    if (sizeBytes < announced && sizeBytes < maxBytes) {
      throw new UnreachableError({
        action,
        reason: { kind: "unreachable", detail: "reset" },
        state: `the answer broke off after ${sizeBytes} of ${announced} bytes`,
      });
    }
    return text;
  } catch (error) {
    reader.cancel().catch(() => {});
    if (signal.aborted) throw signal.reason;
    if (watchdog.hasStalled) throw new UnreachableError({ action, reason: { kind: "timeout", detail: "stalled" } });
    throw error instanceof RangeError ? error : unreachable(error, action);
  }
}

/** Lets go of a body nobody wants, so that its connection is free. */
export async function discard(response: Response): Promise<void> {
  try {
    await response.body?.cancel();
  } catch {
    // It broke by itself, which is as good.
  }
}

async function collect(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  watchdog: StallWatchdog,
  options: ReadBodyOptions,
): Promise<{ text: string; sizeBytes: number }> {
  const { action, maxBytes, whenLarger } = options;
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let sizeBytes = 0;
  while (true) {
    const { done, value } = await reader.read();
    if (done) {
      if (watchdog.hasStalled) throw new Error("stalled"); // Bun ends a cancelled read instead of failing it
      break;
    }
    watchdog.touch();
    sizeBytes += value.length;
    if (sizeBytes <= maxBytes) {
      parts.push(decoder.decode(value, { stream: true }));
      releaseBytes(value);
    } else if (whenLarger === "throw") throw tooLarge(action, maxBytes);
    else {
      parts.push(decoder.decode(value.subarray(0, value.length - (sizeBytes - maxBytes)), { stream: true }));
      sizeBytes = maxBytes;
      await reader.cancel();
      break;
    }
  }
  parts.push(decoder.decode());
  return { text: parts.length <= 2 ? (parts[0] ?? "") + (parts[1] ?? "") : parts.join(""), sizeBytes };
}

/** Cancels a reader that got nothing for a while. One timer per `stallMs`, none per chunk. */
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

/** What content-length promises, 0 when it promises nothing. */
function announcedBytes(response: Response): number {
  const text = response.headers.get("content-length");
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : 0;
}

function tooLarge(action: string, maxBytes: number): RangeError {
  return new RangeError(`Cannot ${action}: the answer is larger than ${maxBytes} bytes`);
}
