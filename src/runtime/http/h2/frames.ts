/**
 * Frames of HTTP/2 (RFC 9113, 4 and 6): reads those of a client, and writes those of a server.
 *
 * Guarantees: a frame that is longer than 16 KiB, has the wrong length or wrong padding is a {@link ConnectionError}. What
 * a frame means for a connection is the business of the connection.
 */
import { ConnectionError, type ErrorCode, errorCodes } from "./errors.ts";

/** The types of frames. Others are ignored, as the protocol demands. */
export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const satisfies Readonly<Record<string, number>>;

/** The flags of frames. */
export const frameFlags = { ack: 1, endStream: 1, endHeaders: 4, padded: 8, priority: 32 } as const;

/** The identifiers of settings. */
export const settingIds = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const satisfies Readonly<Record<string, number>>;

/** What a client sends first. */
export const clientPreface = new TextEncoder().encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** The largest payload that this server accepts, and the smallest limit that a peer may announce. */
export const minMaxFrameBytes = 16_384;
/** The largest limit that a peer may announce. */
export const maxMaxFrameBytes = 2 ** 24 - 1;
/** Bytes of the windows of a stream and of a connection before either side changes them. */
export const defaultWindowBytes = 65_535;
/** The largest window. */
export const maxWindowBytes = 2 ** 31 - 1;

const headBytes = 9;

/** One frame. */
export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  /** A part of the received bytes. */
  readonly payload: Uint8Array;
  /** The bytes of the whole frame. */
  readonly sizeBytes: number;
}

/** The first frame in received bytes; undefined if it is incomplete. @throws ConnectionError for one that is too long */
export function frameIn(bytes: Uint8Array): Frame | undefined {
  if (bytes.length < headBytes) return undefined;
  const length = uint32At(bytes, 0) >>> 8;
  if (length > minMaxFrameBytes) throw new ConnectionError(errorCodes.frameSizeError, "a frame is too long");
  const sizeBytes = headBytes + length;
  if (bytes.length < sizeBytes) return undefined;
  return {
    type: bytes[3] ?? 0,
    flags: bytes[4] ?? 0,
    streamId: uint32At(bytes, 5) & 0x7fff_ffff,
    payload: bytes.subarray(headBytes, sizeBytes),
    sizeBytes,
  };
}

/** True if the frame has this flag. */
export function hasFlag(frame: Frame, flag: number): boolean {
  return (frame.flags & flag) !== 0;
}

/** The content of a DATA frame. @throws ConnectionError */
export function dataOf(frame: Frame): Uint8Array {
  return withoutPadding(frame, 0);
}

/** The fragment of the header block in a HEADERS frame. @throws ConnectionError */
export function headerBlockOf(frame: Frame): Uint8Array {
  return withoutPadding(frame, hasFlag(frame, frameFlags.priority) ? 5 : 0);
}

function withoutPadding(frame: Frame, skippedBytes: number): Uint8Array {
  const { payload } = frame;
  const isPadded = hasFlag(frame, frameFlags.padded);
  const start = (isPadded ? 1 : 0) + skippedBytes;
  const end = payload.length - (isPadded ? payload[0] ?? 0 : 0);
  if (start > payload.length) throw new ConnectionError(errorCodes.frameSizeError, "a frame is too short");
  if (start > end) throw new ConnectionError(errorCodes.protocolError, "the padding is longer than its frame");
  return payload.subarray(start, end);
}

/** The settings in a SETTINGS frame, in their order. @throws ConnectionError */
export function settingsIn({ payload }: Frame): readonly (readonly [id: number, value: number])[] {
  if (payload.length % 6 !== 0) throw new ConnectionError(errorCodes.frameSizeError, "SETTINGS has a wrong length");
  return Array.from({ length: payload.length / 6 }, (_, index) => {
    const at = index * 6;
    return [uint32At(payload, at) >>> 16, uint32At(payload, at + 2)] as const;
  });
}

/** The number in a WINDOW_UPDATE or RST_STREAM frame. @throws ConnectionError */
export function numberIn({ payload }: Frame): number {
  if (payload.length !== 4) throw new ConnectionError(errorCodes.frameSizeError, "a frame has a wrong length");
  return uint32At(payload, 0);
}

