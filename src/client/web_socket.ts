/**
 * WebSocket: the client side of RFC 6455 over a Wire, for the streams of Pods. `ws` of npm is not used: Bun replaces it with
 * its own one, which takes no connection of ours, and its frame codec is not exported.
 *
 * Guarantees: only a server that proves the handshake is talked to; a frame that breaks the rules (masked, reserved bits,
 * unknown opcode, fragmented control frame) or a message above 4 MiB ends the connection with an error; a slow reader
 * slows the server; a peer that answers no ping for 60 s counts as lost.
 */
import type { Clock } from "../async/mod.ts";
import { toBase64, type Wire } from "../runtime/mod.ts";
import { UnreachableError } from "./unreachable_error.ts";

/** How a connection ended that the server has closed. */
export interface CloseReason {
  /** 1000 and 1001 are an end in order; 1005: the server sent no code. */
  readonly code: number;
  readonly text: string;
}

/** The most bytes of a message: kubelet and API server send at most 32 KiB at once. */
const maxMessageBytes = 4 * 1024 * 1024;
/** Received and unread bytes above which the server is paused. */
const readAheadBytes = 256 * 1024;
/** A ping keeps proxies from ending an idle connection. */
const pingMs = 15_000;
const silenceMs = 60_000;
const acceptSuffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

const opcode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** The headers of a handshake for one of `protocols`, and the answer that proves it. */
export async function handshakeFor(
  protocols: readonly string[],
): Promise<{ readonly headers: Readonly<Record<string, string>>; readonly accept: string }> {
  const key = toBase64(crypto.getRandomValues(new Uint8Array(16)));
  const digest = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(key + acceptSuffix));
  return {
    headers: {
      "connection": "Upgrade",
      "upgrade": "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": key,
      "sec-websocket-protocol": protocols.join(", "),
    },
    accept: toBase64(new Uint8Array(digest)),
  };
}

/** The protocol that the server chose. @throws Error when the answer does not prove the handshake */
export function chosenProtocol(headers: Headers, accept: string, protocols: readonly string[]): string {
  const problem = (headers.get("upgrade") ?? "").toLowerCase() !== "websocket"
    ? "it switched to another protocol"
    : headers.get("sec-websocket-accept") !== accept
    ? "its answer does not belong to this request"
    : headers.has("sec-websocket-extensions")
    ? "it uses an extension that was not asked for"
    : undefined;
  if (problem !== undefined) throw protocolError(problem);
  const protocol = headers.get("sec-websocket-protocol") ?? "";
  if (!protocols.includes(protocol)) throw protocolError(`it speaks none of ${protocols.join(", ")}`);
  return protocol;
}

function protocolError(state: string): Error {
  return new Error(`Cannot use WebSocket of the server: ${state}`);
}

/** How a connection ended. */
type End = { readonly error: unknown } | { readonly closed: CloseReason };

/** Options of a {@link WebSocketConnection}. */
export interface WebSocketOptions {
  /** Infinitive for messages: `exec in Pod "shop/web-0"`. */
  readonly action: string;
  readonly protocol: string;
  readonly clock: Clock;
}

/** One open connection. */
export class WebSocketConnection implements Disposable {
  /** The chosen subprotocol. */
  readonly protocol: string;
  readonly #wire: Wire;
  readonly #options: WebSocketOptions;
  readonly #frames = new FrameReader();
  readonly #messages: Uint8Array[] = [];
  #unreadBytes = 0;
  #isPaused = false;
  #wake: () => void = () => {};
  #end: End | undefined;
  #receivedAt: number;
  #timer: Disposable | undefined;

  constructor(wire: Wire, options: WebSocketOptions) {
    this.protocol = options.protocol;
    this.#wire = wire;
    this.#options = options;
    this.#receivedAt = options.clock.monotonic();
    wire.onEnd = (error) => this.#finish({ error: this.#lost(error) });
    wire.onBytes = (bytes) => this.#receive(bytes);
    this.#watchSilence();
  }

