/**
 * The frames of SPDY/3.1, as far as streams need them: FrameCutter cuts received bytes into frames, the functions write them,
 * and HeaderReader reads compressed headers. Client-go and kubectl speak it for `port-forward`.
 *
 * Guarantees: a frame has at most 1 MiB, its headers at most 64 KiB; what is larger or malformed is a SpdyError.
 * Caveats: headers are written without compression, which the format allows; windows are not used, as in moby/spdystream.
 */
import { Buffer } from "node:buffer";
import { constants, inflateRawSync } from "node:zlib";

/** A peer that breaks the rules of the protocol. */
export class SpdyError extends Error {
  override readonly name = "SpdyError";
}

/** The types of control frames. */
export const frameType = {
  synStream: 1,
  synReply: 2,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  headers: 8,
  windowUpdate: 9,
} as const;

/** Why a stream is reset. */
export const resetStatus = { protocolError: 1, refusedStream: 3, cancel: 5 } as const;

/** The flag of the last frame of a direction. */
export const finFlag = 1;

/** A received frame. `type` is undefined for data. */
export interface SpdyFrame {
  readonly type: number | undefined;
  readonly flags: number;
  /** Of data; 0 for control frames, whose payload has it. */
  readonly streamId: number;
  readonly payload: Uint8Array;
}

const headBytes = 8;
const maxFrameBytes = 1024 * 1024;
const maxHeaderBytes = 64 * 1024;

/** Cuts received bytes into frames. */
export class FrameCutter {
  /** What is not consumed yet. It is joined only when a frame is complete, so that time stays linear. */
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #needed = headBytes;

