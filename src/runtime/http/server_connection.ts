/**
 * ServerConnection: one connection of the server in `serve.ts`, from its first byte to its last. It reads each request
 * completely, passes it to the handler, and sends the response before it reads the next request.
 *
 * Guarantees: a client that is slow with a head or a body is cut off at the time limit; a malformed request gets its
 * status and the connection closes; the signal of the request aborts when the client leaves; run() never rejects.
 */
import type { Socket } from "node:net";
import { CutConnectionError } from "./cut_connection.ts";
import { nextTurn } from "../process/mod.ts";
import { ByteCollector, ByteSource } from "./byte_source.ts";
import { bodyDecoder, bodyTooLarge, requestRules } from "./http_body.ts";
import { findHeadEnd, parseRequestHead, RequestError, type RequestHead } from "./http_head.ts";
import { type ProtocolSwitch, protocolSwitchOf } from "./protocol_switch.ts";
import { type ByteSink, switchHead, writeResponse } from "./response_writer.ts";
import type { ConnectionInfo, ReadsBody, ServeHandler, ServeLimits } from "./serve_options.ts";
import {
  bodiesTooLarge,
  clientLeft,
  internalError,
  receivedHeadOf,
  refusalOf,
  requestOf,
  setLength,
} from "./server_request.ts";
import type { Claim, SharedBudget } from "./shared_budget.ts";
import { endSocket } from "./socket_end.ts";
import { SourceWire } from "./source_wire.ts";
import type { Timers } from "./timers.ts";

/** A connection in any version of HTTP. */
export interface HttpConnection {
  /** Serves requests until the connection ends. Never rejects. */
  run(): Promise<void>;
  /** Ends the connection now. */
  destroy(): void;
  /** Ends the connection as soon as no request is in flight. */
  retire(): void;
}

/** The state that all connections of one server share. */
export interface ConnectionHost {
  readonly handler: ServeHandler;
  readonly readsBody: ReadsBody | undefined;
  readonly limits: ServeLimits;
  readonly timers: Timers;
  readonly onError: (error: unknown) => void;
  /** True if responses ask their clients to reconnect elsewhere. */
  readonly isDraining: boolean;
  /** The bytes of the bodies in memory, over all connections. */
  readonly bodies: SharedBudget;
  /** The connections, and the requests in flight of those that carry several. */
  readonly slots: SharedBudget;
  /** The connections that have switched protocols. */
  readonly switched: Set<object>;
}

/** One accepted connection. */
export interface AcceptedConnection {
  readonly info: ConnectionInfo;
  /** Its part of the limit of connections; waiting while the server waits for the client. */
  readonly slot: Claim;
}

/**
 * Milliseconds without a written byte after which a client that has closed its half of the connection counts as gone. One
 * that waits for its response cannot be told from one that left: both send the same.
 */
const halfClosedMs = 2_000;

/** The connection of one client. */
export class ServerConnection implements HttpConnection {
  readonly #socket: Socket;
  readonly #host: ConnectionHost;
  readonly #info: ConnectionInfo;
  readonly #slot: Claim;
  readonly #source: ByteSource;
  readonly #sink: ByteSink;
  #request: AbortController | undefined;
  /** The connection in another protocol. */
  #wire: SourceWire | undefined;
  #mustClose = false;
  /** Its part of the memory of bodies: first the one of the request, then the one of the response. */
  #body: Claim | undefined;
  /** Since the client has closed its half of the connection. */
  #answerLimit: Disposable | undefined;

