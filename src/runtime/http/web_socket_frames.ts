/**
 * The frames of WebSockets (RFC 6455, 5), in both directions: frameOf() writes one, FrameReader cuts received bytes into
 * messages. A client masks its frames, so that no proxy takes them for a request; a server does not.
 *
 * Guarantees: a frame that breaks a rule is an error, also before its payload is there; time and memory are linear in the
 * received bytes, however small the pieces are.
 */

/** The side of a connection. */
export type Side = "client" | "server";

/** The kinds of frames. */
export const opcode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** The error of a peer that does not follow the protocol. */
export function webSocketError(peer: Side, state: string): Error {
  return new Error(`Cannot use WebSocket of the ${peer}: ${state}`);
}

/** A complete message, or a control frame. */
export interface Frame {
  readonly opcode: number;
  readonly payload: Uint8Array;
}

/** A frame, as `sender` writes it. */
export function frameOf(kind: number, payload: Uint8Array, sender: Side): Uint8Array {
  const { length } = payload;
  const isMasked = sender === "client";
  const extended = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const start = 2 + extended + (isMasked ? 4 : 0);
  const frame = new Uint8Array(start + length);
  const view = new DataView(frame.buffer);
  frame[0] = 0x80 | kind;
  frame[1] = (isMasked ? 0x80 : 0) | (extended === 0 ? length : extended === 2 ? 126 : 127);
  if (extended === 2) view.setUint16(2, length);
  if (extended === 8) view.setBigUint64(2, BigInt(length));
  if (!isMasked) {
    frame.set(payload, start);
    return frame;
  }
  const mask = crypto.getRandomValues(new Uint8Array(4));
  frame.set(mask, start - 4);
  frame.set(masked(payload, mask), start);
  return frame;
}

/** The payload with the mask put on, or taken off. */
function masked(payload: Uint8Array, mask: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(payload.length);
  for (let index = 0; index < payload.length; index++) bytes[index] = (payload[index] ?? 0) ^ (mask[index & 3] ?? 0);
  return bytes;
}

/** Cuts received bytes into messages. */
export class FrameReader {
  /** Which side sent the frames. */
  readonly sender: Side;
  readonly #maxMessageBytes: number;
  /** Chunks that are not consumed yet. They are joined only when a frame is complete, so that time stays linear. */
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #needed = 2;
  /** The parts of a fragmented message. */
  #parts: Uint8Array[] = [];
  #partBytes = 0;
  #partOpcode: number | undefined;

  constructor(options: { readonly sender: Side; readonly maxMessageBytes: number }) {
    this.sender = options.sender;
    this.#maxMessageBytes = options.maxMessageBytes;
  }

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
    if ((first & 0x70) !== 0) throw this.#error("it set reserved bits");
    const isMasked = (second & 0x80) !== 0;
    if (isMasked !== (this.sender === "client")) {
      throw this.#error(isMasked ? "it sent a masked frame" : "it sent a frame that is not masked");
    }
    const short = second & 127;
    const extended = short === 126 ? 2 : short === 127 ? 8 : 0;
    if (kind >= 8 && (!isFinal || extended > 0)) throw this.#error("it sent a control frame that is not one piece");
    if (bytes.length < 2 + extended) return this.#need(2 + extended);
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const length = extended === 0 ? short : extended === 2 ? view.getUint16(2) : Number(view.getBigUint64(2));
    if (length + this.#partBytes > this.#maxMessageBytes) {
      throw this.#error(`it sent a message of more than ${this.#maxMessageBytes} bytes`);
    }
    const start = 2 + extended + (isMasked ? 4 : 0);
    const end = start + length;
    if (bytes.length < end) return this.#need(end);
    this.#chunks = bytes.length === end ? [] : [bytes.subarray(end)];
    this.#bytes = bytes.length - end;
    this.#needed = 2;
    const payload = bytes.subarray(start, end);
    return { opcode: kind, payload: isMasked ? masked(payload, bytes.slice(start - 4, start)) : payload, isFinal };
  }

  #error(state: string): Error {
    return webSocketError(this.sender, state);
  }

  #need(bytes: number): undefined {
    this.#needed = bytes;
    return undefined;
  }

  #assemble({ opcode: kind, payload, isFinal }: Frame & { readonly isFinal: boolean }): Frame | undefined {
    if (kind >= 8) return { opcode: kind, payload };
    if ((kind === opcode.continuation) !== (this.#partOpcode !== undefined)) {
      throw this.#error("it mixed the parts of two messages");
    }
    if (isFinal && this.#partOpcode === undefined) return { opcode: kind, payload };
    this.#partOpcode ??= kind;
    this.#parts.push(payload);
    this.#partBytes += payload.length;
    if (this.#parts.length > 10_000) throw this.#error("it sent a message of too many parts");
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
