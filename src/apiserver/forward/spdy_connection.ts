/**
 * SpdyConnection: the server's side of SPDY/3.1 over a channel of bytes, a WebSocket or the connection itself. The client opens
 * streams; each is read and written independently, and each direction ends by itself.
 *
 * Guarantees: a stream that is read slowly slows the client; the end of the channel ends all streams; a frame that breaks the
 * rules ends the connection.
 * Caveats: a client that waits for a slow stream waits with all of its streams, because no windows are used.
 */
import { UnreadBytes } from "../sockets/mod.ts";
import {
  controlFrame,
  dataFrame,
  finFlag,
  FrameCutter,
  frameType,
  HeaderReader,
  HeaderWriter,
  resetStatus,
  SpdyError,
  type SpdyFrame,
  wordAt,
  wordsOf,
} from "./spdy_frames.ts";

export { SpdyError };

/** Bytes in both directions. */
export interface ByteChannel {
  /** The next bytes; undefined at the end. */
  receive(): Promise<Uint8Array | undefined>;
  /** Resolves when the bytes have left. */
  send(bytes: Uint8Array): Promise<void>;
  /** Resolves when the channel has ended, also while bytes are unread. */
  readonly ended: Promise<void>;
}

/** Options of a {@link SpdyConnection}. */
export interface SpdyConnectionOptions {
  /** Called with each stream that the client opens. @returns false to refuse it */
  onStream(stream: SpdyStream): boolean;
}

/** Unread bytes of a stream above which nothing more is received. */
const maxUnreadBytes = 256 * 1024;
/** Streams that are open at once; `kubectl port-forward` has two for each connection. */
const maxStreams = 1024;
const maxDataBytes = 32 * 1024;

/** One connection of a client. */
export class SpdyConnection {
  readonly #channel: ByteChannel;
  readonly #options: SpdyConnectionOptions;
  readonly #cutter = new FrameCutter();
  readonly #headers = new HeaderReader();
  readonly #writer = new HeaderWriter();
  readonly #streams = new Map<number, SpdyStream>();

  constructor(channel: ByteChannel, options: SpdyConnectionOptions) {
    this.#channel = channel;
    this.#options = options;
  }

  /** Receives until the channel ends. @throws the error of the channel, SpdyError */
  async run(): Promise<void> {
    this.#channel.ended.then(() => this.#lift());
    try {
      for (let chunk = await this.#channel.receive(); chunk !== undefined; chunk = await this.#channel.receive()) {
        for (const frame of this.#cutter.push(chunk)) await this.#take(frame);
      }
    } finally {
      for (const stream of this.#streams.values()) stream.abort();
      this.#streams.clear();
    }
  }

  /** What the client had sent before it left is bounded by itself, and nothing waits for a client that is gone. */
  #lift(): void {
    for (const stream of this.#streams.values()) stream.lift();
  }

  async #take(frame: SpdyFrame): Promise<void> {
    const { type, flags, payload } = frame;
    switch (type) {
      case undefined:
        return await this.#takeData(frame);
      case frameType.synStream:
        return await this.#open(payload, (flags & finFlag) !== 0);
      case frameType.headers:
        // They say nothing here, but the next ones are compressed with them.
        return void this.#headers.read(payload.subarray(4));
      case frameType.rstStream:
        return this.#end(wordAt(payload, 0));
      case frameType.ping:
        // Clients have odd numbers; an even one would answer a ping of the server, which sends none.
        if (wordAt(payload, 0) % 2 === 1) await this.#channel.send(controlFrame(frameType.ping, payload));
        return;
      default:
        // SETTINGS, WINDOW_UPDATE and GOAWAY change nothing; the client ends the channel after the last one.
        return;
    }
  }

  async #open(payload: Uint8Array, hasEnded: boolean): Promise<void> {
    const id = wordAt(payload, 0) & 0x7fffffff;
    const headers = this.#headers.read(payload.subarray(synStreamBytes));
    if (id % 2 === 0 || this.#streams.has(id)) throw new SpdyError(`a client cannot open the stream ${id}`);
    const stream = new SpdyStream(id, headers, {
      send: (frame) => this.#channel.send(frame),
      onEnd: () => this.#forget(id),
    });
    if (hasEnded) stream.receiveEnd();
    if (this.#streams.size >= maxStreams || !this.#options.onStream(stream)) {
      return await this.#channel.send(controlFrame(frameType.rstStream, wordsOf(id, resetStatus.refusedStream)));
    }
    this.#streams.set(id, stream);
    const reply = this.#writer.write();
    await this.#channel.send(controlFrame(frameType.synReply, joined(wordsOf(id), reply)));
    stream.accept();
  }

  async #takeData({ streamId, flags, payload }: SpdyFrame): Promise<void> {
    const stream = this.#streams.get(streamId);
    if (stream === undefined) return;
    if (payload.length > 0) await stream.receive(payload);
    if ((flags & finFlag) !== 0) stream.receiveEnd();
  }

