/**
 * HttpConnection: one connection of the server in `serve.ts`, from its first byte to its last. Requests are read whole,
 * handed to the handler one after the other, and answered in order.
 *
 * Guarantees: a peer that is slow with a head or a body is cut off at its time limit; a malformed request is answered with
 * its status and the connection closed; the request's signal aborts when the peer leaves; nothing here throws.
 */
import type { Socket } from "node:net";
import { ByteSource } from "./_byte_source.ts";
import { type BodyReader, chunkedBody, lengthBody, tooLarge } from "./_http_body.ts";
import { type BodyFraming, findHeadEnd, parseHead, type RequestHead } from "./_http_head.ts";
import { Refusal } from "./_http_refusal.ts";
import { type ByteSink, writeResponse } from "./_http_response.ts";
import type { ConnectionInfo, ServeHandler, ServeLimits, ServeTimer } from "./serve.ts";

/** What all connections of one server share. */
export interface ConnectionHost {
  readonly handler: ServeHandler;
  readonly limits: ServeLimits;
  readonly timer: ServeTimer;
  readonly onError: (error: unknown) => void;
  /** True once peers are asked to go elsewhere. */
  readonly isRetiring: boolean;
  /** Bytes of bodies that are held now, over all connections. */
  bufferedBytes: number;
  /** Those that wait for their peer, longest first: whom to give up when there are too many. */
  readonly waiting: Set<{ destroy(): void }>;
}

/** After a refusal the peer may still be sending: its answer survives if we read on for a moment (RFC 9112, 9.6). */
const lingerMs = 1_000;

/** One peer. */
export class HttpConnection {
  readonly #socket: Socket;
  readonly #host: ConnectionHost;
  readonly #info: ConnectionInfo;
  readonly #source: ByteSource;
  readonly #sink: ByteSink;
  #request: AbortController | undefined;
  #mustClose = false;

  constructor(socket: Socket, info: ConnectionInfo, host: ConnectionHost) {
    this.#socket = socket;
    this.#info = info;
    this.#host = host;
    this.#source = new ByteSource(socket, () => this.#request?.abort(goneAway()));
    this.#sink = socketSink(socket, host);
  }

  /** No request is being answered. */
  get isIdle(): boolean {
    return this.#request === undefined;
  }

  /** Ends the connection now; a handler that runs sees its request abort. */
  destroy(): void {
    this.#mustClose = true;
    this.#request?.abort(goneAway());
    this.#source.fail(goneAway());
    this.#socket.destroy();
  }

  /** Ends the connection as soon as no request is being answered. */
  retire(): void {
    this.#mustClose = true;
    if (this.isIdle) this.destroy();
  }

