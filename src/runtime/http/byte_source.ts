/**
 * What the connections of the server read: ByteSource gives the received bytes to one reader, ByteCollector keeps those of
 * one body together.
 */
import type { Socket } from "node:net";
import { joined } from "./bytes.ts";

/** What a connection does when its client sends no more. */
export interface ByteSourceEvents {
  /** The client has closed its half: it may still read. */
  onHalfClose(): void;
  /** The connection is closed or broken. */
  onClose(): void;
}

/** Bytes in one array that grows by doubling, so that memory follows the received bytes, not the announced length. */
export class ByteCollector {
  readonly #maxBytes: number;
  #sizeBytes = 0;
  // Each collector has its own: a shared one would be empty for all after the first release.
  #bytes = new Uint8Array(0);

  /** @param maxBytes The most bytes that will be added. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(part: Uint8Array): void {
    const neededBytes = this.#sizeBytes + part.length;
    if (neededBytes > this.#bytes.length) {
      const grownBytes = Math.min(this.#maxBytes, Math.max(neededBytes, this.#bytes.length * 2, 4096));
      // The old memory is free at once, and not after a garbage collection.
      this.#bytes = new Uint8Array(this.#bytes.buffer.transfer(grownBytes));
    }
    this.#bytes.set(part, this.#sizeBytes);
    this.#sizeBytes = neededBytes;
  }

  /** The bytes, until {@link release}. */
  bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#sizeBytes);
  }

  /** Frees the memory at once. */
  release(): void {
    this.#bytes.buffer.transfer(0);
    this.#bytes = new Uint8Array(0);
    this.#sizeBytes = 0;
  }
}

/** Bytes read ahead before the socket is paused. */
const readAheadBytes = 64 * 1024;
/** Less is left to the garbage collector. */
const minFreedBytes = 4096;
const empty = new Uint8Array(0);

/**
 * ByteSource: the bytes that a socket receives, for one reader that takes them when it is ready.
 *
 * Guarantees: bytes come once and in order; a client that sends while the reader is busy is paused after 64 KiB; the end
 * of the connection is noticed also while the reader is busy.
 */
export class ByteSource {
  /** Received and not consumed yet. */
  bytes: Uint8Array<ArrayBuffer> = empty;
  readonly #socket: Socket;
  readonly #events: ByteSourceEvents;
  #hasEnded = false;
  #isClosed = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(socket: Socket, events: ByteSourceEvents) {
    this.#socket = socket;
    this.#events = events;
    socket.on("data", (chunk: Uint8Array<ArrayBuffer>) => this.#receive(chunk));
    socket.on("end", () => this.#end(() => this.#events.onHalfClose()));
    socket.on("close", () => this.#close());
    socket.on("error", () => this.#close());
  }

  /** True if no more bytes will come after those in `bytes`. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Removes the first `count` bytes. The caller keeps no view of them. */
  consume(count: number): void {
    if (count < this.bytes.length) {
      this.bytes = this.bytes.subarray(count);
      return;
    }
    // Bodies of 6 MB leave that much garbage otherwise. Bytes that have their memory for themselves are freed at once; those
    // of a pool, and the empty ones that all sources share, are not.
    const { buffer, byteLength } = this.bytes;
    this.bytes = empty;
    if (byteLength >= minFreedBytes && byteLength === buffer.byteLength) buffer.transfer(0);
  }

  /** Waits for more bytes; false if none will come. @throws the error given to {@link fail} */
  async more(): Promise<boolean> {
    const length = this.bytes.length;
    while (this.bytes.length === length) {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#hasEnded) return false;
      if (this.#socket.isPaused()) this.#socket.resume();
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    return true;
  }

  /** Ends the wait of the reader with this error. */
  fail(error: Error): void {
    this.#failure = error;
    this.#notify();
  }

  #receive(chunk: Uint8Array<ArrayBuffer>): void {
    this.bytes = this.bytes.length === 0 ? chunk : joined(this.bytes, chunk);
    if (this.#wake === undefined && this.bytes.length > readAheadBytes) this.#socket.pause();
    this.#notify();
  }

  #end(report: () => void): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#notify();
    report();
  }

  #close(): void {
    this.#end(() => {});
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#events.onClose();
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}