  /** Sends a binary message. @throws when the connection has ended */
  async send(message: Uint8Array): Promise<void> {
    if (this.#end !== undefined) throw this.#endError();
    await this.#wire.write(maskedFrame(opcode.binary, message));
    if (this.#hasFailed()) throw this.#endError();
  }

  #hasFailed(): boolean {
    return this.#end !== undefined && "error" in this.#end;
  }

  /** The next message; undefined when the server has closed the connection. @throws the error that ended it */
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

  /** How the server closed the connection; undefined while it is open, and after an error. */
  get closeReason(): CloseReason | undefined {
    return this.#end !== undefined && "closed" in this.#end ? this.#end.closed : undefined;
  }

  /** Ends the connection. Messages that were not read are dropped. */
  close(reason: unknown = this.#lost(undefined)): void {
    if (this.#end !== undefined) return;
    this.#wire.write(maskedFrame(opcode.close, new Uint8Array([1000 >> 8, 1000 & 255]))).catch(() => {})
      .finally(() => this.#wire.end());
    this.#messages.length = 0;
    this.#finish({ error: reason });
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
      this.#wire.end();
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
        this.#wire.write(maskedFrame(opcode.pong, frame.payload)).catch(() => {});
        return;
      case opcode.pong:
        return;
      case opcode.close:
        return this.#closed(frame.payload);
      default:
        throw protocolError(`it sent a frame of the unknown kind ${frame.opcode}`);
    }
  }

  #closed(payload: Uint8Array): void {
    if (payload.length === 1) throw protocolError("its close frame is malformed");
    const code = payload.length === 0 ? 1005 : (payload[0] ?? 0) * 256 + (payload[1] ?? 0);
    const text = new TextDecoder().decode(payload.subarray(2));
    this.#wire.write(maskedFrame(opcode.close, payload.subarray(0, 2))).catch(() => {}).finally(() => this.#wire.end());
    const isInOrder = code === 1000 || code === 1001 || code === 1005;
    const error = () => new Error(`Cannot ${this.#options.action}: the server closed the stream with ${code} ${text}`);
    this.#finish(isInOrder ? { closed: { code, text } } : { error: error() });
  }

  /** Sends pings, and ends the connection when nothing has come for a while. A paused connection is not silent. */
  #watchSilence(): void {
    const { clock, action } = this.#options;
    this.#timer = clock.timer(pingMs, () => {
      if (this.#end !== undefined) return;
      if (!this.#isPaused && clock.monotonic() - this.#receivedAt >= silenceMs) {
        this.#finish({ error: new UnreachableError({ action, reason: { kind: "timeout", detail: "stalled" } }) });
        return this.#wire.end();
      }
      this.#wire.write(maskedFrame(opcode.ping, new Uint8Array(0))).catch(() => {});
      this.#watchSilence();
    });
  }

  #finish(end: End): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#timer?.[Symbol.dispose]();
    this.#wake();
  }

  #lost(cause: unknown): UnreachableError {
    const { action } = this.#options;
    return new UnreachableError({ action, reason: { kind: "unreachable", detail: "reset" }, cause });
  }

  #endError(): unknown {
    return this.#end !== undefined && "error" in this.#end ? this.#end.error : this.#lost(undefined);
  }
}

/** A complete message, or a control frame. */
interface Frame {
  readonly opcode: number;
  readonly payload: Uint8Array;
}

/** A frame of a client: its payload is masked, so that no proxy takes it for a request. */
export function maskedFrame(kind: number, payload: Uint8Array): Uint8Array {
  const { length } = payload;
  const extended = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const frame = new Uint8Array(2 + extended + 4 + length);
  const view = new DataView(frame.buffer);
  frame[0] = 0x80 | kind;
  frame[1] = 0x80 | (extended === 0 ? length : extended === 2 ? 126 : 127);
  if (extended === 2) view.setUint16(2, length);
  if (extended === 8) view.setBigUint64(2, BigInt(length));
  const mask = crypto.getRandomValues(new Uint8Array(4));
  const start = 2 + extended + 4;
  frame.set(mask, start - 4);
  for (let index = 0; index < length; index++) frame[start + index] = (payload[index] ?? 0) ^ (mask[index & 3] ?? 0);
  return frame;
}

