/**
 * Http2Writer: what all streams of a connection write, as one sequence of bytes, and the window of the connection.
 *
 * Guarantees: frames that are written in one turn of the event loop leave together, so an event that 100 watches get is one
 * TLS record, not 100; at most 64 KiB wait in the process beside those of the socket; streams that wait are woken in their
 * order; a client that reads nothing, or that grants no window, for the time limit is reported once.
 */
import type { Socket } from "node:net";
import { setImmediate } from "node:timers";
import { defaultWindowBytes, maxWindowBytes, minMaxFrameBytes } from "./h2/mod.ts";
import type { Timers } from "./timers.ts";

/** Options of an {@link Http2Writer}. */
export interface Http2WriterOptions {
  readonly timers: Timers;
  /** Milliseconds in which a client must take 64 KiB. */
  readonly writeTimeoutMs: number;
  /** Called when it has not. */
  onStuck(): void;
}

/** Bytes that wait for the end of the turn. */
const maxQueuedBytes = 64 * 1024;
/** The progress that the time limit is for. */
const progressBytes = 64 * 1024;

/** The sending half of one connection. */
export class Http2Writer {
  /** The limit of the peer. */
  maxFrameBytes = minMaxFrameBytes;
  /** True until the peer knows that its table of fields is not used. */
  tellsTableSize = false;
  readonly #socket: Socket;
  readonly #options: Http2WriterOptions;
  readonly #waiting = new Set<() => void>();
  #windowBytes = defaultWindowBytes;
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #isScheduled = false;
  #isBlocked = false;
  #sentBytes = 0;
  #blockedLimit: Disposable | undefined;
  #windowLimit: Disposable | undefined;
  #isClosed = false;

  constructor(socket: Socket, options: Http2WriterOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.on("drain", () => this.#onDrain());
  }

  /** True while the client reads more slowly than the server writes. Responses wait then. */
  get isBlocked(): boolean {
    return this.#isBlocked;
  }

  /** Bytes of bodies that may be written now. */
  get roomBytes(): number {
    return this.#isBlocked ? 0 : this.#windowBytes;
  }

  /** Writes frames. They leave at the end of the turn, or when they are many. */
  write(frames: Uint8Array): void {
    if (this.#isClosed) return;
    this.#queue.push(frames);
    this.#queuedBytes += frames.length;
    if (this.#queuedBytes >= maxQueuedBytes) return this.flush();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.flush();
    });
  }

  /** Counts bytes of bodies against the window. */
  spend(bytes: number): void {
    this.#windowBytes -= bytes;
    this.#sentBytes += bytes;
  }

  /** The peer has read so many bytes. @returns false when the window is too large then */
  grant(bytes: number): boolean {
    const isStalled = this.#windowBytes <= 0;
    this.#windowBytes += bytes;
    if (this.#windowBytes > maxWindowBytes) return false;
    // Clients of Go send an update for each 4 KiB.
    if (isStalled) this.wakeAll();
    return true;
  }

  /** Waits until there may be room; also for the window of a stream, whose owner calls {@link wakeAll}. */
  wait(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    if (this.#windowBytes <= 0) this.#windowLimit ??= this.#limitProgress();
    return new Promise((resolve) => void this.#waiting.add(resolve));
  }

  /** Wakes the streams that wait. */
  wakeAll(): void {
    const woken = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of woken) wake();
  }

  /** Gives what was written to the socket. */
  flush(): void {
    const [first, ...rest] = this.#queue;
    if (first === undefined || this.#isClosed) return;
    const bytes = rest.length === 0 ? first : concatenated(this.#queue, this.#queuedBytes);
    this.#queue = [];
    this.#queuedBytes = 0;
    if (this.#socket.destroyed || !this.#socket.writable) return;
    if (this.#socket.write(bytes)) return;
    this.#isBlocked = true;
    const { timers, writeTimeoutMs, onStuck } = this.#options;
    this.#blockedLimit ??= timers.timer(writeTimeoutMs, onStuck);
  }

  /** Writes nothing more, and wakes all. */
  close(): void {
    this.flush();
    this.#isClosed = true;
    this.#blockedLimit?.[Symbol.dispose]();
    this.#windowLimit?.[Symbol.dispose]();
    this.wakeAll();
  }

  #onDrain(): void {
    this.#isBlocked = false;
    this.#blockedLimit?.[Symbol.dispose]();
    this.#blockedLimit = undefined;
    if (this.#queuedBytes > 0) this.flush();
    if (!this.#isBlocked) this.wakeAll();
  }

  /** The time limit of a window that is used up. */
  #limitProgress(): Disposable {
    const { timers, writeTimeoutMs, onStuck } = this.#options;
    const before = this.#sentBytes;
    return timers.timer(writeTimeoutMs, () => {
      this.#windowLimit = undefined;
      if (this.#windowBytes > 0 || this.#isClosed) return;
      if (this.#sentBytes - before < progressBytes) onStuck();
      else if (this.#waiting.size > 0) this.#windowLimit = this.#limitProgress();
    });
  }
}

function concatenated(parts: readonly Uint8Array[], sizeBytes: number): Uint8Array {
  const bytes = new Uint8Array(sizeBytes);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
