/**
 * Http2Stream: one request of a connection in HTTP/2 and its response. It reads the body completely, passes the request to
 * the handler, and sends the response as fast as the client reads.
 *
 * Guarantees: the limits of HTTP/1.1 for bodies, their memory and their time; the signal of the request aborts, and the body
 * of the response is cancelled, when the client resets the stream or leaves; a client that grants no window for 64 KiB
 * within the time limit loses its stream; a stream ends once, after its handler has.
 */
import { ByteCollector } from "./byte_source.ts";
import { CutConnectionError } from "./cut_connection.ts";
import { dataFrames, encodedFields, type ErrorCode, errorCodes, type Field, headersFrames } from "./h2/mod.ts";
import { maxWindowBytes, resetFrame, StreamError, windowUpdateFrame } from "./h2/mod.ts";
import { bodyTooLarge } from "./http_body.ts";
import { RequestError, type RequestHead } from "./http_head.ts";
import type { Http2Writer } from "./http2_writer.ts";
import { protocolSwitchOf } from "./protocol_switch.ts";
import { connectionFields, dateText, isBodiless } from "./response_writer.ts";
import type { ConnectionInfo } from "./serve_options.ts";
import type { ConnectionHost } from "./server_connection.ts";
import {
  bodiesTooLarge,
  clientLeft,
  internalError,
  receivedHeadOf,
  refusalOf,
  requestOf,
  setLength,
} from "./server_request.ts";
import type { Claim } from "./shared_budget.ts";

/** What a stream needs of its connection. */
export interface Http2StreamParts {
  readonly id: number;
  readonly host: ConnectionHost;
  readonly info: ConnectionInfo;
  readonly writer: Http2Writer;
  /** Its part of the limit of requests in flight. */
  readonly slot: Claim;
  /** Bytes that it may send before the client grants more. */
  readonly sendWindowBytes: number;
  /** It waits for its client, or does not any more. */
  onWaiting(isWaiting: boolean): void;
  /** Bytes of a response were sent. */
  onSent(bytes: number): void;
  /** It ended for others. */
  onEvicted(): void;
  /** Called once, when nothing of it runs any more. */
  onEnd(isAnswered: boolean): void;
}

/** Bytes that a client may send ahead, as to kube-apiserver: most objects are smaller. */
export const streamWindowBytes = 256 * 1024;
/** The largest piece of a body for one stream, so that streams take turns and a slow client is measured by what it reads. */
const maxPieceBytes = 64 * 1024;

/** One request and its response. */
export class Http2Stream {
  readonly #parts: Http2StreamParts;
  readonly #claim: Claim;
  readonly #controller = new AbortController();
  #head: RequestHead | undefined;
  /** The bytes so far; undefined when no body is read. */
  #body: ByteCollector | undefined;
  #bodyBytes = 0;
  #bodyLimit: Disposable | undefined;
  #receiveWindowBytes = streamWindowBytes;
  #sendWindowBytes: number;
  /** True when the client sends no more. */
  #isReceived = false;
  /** True when nothing more is sent. */
  #isClosed = false;
  #isWaiting = false;
  #cancelBody: () => void = () => {};

  constructor(parts: Http2StreamParts) {
    this.#parts = parts;
    this.#sendWindowBytes = parts.sendWindowBytes;
    this.#claim = parts.host.bodies.claim(parts.info.remoteAddress, () => this.evict());
  }

  /** True while its client may still get a response. */
  get isOpen(): boolean {
    return !this.#isClosed;
  }

  /** Starts with a head. */
  start(head: RequestHead): void {
    const { host, info } = this.#parts;
    this.#head = head;
    if (head.framing.kind === "none") {
      this.#isReceived = true;
      return this.#answer(() => requestOf(head, undefined, info, this.#controller.signal));
    }
    if (head.framing.kind === "length" && head.framing.bytes > host.limits.maxBodyBytes) {
      return this.refuse(bodyTooLarge(host.limits.maxBodyBytes));
    }
    if (host.readsBody !== undefined && !host.readsBody(receivedHeadOf(head, info), info)) {
      return this.#answer(() => requestOf(head, undefined, info, this.#controller.signal));
    }
    this.#body = new ByteCollector(head.framing.kind === "length" ? head.framing.bytes : host.limits.maxBodyBytes);
    this.#setWaiting(true);
    if (head.expectsContinue) this.#sendHead([[":status", "100"]], false);
  }

