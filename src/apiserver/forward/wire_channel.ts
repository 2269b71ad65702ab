/** WireChannel: the bytes of a connection that speaks SPDY without a WebSocket. A slow reader pauses the connection. */
import type { Wire } from "../../runtime/mod.ts";
import type { ByteChannel } from "./spdy_connection.ts";

/** A connection as a channel. */
export class WireChannel implements ByteChannel {
  readonly ended: Promise<void>;
  readonly #wire: Wire;
  readonly #chunks: Uint8Array[] = [];
  #hasEnded = false;
  #wake: () => void = () => {};

  constructor(wire: Wire) {
    this.#wire = wire;
    wire.onBytes = (bytes) => {
      this.#chunks.push(bytes);
      wire.pause();
      this.#wake();
    };
    this.ended = new Promise((resolve) => {
      wire.onEnd = () => {
        this.#hasEnded = true;
        this.#wake();
        resolve();
      };
    });
  }

  async receive(): Promise<Uint8Array | undefined> {
    while (true) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) return chunk;
      if (this.#hasEnded) return undefined;
      this.#wire.resume();
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }

  send(bytes: Uint8Array): Promise<void> {
    return this.#wire.write(bytes);
  }
}
