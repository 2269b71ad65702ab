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

/** Bytes in one array that grows by a half, so that memory follows the received bytes, not the announced length. */
export class ByteCollector {
  readonly #maxBytes: number;
  #sizeBytes = 0;
  // Each collector has its own: a shared one would be empty for all after the first release.
  #bytes = new Uint8Array(0);

  /** @param maxBytes The most bytes that will be added. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The bytes of memory that {@link add} takes for a part of this length. */
  growthBytes(partBytes: number): number {
    const neededBytes = this.#sizeBytes + partBytes, { length } = this.#bytes;
    if (neededBytes <= length) return 0;
    return Math.min(this.#maxBytes, Math.max(neededBytes, Math.ceil(length * 1.5), 4096)) - length;
  }

  add(part: Uint8Array): void {
    const growthBytes = this.growthBytes(part.length);
    // The old memory is free at once, and not after a garbage collection.
    if (growthBytes > 0) this.#bytes = new Uint8Array(this.#bytes.buffer.transfer(this.#bytes.length + growthBytes));
    this.#bytes.set(part, this.#sizeBytes);
    this.#sizeBytes += part.length;
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
  /** The bytes that are still read; undefined while all are. */
  #discardBytes: number | undefined;
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
    const { bytes } = this;
    this.bytes = empty;
    free(bytes);
  }

  /** Reads on until the connection ends or so many bytes came, and keeps none: for a client whose bytes nobody needs. */
  discard(maxBytes: number): void {
    this.consume(this.bytes.length);
    this.#discardBytes = maxBytes;
    if (this.#socket.isPaused()) this.#socket.resume();
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
    if (this.#discardBytes !== undefined) return this.#discard(chunk);
    this.bytes = this.bytes.length === 0 ? chunk : joined(this.bytes, chunk);
    if (this.#wake === undefined && this.bytes.length > readAheadBytes) this.#socket.pause();
    this.#notify();
  }

  #discard(chunk: Uint8Array<ArrayBuffer>): void {
    this.#discardBytes = (this.#discardBytes ?? 0) - chunk.length;
    free(chunk);
    if (this.#discardBytes < 0) this.#socket.pause();
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

/**
 * Frees the memory of received bytes: bodies of 6 MB leave that much garbage otherwise. Only bytes that have their memory for
 * themselves are freed; those of a pool, and the empty ones that all sources share, are not.
 */
function free({ buffer, byteLength }: Uint8Array<ArrayBuffer>): void {
  if (byteLength >= minFreedBytes && byteLength === buffer.byteLength) buffer.transfer(0);
}
