/**
 * WebSocket: one side of RFC 6455 over a Wire, for the client and the server alike. `ws` of npm is not used: Bun replaces it
 * with its own one, which takes no connection of ours, and its frame codec is not exported.
 *
 * Guarantees: a frame that breaks the rules (a wrong mask, reserved bits, unknown opcode, fragmented control frame) or a
 * message above the limit ends the connection with an error; a slow reader slows the peer, and a slow peer the writer; a
 * peer that answers no ping for 60 s counts as lost.
 */
import { toBase64 } from "./bytes_as_text.ts";
import type { Timers } from "./timers.ts";
import { type Frame, frameOf, FrameReader, opcode, type Side, webSocketError } from "./web_socket_frames.ts";
import type { Wire } from "./wire.ts";

/** How a connection ended that the peer has closed. */
export interface CloseReason {
  /** 1000 and 1001 are an end in order; 1005: the peer sent no code. */
  readonly code: number;
  readonly text: string;
}

/** Received and unread bytes above which the peer is paused. */
const readAheadBytes = 256 * 1024;
/** A ping keeps proxies from ending an idle connection. */
const pingMs = 15_000;
const silenceMs = 60_000;
const acceptSuffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** What `sec-websocket-accept` says for a `sec-websocket-key`: it proves that the server knows the protocol. */
export async function webSocketAccept(key: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(key + acceptSuffix));
  return toBase64(new Uint8Array(digest));
}

/** How a connection ended. */
type End = { readonly error: unknown } | { readonly closed: CloseReason };

/** Options of a {@link WebSocketConnection}. */
export interface WebSocketOptions {
  /** Which side this is. */
  readonly side: Side;
  /** Infinitive for messages: `exec in Pod "shop/web-0"`. */
  readonly action: string;
  readonly protocol: string;
  readonly clock: Timers & { monotonic(): number };
  /** The most bytes of a received message. @default 4194304: kubelet and API server send at most 32 KiB at once */
  readonly maxMessageBytes?: number;
  /** The error of a connection that broke, or whose peer is silent. */
  lost(state: "reset" | "stalled", cause: unknown): Error;
}

/** One open connection. */
export class WebSocketConnection implements Disposable {
  /** The chosen subprotocol. */
  readonly protocol: string;
  /** Resolves when either side has ended the connection, also while messages are unread. */
  readonly ended: Promise<void>;
  #onEnd: () => void = () => {};
  readonly #wire: Wire;
  readonly #options: WebSocketOptions;
  readonly #frames: FrameReader;
  readonly #messages: Uint8Array[] = [];
  #unreadBytes = 0;
  #isPaused = false;
  #wake: () => void = () => {};
  #end: End | undefined;
  #receivedAt: number;
  #timer: Disposable | undefined;