  /** Serves requests until the connection ends. */
  async run(): Promise<void> {
    try {
      while (!this.#mustClose && await this.#serveOne());
      this.#socket.end();
    } catch (error) {
      if (error instanceof Refusal) await this.#refuse(error);
      else if (!this.#source.hasEnded && !this.#mustClose) this.#host.onError(error);
    } finally {
      this.#host.waiting.delete(this);
      this.#socket.destroy();
    }
  }

  /** @returns whether another request may follow */
  async #serveOne(): Promise<boolean> {
    const head = await this.#readHead();
    if (head === undefined) return false;
    const body = await this.#readBody(head);
    const controller = new AbortController();
    this.#request = controller;
    try {
      const request = requestOf(head, body, this.#info, controller.signal);
      const response = await this.#answer(request);
      const keepsAlive = head.keepsAlive && !this.#mustClose && !this.#host.isRetiring;
      const isSent = await writeResponse(this.#sink, response, { method: head.method, keepsAlive });
      return isSent && keepsAlive;
    } finally {
      this.#request = undefined;
      this.#host.bufferedBytes -= body?.length ?? 0;
    }
  }

  async #answer(request: Request): Promise<Response> {
    try {
      return await this.#host.handler(request, this.#info);
    } catch (error) {
      if (request.signal.aborted) throw error;
      this.#host.onError(error);
      return new Response("Internal error\n", { status: 500, headers: { "content-length": "15" } });
    }
  }

  async #readHead(): Promise<RequestHead | undefined> {
    const { limits } = this.#host;
    if (this.#source.bytes.length === 0 && !await this.#fill(limits.idleTimeoutMs, undefined)) return undefined;
    let end = this.#headEnd(0);
    if (end < 0) {
      // Nearly every head comes in one piece, and needs no timer.
      using _deadline = this.#deadline(limits.headerTimeoutMs, "the head took too long");
      while (end < 0) {
        const scannedTo = this.#source.bytes.length;
        if (!await this.#source.more()) return undefined;
        end = this.#headEnd(scannedTo);
      }
    }
    const head = parseHead(this.#source.bytes.subarray(0, end), limits);
    this.#source.consume(end);
    return head;
  }

  /** Where the head ends in what was received; -1 when more is needed. */
  #headEnd(scannedTo: number): number {
    const { limits } = this.#host;
    const { bytes } = this.#source;
    const end = findHeadEnd(bytes, scannedTo);
    if (end > limits.headerBytes || (end < 0 && bytes.length > limits.headerBytes)) {
      throw new Refusal(431, `the head is larger than ${limits.headerBytes} bytes`);
    }
    return end;
  }

  async #readBody(head: RequestHead): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const { limits } = this.#host;
    const reader = bodyReader(head.framing, limits.bodyBytes);
    if (reader === undefined) return undefined;
    if (head.method === "GET" || head.method === "HEAD") throw new Refusal(400, `a ${head.method} has a body`);
    if (head.expectsContinue) await this.#sink.write(continueBytes);
    // Made when there is something to wait for: a small body comes with its head.
    let deadline: Disposable | undefined;
    let heldBytes = 0;
    try {
      while (!reader.isComplete) {
        if (this.#source.bytes.length === 0) {
          deadline ??= this.#deadline(limits.bodyTimeoutMs, "the body took too long");
          if (!await this.#source.more()) throw goneAway();
        }
        const takenBytes = reader.take(this.#source.bytes);
        this.#source.consume(takenBytes);
        heldBytes += takenBytes;
        this.#host.bufferedBytes += takenBytes;
        if (this.#host.bufferedBytes > limits.bufferedBytes) throw new Refusal(503, "too much is being received");
      }
      const body = reader.body();
      this.#host.bufferedBytes += body.length;
      return body;
    } finally {
      deadline?.[Symbol.dispose]();
      this.#host.bufferedBytes -= heldBytes;
    }
  }

  /** Waits for bytes; false when the peer closed, or was silent for `ms`. */
  async #fill(ms: number, late: string | undefined): Promise<boolean> {
    using _deadline = this.#deadline(ms, late);
    return await this.#source.more();
  }

  /** Until disposed the peer is waited for, `ms` at most (0: without end). @param late why it is refused then, if told */
  #deadline(ms: number, late: string | undefined): Disposable {
    const { timer, waiting } = this.#host;
    waiting.add(this);
    const armed = ms === 0
      ? undefined
      : timer.timer(ms, () => late === undefined ? this.destroy() : this.#source.fail(new Refusal(408, late)));
    return {
      [Symbol.dispose]: () => {
        armed?.[Symbol.dispose]();
        waiting.delete(this);
      },
    };
  }

  async #refuse(refusal: Refusal): Promise<void> {
    const text = `${refusal.message}\n`;
    const headers = { "content-type": "text/plain; charset=utf-8", "content-length": String(text.length) };
    const response = new Response(text, { status: refusal.status, headers });
    await writeResponse(this.#sink, response, { method: "", keepsAlive: false });
    await new Promise<void>((resolve) => {
      if (this.#source.hasEnded) return resolve();
      const linger = this.#host.timer.timer(lingerMs, () => this.#socket.destroy());
      this.#socket.removeAllListeners("data");
      this.#socket.on("data", () => {});
      this.#socket.once("close", () => {
        linger[Symbol.dispose]();
        resolve();
      });
      this.#socket.resume();
      this.#socket.end();
    });
  }
}

const continueBytes = new TextEncoder().encode("HTTP/1.1 100 Continue\r\n\r\n");

function goneAway(): DOMException {
  return new DOMException("The peer closed the connection", "AbortError");
}

function bodyReader(framing: BodyFraming, maxBytes: number): BodyReader | undefined {
  switch (framing.kind) {
    case "none":
      return undefined;
    case "chunked":
      return chunkedBody(maxBytes);
    case "length":
      if (framing.bytes > maxBytes) throw tooLarge(maxBytes);
      return lengthBody(framing.bytes);
    default:
      return framing satisfies never;
  }
}

function requestOf(
  head: RequestHead,
  body: Uint8Array<ArrayBuffer> | undefined,
  info: ConnectionInfo,
  signal: AbortSignal,
): Request {
  const { method, headers } = head;
  const url = `${info.isTls ? "https" : "http"}://${head.host}${head.target}`;
  try {
    return new Request(url, { method, headers, body, signal });
  } catch {
    throw new Refusal(400, "the method, the host or the target is not one of HTTP");
  }
}

/** Writes to a socket at the peer's pace; one that takes nothing for the idle time is given up. */
function socketSink(socket: Socket, host: ConnectionHost): ByteSink {
  return {
    write(bytes) {
      if (socket.destroyed || !socket.writable) return Promise.resolve(false);
      if (socket.write(bytes)) return Promise.resolve(true);
      return new Promise((resolve) => {
        const { idleTimeoutMs } = host.limits;
        const stalled = idleTimeoutMs === 0 ? undefined : host.timer.timer(idleTimeoutMs, () => socket.destroy());
        const settle = () => {
          stalled?.[Symbol.dispose]();
          socket.off("drain", settle);
          socket.off("close", settle);
          resolve(!socket.destroyed);
        };
        socket.on("drain", settle);
        socket.on("close", settle);
      });
    },
  };
}
