/**
 * A client that writes frames of HTTP/2 as a test wants them, for the tests of `serve.ts`: it sends what no client library
 * sends, grants no window by itself, and acknowledges nothing.
 */
import * as tls from "node:tls";
import {
  clientPreface,
  encodedFields,
  type Field,
  frameBytes,
  frameFlags,
  frameIn,
  frameTypes,
  headersFrames,
  HpackDecoder,
  minMaxFrameBytes,
  settingsFrame,
} from "../http/h2/mod.ts";

/** A frame of the server. */
export interface ReceivedFrame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Uint8Array;
}

/** The last-stream-id and the code of a GOAWAY. */
export interface Goaway {
  readonly lastStreamId: number;
  readonly code: number;
}

/** Options of {@link http2Peer}. */
export interface Http2PeerOptions {
  readonly settings?: readonly (readonly [id: number, value: number])[];
  /** What is sent first. @default the preface and the settings */
  readonly start?: Uint8Array;
  /** A client certificate. */
  readonly pair?: { readonly cert: string; readonly key: string };
}

/** Connects to a server on this machine that offers HTTP/2. It trusts every certificate. */
export async function http2Peer(port: number, options: Http2PeerOptions = {}): Promise<Http2Peer> {
  const socket = tls.connect({
    port,
    host: "127.0.0.1",
    rejectUnauthorized: false,
    ALPNProtocols: ["h2"],
    ...options.pair,
  });
  const peer = new Http2Peer(socket);
  await new Promise((resolve) => socket.once("secureConnect", resolve));
  socket.write(options.start ?? concatenated([clientPreface, settingsFrame(options.settings ?? [])]));
  return peer;
}

/** One connection. */
export class Http2Peer implements Disposable {
  /** All frames so far. */
  readonly frames: ReceivedFrame[] = [];
  readonly #socket: tls.TLSSocket;
  readonly #blocks = new Map<number, (readonly Field[])[]>();
  readonly #decoder = new HpackDecoder();
  #received = new Uint8Array(0);
  #isClosed = false;

  constructor(socket: tls.TLSSocket) {
    this.#socket = socket;
    socket.on("data", (chunk: Uint8Array) => this.#receive(chunk));
    socket.on("close", () => this.#isClosed = true);
    socket.on("error", () => {});
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The last GOAWAY. */
  get goaway(): Goaway | undefined {
    const frame = this.frames.findLast(({ type }) => type === frameTypes.goaway);
    if (frame === undefined) return undefined;
    const [lastStreamId = 0, code = 0] = numbersIn(frame);
    return { lastStreamId, code };
  }

  send(...frames: readonly Uint8Array[]): void {
    this.#socket.write(concatenated(frames));
  }

  /** Sends as fast as the server reads, until it closes. @returns the bytes that the system took */
  flood(frames: () => Uint8Array, maxBytes: number): Promise<number> {
    return flood(this.#socket, frames, maxBytes);
  }

  /** Stops reading, or continues. On Deno a paused client with TLS reads on. */
  setReading(isReading: boolean): void {
    if (isReading) this.#socket.resume();
    else this.#socket.pause();
  }

  /** The fields of the responses of a stream, interim ones included. */
  fieldsOf(streamId: number): readonly (readonly Field[])[] {
    return this.#blocks.get(streamId) ?? [];
  }

  /** The status of the last response of a stream. */
  statusOf(streamId: number): string | undefined {
    return this.#blocks.get(streamId)?.at(-1)?.find(([name]) => name === ":status")?.[1];
  }

  /** The content of a stream so far. */
  textOf(streamId: number): string {
    return this.#framesOf(streamId).filter(({ type }) => type === frameTypes.data)
      .map(({ payload }) => new TextDecoder().decode(payload)).join("");
  }

  /** True if the server has ended its half of a stream. */
  hasEnded(streamId: number): boolean {
    return this.#framesOf(streamId).some(({ type, flags }) =>
      (type === frameTypes.data || type === frameTypes.headers) && (flags & frameFlags.endStream) !== 0
    );
  }

  /** The code of the RST_STREAM of a stream. */
  resetOf(streamId: number): number | undefined {
    const frame = this.#framesOf(streamId).find(({ type }) => type === frameTypes.rstStream);
    return frame === undefined ? undefined : numbersIn(frame)[0];
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  #framesOf(streamId: number): readonly ReceivedFrame[] {
    return this.frames.filter((frame) => frame.streamId === streamId);
  }

  #receive(chunk: Uint8Array): void {
    this.#received = new Uint8Array([...this.#received, ...chunk]);
    for (let frame = frameIn(this.#received); frame !== undefined; frame = frameIn(this.#received)) {
      const { streamId } = frame;
      this.frames.push({ ...frame, payload: frame.payload.slice() });
      if (frame.type === frameTypes.headers) {
        const fields: Field[] = [];
        this.#decoder.decode(frame.payload, (field) => fields.push(field));
        this.#blocks.set(streamId, [...this.fieldsOf(streamId), fields]);
      }
      this.#received = this.#received.slice(frame.sizeBytes);
    }
  }
}

function numbersIn({ payload }: ReceivedFrame): readonly number[] {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  return Array.from({ length: payload.length >> 2 }, (_, index) => view.getUint32(4 * index));
}

/** Sends while the system takes it. */
function flood(socket: tls.TLSSocket, make: () => Uint8Array, maxBytes: number): Promise<number> {
  let bytes = 0;
  return new Promise((resolve) => {
    socket.once("close", () => resolve(bytes));
    const pour = () => {
      while (!socket.destroyed && bytes < maxBytes) {
        const frames = make();
        bytes += frames.length;
        if (!socket.write(frames)) return void socket.once("drain", pour);
      }
      if (!socket.destroyed) resolve(bytes);
    };
    pour();
  });
}

/** Parts of one array. */
export function concatenated(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** What a request of a test differs in from `GET /`. */
export interface RequestParts {
  readonly method?: string;
  readonly path?: string;
  readonly authority?: string;
  /** Fields behind the pseudo fields. */
  readonly fields?: readonly Field[];
  /** False if a body follows. @default true */
  readonly isLast?: boolean;
}

/** The head of a request. */
export function requestFrame(streamId: number, parts: RequestParts = {}): Uint8Array {
  const { method = "GET", path = "/", authority = "localhost", fields = [], isLast = true } = parts;
  return fieldsFrame(streamId, [
    [":method", method],
    [":scheme", "https"],
    [":path", path],
    [":authority", authority],
    ...fields,
  ], isLast);
}

/** A HEADERS frame with exactly these fields. */
export function fieldsFrame(streamId: number, fields: readonly Field[], isLast = true): Uint8Array {
  const block = encodedFields(fields, { tellsTableSize: false });
  return headersFrames(block, { streamId, maxFrameBytes: minMaxFrameBytes, isLast });
}

/** A DATA frame. */
export function dataFrame(streamId: number, text: string, isLast = true): Uint8Array {
  const flags = isLast ? frameFlags.endStream : 0;
  return frameBytes({ type: frameTypes.data, flags, streamId, payload: new TextEncoder().encode(text) });
}