/** Cuts received bytes into messages. */
export class FrameReader {
  /** Chunks that are not consumed yet. They are joined only when a frame is complete, so that time stays linear. */
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #needed = 2;
  /** The parts of a fragmented message. */
  #parts: Uint8Array[] = [];
  #partBytes = 0;
  #partOpcode: number | undefined;

  /** Takes bytes. @returns the complete messages and control frames, in order @throws Error for a frame that breaks a rule */
  push(chunk: Uint8Array): readonly Frame[] {
    this.#chunks.push(chunk.slice());
    this.#bytes += chunk.length;
    const frames: Frame[] = [];
    while (this.#bytes >= this.#needed) {
      const bytes = this.#joined();
      const frame = this.#parse(bytes);
      if (frame === undefined) continue;
      const message = this.#assemble(frame);
      if (message !== undefined) frames.push(message);
    }
    return frames;
  }

  #joined(): Uint8Array {
    const [only] = this.#chunks;
    if (only !== undefined && this.#chunks.length === 1) return only;
    const bytes = new Uint8Array(this.#bytes);
    let at = 0;
    for (const chunk of this.#chunks) {
      bytes.set(chunk, at);
      at += chunk.length;
    }
    this.#chunks = [bytes];
    return bytes;
  }

  /** The first frame; undefined when more bytes are needed. */
  #parse(bytes: Uint8Array): (Frame & { readonly isFinal: boolean }) | undefined {
    const [first = 0, second = 0] = bytes;
    const kind = first & 15;
    const isFinal = (first & 0x80) !== 0;
    if ((first & 0x70) !== 0) throw protocolError("it set reserved bits");
    if ((second & 0x80) !== 0) throw protocolError("it sent a masked frame");
    const short = second & 127;
    const extended = short === 126 ? 2 : short === 127 ? 8 : 0;
    if (kind >= 8 && (!isFinal || extended > 0)) throw protocolError("it sent a control frame that is not one piece");
    if (bytes.length < 2 + extended) return this.#need(2 + extended);
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const length = extended === 0 ? short : extended === 2 ? view.getUint16(2) : Number(view.getBigUint64(2));
    if (length + this.#partBytes > maxMessageBytes) {
      throw protocolError(`it sent a message of more than ${maxMessageBytes} bytes`);
    }
    const end = 2 + extended + length;
    if (bytes.length < end) return this.#need(end);
    this.#chunks = bytes.length === end ? [] : [bytes.subarray(end)];
    this.#bytes = bytes.length - end;
    this.#needed = 2;
    return { opcode: kind, payload: bytes.subarray(2 + extended, end), isFinal };
  }

  #need(bytes: number): undefined {
    this.#needed = bytes;
    return undefined;
  }

  #assemble({ opcode: kind, payload, isFinal }: Frame & { readonly isFinal: boolean }): Frame | undefined {
    if (kind >= 8) return { opcode: kind, payload };
    if ((kind === opcode.continuation) !== (this.#partOpcode !== undefined)) {
      throw protocolError("it mixed the parts of two messages");
    }
    if (isFinal && this.#partOpcode === undefined) return { opcode: kind, payload };
    this.#partOpcode ??= kind;
    this.#parts.push(payload);
    this.#partBytes += payload.length;
    if (this.#parts.length > 10_000) throw protocolError("it sent a message of too many parts");
    if (!isFinal) return undefined;
    const whole = new Uint8Array(this.#partBytes);
    let at = 0;
    for (const part of this.#parts) {
      whole.set(part, at);
      at += part.length;
    }
    const message = { opcode: this.#partOpcode, payload: whole };
    this.#parts = [];
    this.#partBytes = 0;
    this.#partOpcode = undefined;
    return message;
  }
}
