/** MemorySocket: the socket of a fuzzed server connection, whose client sends an input in pieces and then closes its side. */
import { Buffer } from "node:buffer";
import { Duplex } from "node:stream";

/** Options of a {@link MemorySocket}. */
export interface MemorySocketOptions {
  /** The server can answer in the turn between two pieces. @default false: it reads all pieces in one turn */
  readonly givesTurns?: boolean;
}

/** A socket in memory. */
export class MemorySocket extends Duplex {
  /** What the server wrote. */
  readonly written: Buffer[] = [];
  readonly #pieces: Uint8Array[];
  readonly #givesTurns: boolean;

  constructor(pieces: readonly Uint8Array[], { givesTurns = false }: MemorySocketOptions = {}) {
    super({ allowHalfOpen: true });
    this.#pieces = [...pieces];
    this.#givesTurns = givesTurns;
  }

  override _read(): void {
    const piece = this.#pieces.shift();
    const chunk = piece === undefined ? null : Buffer.from(piece);
    if (this.#givesTurns) setImmediate(() => this.push(chunk));
    else this.push(chunk);
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.written.push(Buffer.from(chunk));
    done();
  }
}