  constructor(wire: Wire, options: WebSocketOptions) {
    const { side, maxMessageBytes = 4 * 1024 * 1024 } = options;
    this.protocol = options.protocol;
    this.ended = new Promise((resolve) => this.#onEnd = resolve);
    this.#wire = wire;
    this.#options = options;
    this.#frames = new FrameReader({ sender: side === "client" ? "server" : "client", maxMessageBytes });
    this.#receivedAt = options.clock.monotonic();
    wire.onEnd = (error) => this.#finish({ error: this.#lost(error) });
    wire.onBytes = (bytes) => this.#receive(bytes);
    this.#watchSilence();
  }

  /** Sends a message. Resolves when it has left. @throws when the connection has ended */
  async send(message: Uint8Array, kind: "binary" | "text" = "binary"): Promise<void> {
    if (this.#end !== undefined) throw this.#endError();
    await this.#write(opcode[kind], message);
    if (this.#hasFailed()) throw this.#endError();
  }

  #hasFailed(): boolean {
    return this.#end !== undefined && "error" in this.#end;
  }

  /** The next message; undefined when the peer has closed the connection. @throws the error that ended it */
  async receive(): Promise<Uint8Array | undefined> {
    while (true) {
      const message = this.#messages.shift();
      if (message !== undefined) {
        this.#unreadBytes -= message.length;
        if (this.#isPaused && this.#unreadBytes < readAheadBytes) {
          this.#isPaused = false;
          this.#wire.resume();
        }
        return message;
      }
      if (this.#end !== undefined) {
        if ("error" in this.#end) throw this.#end.error;
        return undefined;
      }
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }

  /** How the peer closed the connection; undefined while it is open, and after an error. */
  get closeReason(): CloseReason | undefined {
    return this.#end !== undefined && "closed" in this.#end ? this.#end.closed : undefined;
  }

  /** Ends the connection in order. Messages that were not read are dropped. */
  close(reason: unknown = this.#lost(undefined)): void {
    if (this.#end !== undefined) return;
    this.#messages.length = 0;
    this.#finish({ error: reason });
    this.#sayGoodbye(closeCodes.normal);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #receive(bytes: Uint8Array): void {
    if (this.#end !== undefined) return;
    this.#receivedAt = this.#options.clock.monotonic();
    try {
      for (const frame of this.#frames.push(bytes)) this.#take(frame);
    } catch (error) {
      this.#finish({ error });
      this.#sayGoodbye(closeCodes.protocolError);
    }
    if (this.#unreadBytes >= readAheadBytes && !this.#isPaused) {
      this.#isPaused = true;
      this.#wire.pause();
    }
    this.#wake();
  }

  #take(frame: Frame): void {
    if (this.#end !== undefined) return;
    switch (frame.opcode) {
      case opcode.binary:
      case opcode.text:
        this.#messages.push(frame.payload);
        this.#unreadBytes += frame.payload.length;
        return;
      case opcode.ping:
        this.#write(opcode.pong, frame.payload).catch(() => {});
        return;
      case opcode.pong:
        return;
      case opcode.close:
        return this.#closed(frame.payload);
      default:
        throw webSocketError(this.#frames.sender, `it sent a frame of the unknown kind ${frame.opcode}`);
    }
  }

  #closed(payload: Uint8Array): void {
    const peer = this.#frames.sender;
    if (payload.length === 1) throw webSocketError(peer, "its close frame is malformed");
    const code = payload.length === 0 ? 1005 : (payload[0] ?? 0) * 256 + (payload[1] ?? 0);
    const text = new TextDecoder().decode(payload.subarray(2));
    this.#write(opcode.close, payload.subarray(0, 2)).catch(() => {}).finally(() => this.#wire.end());
    const isInOrder = code === 1000 || code === 1001 || code === 1005;
    const error = () => new Error(`Cannot ${this.#options.action}: the ${peer} closed the stream with ${code} ${text}`);
    this.#finish(isInOrder ? { closed: { code, text } } : { error: error() });
  }

  /** Sends pings, and ends the connection when nothing has come for a while. A paused connection is not silent. */
  #watchSilence(): void {
    const { clock } = this.#options;
    this.#timer = clock.timer(pingMs, () => {
      if (this.#end !== undefined) return;
      if (!this.#isPaused && clock.monotonic() - this.#receivedAt >= silenceMs) {
        this.#finish({ error: this.#options.lost("stalled", undefined) });
        return this.#wire.end();
      }
      this.#write(opcode.ping, new Uint8Array(0)).catch(() => {});
      this.#watchSilence();
    });
  }

  async #write(kind: number, payload: Uint8Array): Promise<void> {
    await this.#wire.write(frameOf(kind, payload, this.#options.side));
  }

  #sayGoodbye(code: number): void {
    const payload = new Uint8Array([code >> 8, code & 255]);
    this.#write(opcode.close, payload).catch(() => {}).finally(() => this.#wire.end());
  }

  #finish(end: End): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#timer?.[Symbol.dispose]();
    this.#wake();
    this.#onEnd();
  }

  #lost(cause: unknown): Error {
    return this.#options.lost("reset", cause);
  }

  #endError(): unknown {
    return this.#end !== undefined && "error" in this.#end ? this.#end.error : this.#lost(undefined);
  }
}

const closeCodes = { normal: 1000, protocolError: 1002 } as const;
