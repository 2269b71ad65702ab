/**
 * ChannelStreams: `port-forward` by the protocol v4.channel.k8s.io. A WebSocket has two channels for each port, one for data and
 * one for the error; the first bytes on each are the number of the port. The connection ends with the last port.
 *
 * Caveats: the protocol has no end of a single channel, so a program does not see that its client sends no more.
 */
import type { WebSocketConnection } from "../../runtime/mod.ts";
import { isClientGone, UnreadBytes } from "../sockets/mod.ts";
import type { ForwardedStream, ForwardPort } from "./forwarded_stream.ts";

/** Unread bytes of a port above which nothing more is received. */
const maxUnreadBytes = 256 * 1024;
const maxSentBytes = 32 * 1024;

/** The channels of one connection. */
export class ChannelStreams {
  readonly #socket: WebSocketConnection;
  readonly #streams: readonly ChannelStream[];
  readonly #ports: readonly number[];

  constructor(socket: WebSocketConnection, ports: readonly number[]) {
    this.#socket = socket;
    this.#ports = ports;
    this.#streams = ports.map((_, index) => new ChannelStream((bytes) => this.#send(index * 2, bytes)));
    socket.ended.then(() => {
      for (const stream of this.#streams) stream.end();
    });
  }

  /** Forwards every port until all have ended. */
  async run(forward: ForwardPort): Promise<void> {
    const receiving = this.#receive();
    try {
      await Promise.all(this.#ports.map((port, index) => this.#run(forward, port, index)));
    } catch (error) {
      if (!isClientGone(error)) throw error;
    } finally {
      this.#socket.close();
      await receiving;
    }
  }

  async #run(forward: ForwardPort, port: number, index: number): Promise<void> {
    const stream = this.#streams[index];
    if (stream === undefined) return;
    const number = new Uint8Array([port & 255, port >> 8]);
    await this.#send(index * 2, number);
    await this.#send(index * 2 + 1, number);
    const problem = await forward(port, stream);
    if (problem !== undefined) await this.#send(index * 2 + 1, new TextEncoder().encode(problem));
  }

  /** Takes what the client sends until it leaves. Never rejects. */
  async #receive(): Promise<void> {
    try {
      for (let message = await this.#socket.receive(); message !== undefined; message = await this.#socket.receive()) {
        const [channel = 1] = message;
        if (channel % 2 === 0) await this.#streams[channel / 2]?.receive(message.subarray(1));
      }
    } catch {
      // The connection broke, or the client broke its rules: both are its end.
    }
    for (const stream of this.#streams) stream.end();
  }

  async #send(channel: number, bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += maxSentBytes) {
      const part = bytes.subarray(at, at + maxSentBytes);
      const message = new Uint8Array(1 + part.length);
      message[0] = channel;
      message.set(part, 1);
      await this.#socket.send(message);
    }
  }
}

/** The data of one port. */
class ChannelStream implements ForwardedStream {
  readonly write: (bytes: Uint8Array) => Promise<void>;
  readonly #unread = new UnreadBytes(maxUnreadBytes);

  constructor(write: (bytes: Uint8Array) => Promise<void>) {
    this.write = write;
  }

  get isAborted(): boolean {
    return this.#unread.hasEnded;
  }

  async read(): Promise<Uint8Array | undefined> {
    return await this.#unread.read();
  }

  async receive(bytes: Uint8Array): Promise<void> {
    if (bytes.length > 0) await this.#unread.push(bytes);
  }

  end(): void {
    this.#unread.end();
    this.#unread.lift();
  }
}
