/**
 * SourceWire: the Wire of a connection of the server that has switched protocols, over the same ByteSource and ByteSink as
 * its HTTP requests. So the limits for a slow reader and the slow end of a connection hold for it too.
 */
import type { ByteSource } from "./byte_source.ts";
import type { ByteSink } from "./response_writer.ts";
import type { Wire } from "./wire.ts";

/** A connection in another protocol than HTTP. */
export class SourceWire implements Wire {
  onBytes: (bytes: Uint8Array) => void = () => {};
  onEnd: (error: Error | undefined) => void = () => {};
  readonly #source: ByteSource;
  readonly #sink: ByteSink;
  /** Writes go out one after the other, also those that nobody waits for. */
  #written: Promise<void> = Promise.resolve();
  #isPaused = false;
  #hasEnded = false;
  #wake: () => void = () => {};
  readonly #ended = Promise.withResolvers<void>();

  constructor(source: ByteSource, sink: ByteSink) {
    this.#source = source;
    this.#sink = sink;
  }

  /** Passes on what comes until either side ends. Set {@link Wire.onBytes} before the next turn. Never rejects. */
  async run(): Promise<void> {
    let error: Error | undefined;
    const ended = this.#ended.promise.then(() => false);
    try {
      while (!this.#hasEnded) {
        if (this.#isPaused) await new Promise<void>((resolve) => this.#wake = resolve);
        else if (this.#source.bytes.length > 0) this.#pass();
        else if (!await Promise.race([this.#source.more(), ended])) break;
      }
    } catch (reason) {
      error = reason instanceof Error ? reason : new Error(String(reason));
    }
    if (!this.#hasEnded) {
      this.#hasEnded = true;
      this.onEnd(error);
    }
    await this.#written;
  }

  write(bytes: Uint8Array): Promise<void> {
    if (this.#hasEnded) return Promise.resolve();
    return this.#written = this.#written.then(async () => void await this.#sink.write(bytes)).catch(() => {});
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#wake();
  }

  /** Ends it when what was written has left. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#wake();
    this.#ended.resolve();
    this.onEnd(undefined);
  }

  #pass(): void {
    // The reader may keep the bytes, and the source frees its own. The slice of a Buffer would share them.
    const bytes = new Uint8Array(this.#source.bytes);
    this.#source.consume(bytes.length);
    this.onBytes(bytes);
  }
}
