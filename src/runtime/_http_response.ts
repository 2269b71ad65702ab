/**
 * An HTTP/1.1 response on the wire. The length or the chunks are written here, from the bytes there are, so a handler
 * cannot get the framing wrong.
 *
 * A small body whose length the handler announced goes out in one write with its head; everything else is sent in chunks
 * as it comes, which is what a watch needs.
 */
import { joined } from "./_byte_source.ts";

/** Where the bytes go. */
export interface ByteSink {
  /** Resolves once more can be written; false when the connection is gone. */
  write(bytes: Uint8Array): Promise<boolean>;
}

/** How to write a response. */
export interface WriteResponseOptions {
  /** Of the request. HEAD has no body in its answer. */
  readonly method: string;
  /** Tells the peer that another request may follow. */
  readonly keepsAlive: boolean;
}

/** Bodies up to this size are sent with their length. */
const wholeBytes = 1024 * 1024;
const encoder = new TextEncoder();
const lastChunk = encoder.encode("0\r\n\r\n");
/** Fields that belong to this connection, not to the handler. */
const ownFields = new Set(["connection", "content-length", "transfer-encoding", "keep-alive", "date", "trailer"]);

/** Writes `response`. @returns false when the connection went away first @throws what the body's stream throws */
export async function writeResponse(
  sink: ByteSink,
  response: Response,
  options: WriteResponseOptions,
): Promise<boolean> {
  const { method } = options;
  if (isBodiless(response.status)) return await sink.write(headOf(response, options, ""));
  const announced = response.headers.get("content-length");
  if (method === "HEAD") {
    await response.body?.cancel();
    return await sink.write(headOf(response, options, announced === null ? "" : `content-length: ${announced}\r\n`));
  }
  if (response.body === null || (announced !== null && Number(announced) <= wholeBytes)) {
    const body = new Uint8Array(await response.arrayBuffer());
    return await sink.write(joined(headOf(response, options, `content-length: ${body.length}\r\n`), body));
  }
  const head = headOf(response, options, "transfer-encoding: chunked\r\n");
  return await writeChunks(sink, head, response.body);
}

async function writeChunks(sink: ByteSink, head: Uint8Array, body: ReadableStream<Uint8Array>): Promise<boolean> {
  if (!await sink.write(head)) {
    await body.cancel();
    return false;
  }
  // Leaving the loop early cancels the stream.
  for await (const part of body) {
    if (part.length > 0 && !await sink.write(chunkOf(part))) return false;
  }
  return await sink.write(lastChunk);
}

function chunkOf(part: Uint8Array): Uint8Array {
  const size = encoder.encode(`${part.length.toString(16)}\r\n`);
  const chunk = new Uint8Array(size.length + part.length + 2);
  chunk.set(size);
  chunk.set(part, size.length);
  chunk.set([13, 10], size.length + part.length);
  return chunk;
}

function headOf(response: Response, options: WriteResponseOptions, framing: string): Uint8Array {
  let text = `HTTP/1.1 ${response.status} ${response.statusText}\r\ndate: ${dateText()}\r\n`;
  for (const [name, value] of response.headers) {
    if (!ownFields.has(name)) text += `${name}: ${value}\r\n`;
  }
  if (!options.keepsAlive) text += "connection: close\r\n";
  return latin1(`${text}${framing}\r\n`);
}

/** Writing out a date is slow, and thousands of answers have the same second. */
let dateSecond = NaN;
let lastDate = "";

function dateText(): string {
  const now = new Date();
  const second = Math.floor(now.getTime() / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    lastDate = now.toUTCString();
  }
  return lastDate;
}

/** Field values are bytes; `Headers` holds each as the character of its number. */
function latin1(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

function isBodiless(status: number): boolean {
  return status === 204 || status === 304;
}