function uint32At(bytes: Uint8Array, at: number): number {
  return (((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) |
    (bytes[at + 3] ?? 0)) >>> 0;
}

function setUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

/** The parts of a frame to write. */
export interface FrameParts {
  readonly type: number;
  readonly flags?: number;
  readonly streamId?: number;
  readonly payload?: Uint8Array;
}

/** The bytes of a frame. */
export function frameBytes(parts: FrameParts): Uint8Array {
  const bytes = new Uint8Array(headBytes + (parts.payload?.length ?? 0));
  setFrame(bytes, 0, parts);
  return bytes;
}

/** Writes a frame into `bytes`. @returns the index behind it */
function setFrame(bytes: Uint8Array, at: number, { type, flags = 0, streamId = 0, payload }: FrameParts): number {
  const length = payload?.length ?? 0;
  setUint32(bytes, at, (length << 8) | type);
  bytes[at + 4] = flags;
  setUint32(bytes, at + 5, streamId);
  if (payload !== undefined) bytes.set(payload, at + headBytes);
  return at + headBytes + length;
}

/** A frame whose payload is numbers of 32 bits. */
function numbersFrame(parts: FrameParts, numbers: readonly number[]): Uint8Array {
  const payload = new Uint8Array(numbers.length * 4);
  for (const [index, number] of numbers.entries()) setUint32(payload, index * 4, number);
  return frameBytes({ ...parts, payload });
}

/** A SETTINGS frame. */
export function settingsFrame(settings: readonly (readonly [id: number, value: number])[]): Uint8Array {
  const payload = new Uint8Array(settings.length * 6);
  for (const [index, [id, value]] of settings.entries()) {
    payload[index * 6 + 1] = id;
    setUint32(payload, index * 6 + 2, value);
  }
  return frameBytes({ type: frameTypes.settings, payload });
}

/** A WINDOW_UPDATE frame; stream 0 is the connection. */
export function windowUpdateFrame(streamId: number, bytes: number): Uint8Array {
  return numbersFrame({ type: frameTypes.windowUpdate, streamId }, [bytes]);
}

/** A RST_STREAM frame. */
export function resetFrame(streamId: number, code: ErrorCode): Uint8Array {
  return numbersFrame({ type: frameTypes.rstStream, streamId }, [code]);
}

/** A GOAWAY frame. */
export function goawayFrame(lastStreamId: number, code: ErrorCode): Uint8Array {
  return numbersFrame({ type: frameTypes.goaway }, [lastStreamId, code]);
}

/** Where the frames of a message are for. */
export interface MessageParts {
  readonly streamId: number;
  /** The limit of the peer. */
  readonly maxFrameBytes: number;
  /** True if the stream ends with these frames. */
  readonly isLast: boolean;
}

/** The DATA frames of a piece of a body, which may be empty. */
export function dataFrames(content: Uint8Array, { streamId, maxFrameBytes, isLast }: MessageParts): Uint8Array {
  const count = Math.max(1, Math.ceil(content.length / maxFrameBytes));
  const bytes = new Uint8Array(content.length + count * headBytes);
  for (let index = 0, at = 0; index < count; index++) {
    const payload = count === 1 ? content : content.subarray(index * maxFrameBytes, (index + 1) * maxFrameBytes);
    const flags = isLast && index === count - 1 ? frameFlags.endStream : 0;
    at = setFrame(bytes, at, { type: frameTypes.data, flags, streamId, payload });
  }
  return bytes;
}

/** A HEADERS frame, and CONTINUATION frames for what does not fit into it. */
export function headersFrames(block: Uint8Array, { streamId, maxFrameBytes, isLast }: MessageParts): Uint8Array {
  const count = Math.max(1, Math.ceil(block.length / maxFrameBytes));
  const bytes = new Uint8Array(block.length + count * headBytes);
  for (let index = 0, at = 0; index < count; index++) {
    const payload = count === 1 ? block : block.subarray(index * maxFrameBytes, (index + 1) * maxFrameBytes);
    const ofFirst = index === 0 && isLast ? frameFlags.endStream : 0;
    const flags = ofFirst | (index === count - 1 ? frameFlags.endHeaders : 0);
    at = setFrame(bytes, at, {
      type: index === 0 ? frameTypes.headers : frameTypes.continuation,
      flags,
      streamId,
      payload,
    });
  }
  return bytes;
}