  /** Responds with an error, without the handler. `isReceived`: the client sends no more. */
  refuse(error: RequestError, { isReceived = this.#isReceived } = {}): void {
    this.#isReceived = isReceived;
    this.#releaseBody();
    this.#run(() => this.#respond(refusalOf(error)));
  }

  /** Starts the time limit of a body that has not arrived with its head. */
  limitBody(): void {
    if (this.#body === undefined || this.#bodyLimit !== undefined) return;
    const { timers, limits } = this.#parts.host;
    this.#bodyLimit = timers.timer(
      limits.bodyTimeoutMs,
      () => this.refuse(new RequestError(408, "the body took too long")),
    );
  }

  /**
   * Takes the content of a DATA frame. `flowBytes` are those that count against the window.
   *
   * @throws StreamError
   */
  receive(content: Uint8Array, { flowBytes, isLast }: { readonly flowBytes: number; readonly isLast: boolean }): void {
    this.#receiveWindowBytes -= flowBytes;
    if (this.#receiveWindowBytes < 0) throw new StreamError(errorCodes.flowControlError, "the window is exceeded");
    if (this.#isReceived) throw new StreamError(errorCodes.streamClosed, "the body has ended");
    this.#isReceived = isLast;
    if (this.#body === undefined) return;
    const refusal = this.#collect(content, this.#body);
    if (refusal !== undefined) return this.refuse(refusal);
    if (isLast) return this.#complete();
    const consumedBytes = streamWindowBytes - this.#receiveWindowBytes;
    if (consumedBytes < streamWindowBytes / 2) return;
    this.#receiveWindowBytes = streamWindowBytes;
    this.#parts.writer.write(windowUpdateFrame(this.#parts.id, consumedBytes));
  }

  /** The client may get more. @returns false when the window is too large then */
  grant(bytes: number): boolean {
    const isStalled = this.#sendWindowBytes <= 0;
    this.#sendWindowBytes += bytes;
    if (isStalled) this.#parts.writer.wakeAll();
    return this.#sendWindowBytes <= maxWindowBytes;
  }

  /** Ends the stream now. `code`: what the client gets; undefined when it ended the stream, or the connection has ended. */
  reset(code: ErrorCode | undefined): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { writer, id, onEnd } = this.#parts;
    if (code !== undefined) writer.write(resetFrame(id, code));
    const isRunning = this.#body === undefined;
    this.#releaseBody();
    this.#controller.abort(clientLeft());
    this.#cancelBody();
    writer.wakeAll();
    if (!isRunning) this.#end(() => onEnd(false));
  }

  /** Ends for others, while it waits for its client. */
  evict(): void {
    this.#parts.onEvicted();
    if (this.#body !== undefined) this.refuse(bodiesTooLarge());
    else this.reset(errorCodes.cancel);
  }

  /** Keeps bytes of the body. @returns why the request is not served, if it is not */
  #collect(content: Uint8Array, body: ByteCollector): RequestError | undefined {
    if (content.length === 0) return undefined;
    const { maxBodyBytes } = this.#parts.host.limits;
    const { framing, method } = this.#head ?? {};
    this.#bodyBytes += content.length;
    if (framing?.kind === "length" && this.#bodyBytes > framing.bytes) throw wrongLength();
    if (this.#bodyBytes > maxBodyBytes) return bodyTooLarge(maxBodyBytes);
    if (method === "GET" || method === "HEAD") return new RequestError(400, `a ${method} has a body`);
    if (!this.#claim.take(body.growthBytes(content.length))) return bodiesTooLarge();
    body.add(content);
    return undefined;
  }

  /** The body has arrived. */
  #complete(): void {
    const { info } = this.#parts;
    const head = this.#head, body = this.#body;
    if (head === undefined || body === undefined) return;
    if (head.framing.kind === "length" && this.#bodyBytes !== head.framing.bytes) throw wrongLength();
    this.#body = undefined;
    this.#bodyLimit?.[Symbol.dispose]();
    this.#answer(() => {
      if (this.#bodyBytes > 0) setLength(head.headers, this.#bodyBytes);
      const request = requestOf(head, this.#bodyBytes > 0 ? body.bytes() : undefined, info, this.#controller.signal);
      body.release(); // The request has a copy.
      return request;
    });
  }

  #releaseBody(): void {
    this.#body?.release();
    this.#body = undefined;
    this.#bodyLimit?.[Symbol.dispose]();
  }

  #answer(requestIn: () => Request): void {
    this.#run(async () => {
      let response: Response;
      try {
        response = await this.#callHandler(requestIn());
      } catch (error) {
        if (!(error instanceof RequestError)) throw error;
        response = refusalOf(error);
      }
      await this.#respond(response);
    });
  }

  async #callHandler(request: Request): Promise<Response> {
    const { host, info } = this.#parts;
    try {
      return await host.handler(request, info);
    } catch (error) {
      if (error instanceof CutConnectionError) this.reset(errorCodes.cancel);
      if (this.#isClosed) throw error;
      host.onError(error);
      return internalError();
    }
  }

  /** Runs the last task of this stream. */
  #run(task: () => Promise<void>): void {
    const { host, onEnd } = this.#parts;
    this.#setWaiting(false);
    task().catch((error: unknown) => {
      if (this.#isClosed) return;
      host.onError(error);
      this.reset(errorCodes.internalError);
    }).finally(() => this.#end(() => onEnd(true)));
  }

  #end(report: () => void): void {
    this.#setWaiting(false);
    this.#claim[Symbol.dispose]();
    this.#parts.slot[Symbol.dispose]();
    report();
  }

  async #respond(response: Response): Promise<void> {
    const { status, headers, body } = response;
    // Also heads wait, so that a client that reads nothing gets no more responses than streams.
    if (this.#parts.writer.isBlocked) await this.#waitForClient();
    const announced = headers.get("content-length");
    const target = protocolSwitchOf(response);
    if (this.#isClosed || target !== undefined) {
      target?.cancel();
      if (!this.#isClosed) this.reset(errorCodes.internalError);
      return void body?.cancel().catch(() => {});
    }
    if (isBodiless(status)) return this.#sendHead(fieldsOf(response, undefined), true);
    if (this.#head?.method === "HEAD") {
      body?.cancel().catch(() => {});
      return this.#sendHead(fieldsOf(response, announced ?? undefined), true);
    }
    if (body !== null && announced === null) return await this.#stream(response, body);
    // Until the client has read it; the memory of the request is free.
    this.#claim.hold(Number(announced ?? 0));
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (this.#isClosed) return;
    this.#sendHead(fieldsOf(response, String(bytes.length)), bytes.length === 0);
    await this.#send(bytes, true);
  }

  /** Sends a body as it is made. */
  async #stream(response: Response, body: ReadableStream<Uint8Array>): Promise<void> {
    this.#claim.hold(0);
    this.#sendHead(fieldsOf(response, undefined), false);
    const reader = body.getReader();
    this.#cancelBody = () => void reader.cancel().catch(() => {});
    while (!this.#isClosed) {
      const { done, value } = await reader.read();
      if (done) break;
      if (value.length > 0) await this.#send(value, false);
    }
    if (this.#isClosed) return;
    this.#parts.writer.write(dataFrames(new Uint8Array(0), this.#messageParts(true)));
    this.#finish();
  }

  #sendHead(fields: readonly Field[], isLast: boolean): void {
    const { writer } = this.#parts;
    const block = encodedFields(fields, writer);
    writer.tellsTableSize = false;
    writer.write(headersFrames(block, this.#messageParts(isLast)));
    if (isLast) this.#finish();
  }

  async #send(bytes: Uint8Array, isLast: boolean): Promise<void> {
    for (let at = 0; at < bytes.length && !this.#isClosed; at += maxPieceBytes) {
      const piece = bytes.length <= maxPieceBytes ? bytes : bytes.subarray(at, at + maxPieceBytes);
      await this.#sendPiece(piece, isLast && at + maxPieceBytes >= bytes.length);
    }
  }

  async #sendPiece(piece: Uint8Array, isLast: boolean): Promise<void> {
    const { writer, host: { timers, limits }, onSent } = this.#parts;
    let limit: Disposable | undefined;
    for (let at = 0; at < piece.length && !this.#isClosed;) {
      const count = Math.min(piece.length - at, this.#sendWindowBytes, writer.roomBytes);
      if (count <= 0) {
        if (this.#sendWindowBytes <= 0) {
          limit ??= timers.timer(limits.writeTimeoutMs, () => this.reset(errorCodes.cancel));
        }
        // It waits until there is room: a stream that was only woken keeps its turn.
        this.#setWaiting(true);
        await writer.wait();
        continue;
      }
      this.#setWaiting(false);
      const isEnd = isLast && at + count === piece.length;
      writer.write(dataFrames(piece.subarray(at, at + count), this.#messageParts(isEnd)));
      this.#sendWindowBytes -= count;
      writer.spend(count);
      onSent(count);
      at += count;
      if (isEnd) this.#finish();
    }
    limit?.[Symbol.dispose]();
  }

  /** Waits while the client reads nothing. */
  async #waitForClient(): Promise<void> {
    const { writer } = this.#parts;
    this.#setWaiting(true);
    while (writer.isBlocked && !this.#isClosed) await writer.wait();
    this.#setWaiting(false);
  }

  #messageParts(isLast: boolean) {
    const { id, writer: { maxFrameBytes } } = this.#parts;
    return { streamId: id, maxFrameBytes, isLast };
  }

  /** The response is complete. A client that still sends is told to stop. */
  #finish(): void {
    this.#isClosed = true;
    if (!this.#isReceived) this.#parts.writer.write(resetFrame(this.#parts.id, errorCodes.noError));
  }

  #setWaiting(isWaiting: boolean): void {
    if (this.#isWaiting === isWaiting) return;
    this.#isWaiting = isWaiting;
    this.#claim.isWaiting = isWaiting;
    this.#parts.slot.isWaiting = isWaiting;
    this.#parts.onWaiting(isWaiting);
  }
}

function wrongLength(): StreamError {
  return new StreamError(errorCodes.protocolError, "the body has another length than announced");
}

function fieldsOf(response: Response, length: string | undefined): readonly Field[] {
  const fields: Field[] = [[":status", String(response.status)], ["date", dateText()]];
  for (const field of response.headers) if (!connectionFields.has(field[0])) fields.push(field);
  if (length !== undefined) fields.push(["content-length", length]);
  return fields;
}