  constructor(socket: Socket, { info, slot }: AcceptedConnection, host: ConnectionHost) {
    this.#socket = socket;
    this.#info = info;
    this.#slot = slot;
    this.#host = host;
    this.#source = new ByteSource(socket, {
      onHalfClose: () => this.#limitAnswer(),
      onClose: () => {
        this.#request?.abort(clientLeft());
        this.#wire?.end();
      },
    });
    this.#sink = { write: (bytes) => this.#write(bytes) };
  }

  /** Ends the connection now; the signal of a request in flight aborts. */
  destroy(): void {
    this.#mustClose = true;
    this.#request?.abort(clientLeft());
    this.#source.fail(clientLeft());
    this.#socket.destroy();
  }

  /** Ends the connection as soon as no request is in flight. */
  retire(): void {
    this.#mustClose = true;
    if (this.#request === undefined && !this.#host.switched.has(this)) this.destroy();
  }

  /** Serves requests until the connection ends. */
  async run(): Promise<void> {
    try {
      while (!this.#mustClose && await this.#serveOne()) {
        // Requests that arrived together take turns with those of other connections.
        if (this.#source.bytes.length > 0) await nextTurn();
      }
    } catch (error) {
      if (error instanceof RequestError) await this.#sendError(error);
      else if (!this.#source.hasEnded && !this.#mustClose) this.#host.onError(error);
      else this.#socket.destroy();
    } finally {
      this.#slot.isWaiting = true;
      await endSocket(this.#socket, this.#source, this.#host);
    }
  }

  /** @returns true if another request may follow */
  async #serveOne(): Promise<boolean> {
    const head = await this.#readHead();
    if (head === undefined) return false;
    let isAnswered = false;
    const end = () => isAnswered ? this.destroy() : this.#source.fail(bodiesTooLarge());
    using claim = this.#host.bodies.claim(this.#info.remoteAddress, end);
    this.#body = claim;
    try {
      const { response, isBodyLeft } = await this.#answer(head, claim);
      isAnswered = true;
      const target = protocolSwitchOf(response);
      if (target !== undefined) {
        claim.hold(0);
        await this.#switchTo(target);
        return false;
      }
      // Until the client has read it; the memory of the request is free.
      claim.hold(Number(response.headers.get("content-length") ?? 0));
      const keepsAlive = head.keepsAlive && !isBodyLeft && !this.#mustClose && !this.#host.isDraining;
      const isSent = await writeResponse(this.#sink, response, { method: head.method, keepsAlive });
      return isSent && keepsAlive;
    } finally {
      this.#body = undefined;
      this.#request = undefined;
      this.#answerLimit?.[Symbol.dispose]();
    }
  }

  /** Speaks another protocol until its end. */
  async #switchTo(target: ProtocolSwitch): Promise<void> {
    const { switched, limits } = this.#host;
    if (switched.size >= limits.maxSwitchedConnections) {
      target.cancel();
      throw new RequestError(503, "too many connections have switched protocols");
    }
    switched.add(this);
    try {
      if (!await this.#sink.write(switchHead(target.headers))) return target.cancel();
      // The limit of a client that waits for its response does not apply any more.
      this.#request = undefined;
      const wire = this.#wire = new SourceWire(this.#source, this.#sink);
      await Promise.all([wire.run(), target.run(wire).finally(() => wire.end())]);
    } finally {
      switched.delete(this);
    }
  }

  /** Starts the time limit again, for a client that sends no more and waits for a response. */
  #limitAnswer(): void {
    if (this.#request === undefined || !this.#source.hasEnded) return;
    this.#answerLimit?.[Symbol.dispose]();
    this.#answerLimit = this.#host.timers.timer(halfClosedMs, () => this.destroy());
  }

  /** Reads the body and calls the handler. */
  async #answer(
    head: RequestHead,
    claim: Claim,
  ): Promise<{ readonly response: Response; readonly isBodyLeft: boolean }> {
    const { readsBody } = this.#host;
    const controller = new AbortController();
    const hasBody = announcesBody(head);
    if (hasBody && readsBody !== undefined) {
      if (!readsBody(receivedHeadOf(head, this.#info), this.#info)) {
        this.#request = controller;
        const request = requestOf(head, undefined, this.#info, controller.signal);
        return { response: await this.#callHandler(request), isBodyLeft: true };
      }
    }
    const arrivedBytes = hasBody ? this.#arrivedBytes(head) : 0;
    if (arrivedBytes > 0) {
      if (!claim.take(arrivedBytes)) throw bodiesTooLarge();
      this.#request = controller;
      const request = requestOf(head, this.#source.bytes.subarray(0, arrivedBytes), this.#info, controller.signal);
      this.#source.consume(arrivedBytes);
      return { response: await this.#callHandler(request), isBodyLeft: false };
    }
    const body = hasBody ? await this.#readBody(head, claim) : undefined;
    this.#request = controller;
    if (head.framing.kind === "chunked") setLength(head.headers, body?.bytes().length ?? 0);
    const request = requestOf(head, body?.bytes(), this.#info, controller.signal);
    // The request has a copy.
    body?.release();
    return { response: await this.#callHandler(request), isBodyLeft: false };
  }

  /** The length of a body that has arrived completely, as most do: it is passed on without a copy of our own. Else 0. */
  #arrivedBytes({ method, framing, expectsContinue }: RequestHead): number {
    if (framing.kind !== "length" || expectsContinue || method === "GET" || method === "HEAD") return 0;
    const isWhole = framing.bytes <= this.#source.bytes.length && framing.bytes <= this.#host.limits.maxBodyBytes;
    return isWhole ? framing.bytes : 0;
  }

  async #callHandler(request: Request): Promise<Response> {
    this.#limitAnswer();
    try {
      return await this.#host.handler(request, this.#info);
    } catch (error) {
      if (error instanceof CutConnectionError) this.destroy();
      if (request.signal.aborted) throw error;
      this.#host.onError(error);
      return internalError();
    }
  }

  async #readHead(): Promise<RequestHead | undefined> {
    const { limits } = this.#host;
    if (this.#source.bytes.length === 0 && !await this.#waitForRequest()) return undefined;
    let end = this.#headEnd(0);
    if (end < 0) {
      // Nearly every head arrives in one piece and needs no timer.
      using _deadline = this.#deadline(limits.headerTimeoutMs, "the head took too long");
      while (end < 0) {
        const scannedTo = this.#source.bytes.length;
        if (!await this.#source.more()) return undefined;
        end = this.#headEnd(scannedTo);
      }
    }
    const head = parseRequestHead(this.#source.bytes.subarray(0, end), limits);
    this.#source.consume(end);
    return head;
  }

  /** The index where the head ends; -1 if more bytes are needed. */
  #headEnd(scannedTo: number): number {
    const { maxHeaderBytes } = this.#host.limits;
    const { bytes } = this.#source;
    const end = findHeadEnd(bytes, scannedTo);
    if (end > maxHeaderBytes || (end < 0 && bytes.length > maxHeaderBytes)) {
      throw new RequestError(431, `the head is larger than ${maxHeaderBytes} bytes`);
    }
    return end;
  }

  async #readBody({ method, framing, expectsContinue }: RequestHead, claim: Claim): Promise<ByteCollector> {
    const { maxBodyBytes, bodyTimeoutMs } = this.#host.limits;
    const isLength = framing.kind === "length";
    if (isLength && framing.bytes > maxBodyBytes) throw bodyTooLarge(maxBodyBytes);
    if (method === "GET" || method === "HEAD") throw new RequestError(400, `a ${method} has a body`);
    const decoder = bodyDecoder(framing, requestRules(maxBodyBytes));
    const body = new ByteCollector(isLength ? framing.bytes : maxBodyBytes);
    if (expectsContinue) await this.#sink.write(continueBytes);
    // Created when the body is not there yet: a small body arrives with its head.
    let deadline: Disposable | undefined;
    claim.isWaiting = true;
    try {
      while (!decoder.isComplete) {
        if (this.#source.bytes.length === 0) {
          deadline ??= this.#deadline(bodyTimeoutMs, "the body took too long");
          if (!await this.#source.more()) throw clientLeft();
        }
        const receivedBytes = this.#source.bytes.length;
        const part = decoder.take(this.#source.bytes);
        const takenBytes = receivedBytes - decoder.excessBytes;
        if (!claim.take(body.growthBytes(part.length))) throw bodiesTooLarge();
        body.add(part);
        this.#source.consume(takenBytes);
      }
      return body;
    } catch (error) {
      body.release();
      throw error;
    } finally {
      claim.isWaiting = false;
      deadline?.[Symbol.dispose]();
    }
  }

  /** Waits for the next request; false if the client has closed, or was idle for too long. */
  async #waitForRequest(): Promise<boolean> {
    using _deadline = this.#deadline(this.#host.limits.idleTimeoutMs, undefined);
    return await this.#source.more();
  }

  /**
   * The time limit of a wait for the client. Dispose it when the wait is over.
   *
   * @param ms The limit; 0 for none.
   * @param state The reason that the client gets after that; undefined to end the connection without one.
   */
  #deadline(ms: number, state: string | undefined): Disposable {
    const { timers } = this.#host;
    this.#setWaiting(true);
    const timer = ms === 0
      ? undefined
      : timers.timer(ms, () => state === undefined ? this.destroy() : this.#source.fail(new RequestError(408, state)));
    return {
      [Symbol.dispose]: () => {
        timer?.[Symbol.dispose]();
        this.#setWaiting(false);
      },
    };
  }

  /** Says whether the server waits for the client: others may then have its slot and its memory. */
  #setWaiting(isWaiting: boolean): void {
    this.#slot.isWaiting = isWaiting;
    if (this.#body !== undefined) this.#body.isWaiting = isWaiting;
  }

  async #sendError(error: RequestError): Promise<void> {
    await writeResponse(this.#sink, refusalOf(error), { method: "", keepsAlive: false });
  }

  /** Writes as fast as the client reads. A client that reads nothing for the time limit is cut off. */
  #write(bytes: Uint8Array): boolean | Promise<boolean> {
    return bytes.length <= maxPieceBytes ? this.#writePiece(bytes) : this.#writePieces(bytes);
  }

  async #writePieces(bytes: Uint8Array): Promise<boolean> {
    for (let at = 0; at < bytes.length; at += maxPieceBytes) {
      if (!await this.#writePiece(bytes.subarray(at, at + maxPieceBytes))) return false;
    }
    return true;
  }

  #writePiece(piece: Uint8Array): boolean | Promise<boolean> {
    if (this.#socket.destroyed || !this.#socket.writable) return false;
    this.#limitAnswer();
    return this.#socket.write(piece) ? !this.#socket.destroyed : this.#waitForReader();
  }

  async #waitForReader(): Promise<boolean> {
    using _deadline = this.#deadline(this.#host.limits.writeTimeoutMs, undefined);
    await drained(this.#socket);
    return !this.#socket.destroyed;
  }
}

/** The largest piece of a write, so that a slow client is measured by what it reads. */
const maxPieceBytes = 64 * 1024;

/** Resolves when the socket can take more, or has closed. */
function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      socket.off("drain", settle);
      socket.off("close", settle);
      resolve();
    };
    socket.on("drain", settle);
    socket.on("close", settle);
  });
}

function announcesBody({ framing }: RequestHead): boolean {
  return framing.kind === "chunked" || (framing.kind === "length" && framing.bytes > 0);
}

const continueBytes = new TextEncoder().encode("HTTP/1.1 100 Continue\r\n\r\n");
