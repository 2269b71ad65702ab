/**
 * ReadPacer: makes a busy stream arrive in larger pieces. A server that writes faster than this process reads sends
 * 50,000 objects in 11,000 TLS records, and reading them one by one costs more than parsing them. While reads follow
 * each other without a gap, the socket is paused for 10 ms after each, so that the system collects bytes (measured: 300
 * reads instead of 11,000, and half of the CPU of an initial list).
 *
 * Guarantees: a stream with few events is read at once. A socket is also paused while its reader is behind.
 */
import { systemTimers, type Timers } from "./timers.ts";

/** A socket that can be paused. */
export interface Pausable {
  pause(): void;
  resume(): void;
}

/** The clock of a pacer. */
export interface PacerClock extends Timers {
  /** Monotonic milliseconds. */
  now(): number;
}

/** Length of a pause after a read of a busy stream, in milliseconds. */
const pauseMs = 10;
/** Less than this between the moment when we could read and the read is no gap. Milliseconds. */
const gapMs = 1;
/** After so many reads without a gap a stream is busy. */
const busyReads = 8;

const systemPacerClock: PacerClock = { now: () => performance.now(), timer: systemTimers.timer };

/** Options of a {@link ReadPacer}. */
export interface ReadPacerOptions {
  /** False for a short response: its socket is paused only while its reader is behind. */
  readonly isPaced: boolean;
  /** @default the clock of the system */
  readonly clock?: PacerClock;
}

/** Paces the reads of one stream. */
export class ReadPacer implements Disposable {
  readonly #socket: Pausable;
  readonly #isPaced: boolean;
  readonly #clock: PacerClock;
  #isReaderBehind = false;
  #pause: Disposable | undefined;
  #readableAt = 0;
  #reads = 0;

  constructor(socket: Pausable, options: ReadPacerOptions) {
    this.#socket = socket;
    this.#isPaced = options.isPaced;
    this.#clock = options.clock ?? systemPacerClock;
  }

  /** Call it after each read. `isReaderBehind`: the reader has no room for more. */
  onRead(isReaderBehind: boolean): void {
    this.#isReaderBehind = isReaderBehind;
    const isBusy = this.#isPaced && this.#isBusy();
    if (isBusy || isReaderBehind) this.#socket.pause();
    if (isBusy) this.#pause ??= this.#clock.timer(pauseMs, () => this.#endPause());
  }

  /** Call it when the reader has room again. */
  onRoom(): void {
    if (!this.#isReaderBehind) return;
    this.#isReaderBehind = false;
    this.#resume();
  }

  [Symbol.dispose](): void {
    this.#pause?.[Symbol.dispose]();
    this.#pause = undefined;
    this.#isReaderBehind = false;
    this.#socket.resume();
  }

  #isBusy(): boolean {
    const now = this.#clock.now();
    this.#reads = now - this.#readableAt < gapMs ? this.#reads + 1 : 0;
    this.#readableAt = now;
    return this.#reads >= busyReads;
  }

  #endPause(): void {
    this.#pause = undefined;
    this.#resume();
  }

  #resume(): void {
    if (this.#isReaderBehind || this.#pause !== undefined) return;
    this.#readableAt = this.#clock.now();
    this.#socket.resume();
  }
}