  #end(id: number): void {
    this.#streams.get(id)?.abort();
    this.#forget(id);
  }

  #forget(id: number): void {
    this.#streams.delete(id);
  }
}

/** Of SYN_STREAM before its headers: two streams, priority and slot. */
const synStreamBytes = 10;

/** One stream. */
export class SpdyStream {
  readonly id: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly #send: (frame: Uint8Array) => Promise<void>;
  readonly #onEnd: () => void;
  readonly #accepted = Promise.withResolvers<void>();
  readonly #unread = new UnreadBytes(maxUnreadBytes);
  #hasPeerEnded = false;
  #hasFinished = false;
  #isAborted = false;

  constructor(
    id: number,
    headers: ReadonlyMap<string, string>,
    connection: { send(frame: Uint8Array): Promise<void>; onEnd(): void },
  ) {
    this.id = id;
    this.headers = headers;
    this.#send = connection.send;
    this.#onEnd = connection.onEnd;
  }

  /** True when the stream ended before both sides had ended it: nothing more reaches the client. */
  get isAborted(): boolean {
    return this.#isAborted;
  }

  /** The next bytes of the client; undefined when it sends no more. One caller at a time. */
  async read(): Promise<Uint8Array | undefined> {
    return await this.#unread.read();
  }

  /** Resolves when the bytes have left. After the end of the stream they are dropped. */
  async write(bytes: Uint8Array): Promise<void> {
    await this.#accepted.promise;
    for (let at = 0; at < bytes.length && !this.#isAborted && !this.#hasFinished; at += maxDataBytes) {
      await this.#send(dataFrame(this.id, bytes.subarray(at, at + maxDataBytes), false));
    }
  }

  /** Says that no more is sent. */
  async finish(): Promise<void> {
    await this.#accepted.promise;
    if (this.#hasFinished || this.#isAborted) return;
    this.#hasFinished = true;
    await this.#send(dataFrame(this.id, new Uint8Array(0), true));
    if (this.#hasPeerEnded) this.#onEnd();
  }

  /** Ends both directions at once. */
  async reset(): Promise<void> {
    await this.#accepted.promise;
    if (this.#isAborted || (this.#hasFinished && this.#hasPeerEnded)) return;
    this.abort();
    this.#onEnd();
    await this.#send(controlFrame(frameType.rstStream, wordsOf(this.id, resetStatus.cancel)));
  }

  /** The client knows that the stream is open. */
  accept(): void {
    this.#accepted.resolve();
  }

  /** Takes bytes of the client, and waits while too many are unread. */
  async receive(bytes: Uint8Array): Promise<void> {
    if (!this.#unread.hasEnded) await this.#unread.push(bytes);
  }

  /** The client sends no more. */
  receiveEnd(): void {
    this.#hasPeerEnded = true;
    this.#unread.end();
    if (this.#hasFinished) this.#onEnd();
  }

  /** Waits no more for a reader. */
  lift(): void {
    this.#unread.lift();
  }

  /** The stream, or its connection, has ended. What has arrived can still be read. */
  abort(): void {
    this.#isAborted = true;
    this.#accepted.resolve();
    this.#unread.end();
    this.#unread.lift();
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}
