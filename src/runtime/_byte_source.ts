/**
 * ByteSource: what a socket receives, pulled by one reader instead of pushed by events.
 *
 * Guarantees: bytes come once and in order; a peer that sends while nobody reads is paused after 64 KiB; the end of the
 * connection is noticed also while nobody reads.
 */
import type { Socket } from "node:net";

/** Bytes kept for a reader that is busy before the socket is paused. */
const readAheadBytes = 64 * 1024;
const empty = new Uint8Array(0);

/** Reads one socket. */
export class ByteSource {
  /** Received and not yet consumed. */
  bytes: Uint8Array = empty;
  readonly #socket: Socket;
  readonly #gone: () => void;
  #hasEnded = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  /** @param gone called once, when the peer has closed or the connection is broken */
  constructor(socket: Socket, gone: () => void) {
    this.#socket = socket;
    this.#gone = gone;
    socket.on("data", (chunk: Uint8Array) => this.#receive(chunk));
    socket.on("end", () => this.#end());
    socket.on("close", () => this.#end());
    socket.on("error", () => this.#end());
  }

  /** The connection has ended; what `bytes` holds is the rest. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Marks the first `count` bytes as read. */
  consume(count: number): void {
    this.bytes = count === this.bytes.length ? empty : this.bytes.subarray(count);
  }

  /** Waits until there are more bytes than now; false when none will come. @throws what {@link fail} was given */
  async more(): Promise<boolean> {
    const had = this.bytes.length;
    while (this.bytes.length === had) {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#hasEnded) return false;
      if (this.#socket.isPaused()) this.#socket.resume();
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    return true;
  }

  /** Makes the reader stop waiting with this error. */
  fail(error: Error): void {
    this.#failure = error;
    this.#notify();
  }

  #receive(chunk: Uint8Array): void {
    this.bytes = this.bytes.length === 0 ? chunk : joined(this.bytes, chunk);
    if (this.#wake === undefined && this.bytes.length > readAheadBytes) this.#socket.pause();
    this.#notify();
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#notify();
    this.#gone();
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}

/** One array of both. */
export function joined(left: Uint8Array, right: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(left.length + right.length);
  both.set(left);
  both.set(right, left.length);
  return both;
}