  /** @returns the complete frames @throws SpdyError */
  push(chunk: Uint8Array): readonly SpdyFrame[] {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    const frames: SpdyFrame[] = [];
    if (this.#bytes < this.#needed) return frames;
    const bytes = new Uint8Array(Buffer.concat(this.#chunks));
    let at = 0;
    this.#needed = headBytes;
    while (bytes.length - at >= this.#needed) {
      const sizeBytes = viewOf(bytes).getUint32(at + 4) & 0xffffff;
      if (sizeBytes > maxFrameBytes) throw new SpdyError(`a frame has more than ${maxFrameBytes} bytes`);
      this.#needed = headBytes + sizeBytes;
      if (bytes.length - at < this.#needed) break;
      frames.push(frameIn(bytes.subarray(at, at + this.#needed)));
      at += this.#needed;
      this.#needed = headBytes;
    }
    this.#chunks = [bytes.subarray(at)];
    this.#bytes = bytes.length - at;
    return frames;
  }
}

function frameIn(bytes: Uint8Array): SpdyFrame {
  const view = viewOf(bytes);
  const word = view.getUint32(0), flags = view.getUint8(4);
  const payload = new Uint8Array(bytes.subarray(headBytes));
  if ((word & 0x80000000) === 0) return { type: undefined, flags, streamId: word, payload };
  if (((word >>> 16) & 0x7fff) !== 3) throw new SpdyError("a frame has another version than 3");
  return { type: word & 0xffff, flags, streamId: 0, payload };
}

/** The number at an offset of a payload. @throws SpdyError when it is too short */
export function wordAt(payload: Uint8Array, offset: number): number {
  if (payload.length < offset + 4) throw new SpdyError("a frame is too short");
  return viewOf(payload).getUint32(offset);
}

/** A frame with data. */
export function dataFrame(streamId: number, data: Uint8Array, isLast: boolean): Uint8Array {
  const frame = Buffer.alloc(headBytes + data.length);
  frame.writeUInt32BE(streamId, 0);
  frame.writeUInt32BE(data.length, 4);
  frame[4] = isLast ? finFlag : 0;
  frame.set(data, headBytes);
  return frame;
}

/** A control frame. */
export function controlFrame(type: number, payload: Uint8Array): Uint8Array {
  const frame = Buffer.alloc(headBytes + payload.length);
  frame.writeUInt16BE(0x8003, 0);
  frame.writeUInt16BE(type, 2);
  frame.writeUInt32BE(payload.length, 4);
  frame.set(payload, headBytes);
  return frame;
}

/** The payload of numbers. */
export function wordsOf(...words: readonly number[]): Uint8Array {
  const bytes = Buffer.alloc(words.length * 4);
  for (const [index, word] of words.entries()) bytes.writeUInt32BE(word, index * 4);
  return bytes;
}

/** Writes the headers of frames, which have none here: a block that is stored, and an empty one that makes readers read it. */
export class HeaderWriter {
  #isFirst = true;

  write(): Uint8Array {
    const count = wordsOf(0);
    const blocks = [storedBlock(count), storedBlock(new Uint8Array(0))];
    const parts = this.#isFirst ? [Buffer.from([0x78, 0x01]), ...blocks] : blocks;
    this.#isFirst = false;
    return Buffer.concat(parts);
  }
}

/**
 * Reads the headers of frames. All of a connection are one zlib stream, and each frame ends at a byte of it, so each is
 * inflated by itself, behind a stored block with what came before.
 */
export class HeaderReader {
  #window: Uint8Array = Buffer.from(dictionaryText(), "latin1");
  #isFirst = true;

  /** @throws SpdyError */
  read(compressed: Uint8Array): ReadonlyMap<string, string> {
    const part = this.#isFirst ? withoutZlibHead(compressed) : compressed;
    this.#isFirst = false;
    const plain = inflated(this.#window, part);
    this.#window = Buffer.concat([this.#window, plain]).subarray(-windowBytes);
    return parseHeaders(plain);
  }
}

/** How far back a compressed block refers. */
const windowBytes = 32 * 1024;

function inflated(window: Uint8Array, part: Uint8Array): Uint8Array {
  const { Z_SYNC_FLUSH: finishFlush } = constants;
  const maxOutputLength = window.length + maxHeaderBytes;
  try {
    const whole = inflateRawSync(Buffer.concat([storedBlock(window), part]), { finishFlush, maxOutputLength });
    return new Uint8Array(whole.subarray(window.length));
  } catch (cause) {
    throw new SpdyError("compressed headers are malformed or too large", { cause });
  }
}

/** A block of deflate without compression. */
function storedBlock(bytes: Uint8Array): Uint8Array {
  const block = Buffer.alloc(5 + bytes.length);
  block.writeUInt16LE(bytes.length, 1);
  block.writeUInt16LE(bytes.length ^ 0xffff, 3);
  block.set(bytes, 5);
  return block;
}

/** The head says which dictionary is used; there is only one. */
function withoutZlibHead(bytes: Uint8Array): Uint8Array {
  const [method = 0, flags = 0] = bytes;
  if ((method & 15) !== 8) throw new SpdyError("headers are not compressed with zlib");
  return bytes.subarray((flags & 0x20) === 0 ? 2 : 6);
}

function parseHeaders(plain: Uint8Array): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  let at = 4;
  const text = () => {
    const start = at + 4;
    const end = start + wordAt(plain, at);
    if (end > plain.length) throw new SpdyError("headers end early");
    at = end;
    return new TextDecoder().decode(plain.subarray(start, end));
  };
  for (let left = wordAt(plain, 0); left > 0; left--) headers.set(text().toLowerCase(), text());
  return headers;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The text that both sides know before the first header (SPDY/3, 2.6.10.1): words with their lengths, then values. */
function dictionaryText(): string {
  const word = (text: string) => `\0\0\0${String.fromCharCode(text.length)}${text}`;
  return dictionaryWords.split(",").map(word).join("") + dictionaryValues;
}

const dictionaryWords =
  "options,head,post,put,delete,trace,accept,accept-charset,accept-encoding,accept-language,accept-ranges,age,allow," +
  "authorization,cache-control,connection,content-base,content-encoding,content-language,content-length," +
  "content-location,content-md5,content-range,content-type,date,etag,expect,expires,from,host,if-match," +
  "if-modified-since,if-none-match,if-range,if-unmodified-since,last-modified,location,max-forwards,pragma," +
  "proxy-authenticate,proxy-authorization,range,referer,retry-after,server,te,trailer,transfer-encoding,upgrade," +
  "user-agent,vary,via,warning,www-authenticate,method,get,status,200 OK,version,HTTP/1.1,url,public,set-cookie," +
  "keep-alive,origin";

const dictionaryValues = "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505" +
  "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized" +
  "403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable" +
  "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT" +
  "chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain," +
  "text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.";
