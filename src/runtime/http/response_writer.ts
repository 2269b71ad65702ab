/**
 * Writes responses to a connection of the server. It sets the framing fields itself from the bytes of the body, so a
 * handler cannot make them wrong.
 *
 * A body whose length the handler announced is sent with its length, a small one in one write with its head. Every other body
 * is sent in chunks as it comes, as a watch needs it.
 */
import { Buffer } from "node:buffer";
import { joined } from "./bytes.ts";

/** Where the bytes are written to. */
export interface ByteSink {
  /** Returns true, or resolves, when more can be written; false if the connection has ended. */
  write(bytes: Uint8Array): boolean | Promise<boolean>;
}

/** Options of {@link writeResponse}. */
export interface WriteResponseOptions {
  /** The method of the request. A response to HEAD has no body. */
  readonly method: string;
  /** False adds `connection: close`. */
  readonly keepsAlive: boolean;
}

/** The largest body that is copied behind its head. */
const maxCopiedBytes = 1024 * 1024;
const encoder = new TextEncoder();
const lastChunk = encoder.encode("0\r\n\r\n");
/** Fields that the server sets; those of the handler are dropped. */
export const connectionFields: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "transfer-encoding",
  "keep-alive",
  "date",
  "trailer",
]);

/** Writes `response`. @returns false if the connection ended first @throws the error of the stream of the body */
export async function writeResponse(
  sink: ByteSink,
  response: Response,
  options: WriteResponseOptions,
): Promise<boolean> {
  const { method } = options;
  if (isBodiless(response.status)) return await sink.write(headOf(response, options, ""));
  const announced = response.headers.get("content-length");
  if (method === "HEAD") {
    response.body?.cancel().catch(() => {});
    return await sink.write(headOf(response, options, announced === null ? "" : `content-length: ${announced}\r\n`));
  }
  if (response.body === null || announced !== null) {
    const body = new Uint8Array(await response.arrayBuffer());
    const head = headOf(response, options, `content-length: ${body.length}\r\n`);
    if (body.length <= maxCopiedBytes) return await sink.write(joined(head, body));
    return await sink.write(head) && await sink.write(body);
  }
  const head = headOf(response, options, "transfer-encoding: chunked\r\n");
  return await writeChunks(sink, head, response.body);
}

/** The head of a 101 with the fields of the other protocol. */
export function switchHead(headers: Readonly<Record<string, string>>): Uint8Array {
  let text = `HTTP/1.1 101 Switching Protocols\r\ndate: ${dateText()}\r\nconnection: Upgrade\r\n`;
  for (const [name, value] of new Headers(headers)) text += `${name}: ${value}\r\n`;
  return latin1(`${text}\r\n`);
}

async function writeChunks(sink: ByteSink, head: Uint8Array, body: ReadableStream<Uint8Array>): Promise<boolean> {
  if (!await sink.write(head)) {
    body.cancel().catch(() => {});
    return false;
  }
  // A return inside the loop cancels the stream.
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
    if (!connectionFields.has(name)) text += `${name}: ${value}\r\n`;
  }
  if (!options.keepsAlive) text += "connection: close\r\n";
  return latin1(`${text}${framing}\r\n`);
}

/** The date is formatted once per second, because that is slow and thousands of responses share it. */
let dateSecond = NaN;
let lastDate = "";

/** The value of the field `date`. */
export function dateText(): string {
  const now = new Date();
  const second = Math.floor(now.getTime() / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    lastDate = now.toUTCString();
  }
  return lastDate;
}

/** Field values are bytes; `Headers` holds each byte as one character. */
function latin1(text: string): Uint8Array {
  return Buffer.from(text, "latin1");
}

/** True if a response with this status has no body. */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 304;
}
