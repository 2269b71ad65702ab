/**
 * ClientExchange: one request and its response on a connection of `bun_http_client.ts`. It makes a Response from the bytes
 * that the socket receives.
 *
 * Guarantees: a response that arrived completely has a body of bytes; the body of any other is a stream, which pauses
 * the socket while its reader is behind. An abort, a cancelled body and a broken connection end the exchange once, and
 * the connection with it.
 */
import { onAbort } from "../process/mod.ts";
import type { BunSocket } from "./bun_socket.ts";
import { joined, ownedBytes } from "./bytes.ts";
import { type BodyDecoder, bodyDecoder, responseRules } from "./http_body.ts";
import { findHeadEnd, maxInterimAnswers, maxResponseHeadBytes, parseResponseHead, responseError } from "./http_head.ts";
import { rememberText } from "./known_text.ts";
import { ReadPacer } from "./read_pacer.ts";

/** A request that was sent. */
export interface ClientExchangeOptions {
  readonly method: string;
  readonly signal: AbortSignal;
  /** The response may stream for minutes; a busy stream is read every few milliseconds. */
  readonly longLived: boolean;
  /** Called once, when the response is complete or has failed. */
  readonly onDone: (isReusable: boolean) => void;
}

/** Bytes read ahead of the consumer before the socket is paused. */
const readAheadBytes = 256 * 1024;

/** Larger bodies are left to their readers, which decode them in parts. */
const maxTextBytes = 64 * 1024;
/** The first byte of a byte order mark, which readers of text remove. */
const byteOrderMark = 0xef;

const empty = new Uint8Array(0);

/** Fails for bytes that are not UTF-8. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A response with its whole body. Its reader is usually in this process, so that its text is decoded once, here. */
function wholeResponse(body: Uint8Array<ArrayBuffer>, init: ResponseInit): Response {
  if (body.length === 0) return new Response(null, init);
  if (body.length > maxTextBytes || body[0] === byteOrderMark) return new Response(body, init);
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    return new Response(body, init);
  }
  return rememberText(new Response(body, init), text);
}

/** A request in flight. */
export class ClientExchange {
  /** Resolves when the head of the response has arrived. */
  readonly response: Promise<Response>;
  readonly #socket: BunSocket;
  readonly #options: ClientExchangeOptions;
  readonly #resolve: (response: Response) => void;
  readonly #reject: (error: unknown) => void;
  #listening: Disposable | undefined;
  #head: Uint8Array<ArrayBuffer> = empty;
  #body: BodyDecoder | undefined;
  #keepsAlive = false;
  #interimAnswers = 0;
  #endsWithConnection = false;
  #controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined;
  #pacer: ReadPacer | undefined;
  #isDone = false;

  constructor(socket: BunSocket, options: ClientExchangeOptions) {
    this.#socket = socket;
    this.#options = options;
    ({ promise: this.response, resolve: this.#resolve, reject: this.#reject } = Promise.withResolvers<Response>());
  }

  /** Ends the exchange with the signal from now on. @returns false if it has ended already */
  start(): boolean {
    const { signal } = this.#options;
    this.#listening = onAbort(signal, () => this.fail(signal.reason));
    return !this.#isDone;
  }

  /** Takes bytes of the server. */
  receive(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.#isDone) return;
    try {
      if (this.#body === undefined) this.#receiveHead(bytes);
      else this.#receiveBody(this.#body, bytes);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Called when the connection has ended. */
  connectionEnded(error: Error): void {
    // This is the regular end of a body without length and chunks; only old proxies send such bodies.
    if (!this.#endsWithConnection || this.#isDone) return this.fail(error);
    this.#finish(false);
    this.#controller?.close();
  }

  /** Ends the exchange with an error, unless it has ended. */
  fail(error: unknown): void {
    if (this.#isDone) return;
    this.#finish(false);
    this.#reject(error);
    this.#controller?.error(error);
  }

  #receiveHead(bytes: Uint8Array<ArrayBuffer>): void {
    const received = this.#head.length === 0 ? bytes : joined(this.#head, bytes);
    const end = findHeadEnd(received, this.#head.length, responseError);
    if (end < 0 ? received.length > maxResponseHeadBytes : end > maxResponseHeadBytes) {
      throw responseError("its head is too large");
    }
    this.#head = end < 0 ? received : empty;
    if (end < 0) return;
    const head = parseResponseHead(received.subarray(0, end), this.#options.method);
    const rest = received.subarray(end);
    if (head.status === 101) throw responseError("it switches to another protocol");
    if (head.status < 200) {
      if (++this.#interimAnswers > maxInterimAnswers) throw responseError("it has too many interim answers");
      return this.#receiveHead(rest);
    }
    this.#keepsAlive = head.keepsAlive;
    const body = bodyDecoder(head.framing, responseRules);
    const first = body.take(rest);
    const { status, headers } = head;
    if (body.isComplete) {
      this.#resolve(wholeResponse(first, { status, headers }));
      return this.#finish(body.excessBytes === 0);
    }
    this.#body = body;
    this.#endsWithConnection = head.framing.kind === "untilClose";
    this.#pacer = new ReadPacer(this.#socket, { isPaced: this.#options.longLived });
    this.#resolve(new Response(this.#stream(first), { status, headers }));
  }

  #receiveBody(body: BodyDecoder, bytes: Uint8Array<ArrayBuffer>): void {
    const part = body.take(bytes);
    if (part.length > 0) this.#controller?.enqueue(ownedBytes(part));
    if (!body.isComplete) return this.#pacer?.onRead((this.#controller?.desiredSize ?? 0) <= 0);
    this.#finish(body.excessBytes === 0);
    this.#controller?.close();
  }

  #stream(first: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
    return new ReadableStream<Uint8Array<ArrayBuffer>>({
      start: (controller) => {
        this.#controller = controller;
        if (first.length > 0) controller.enqueue(first);
      },
      pull: () => this.#pacer?.onRoom(),
      cancel: () => this.#finish(false),
    }, { highWaterMark: readAheadBytes, size: (chunk) => chunk.byteLength });
  }

  /** @param isInStep True if the connection has no bytes behind the response. */
  #finish(isInStep: boolean): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#listening?.[Symbol.dispose]();
    this.#pacer?.[Symbol.dispose]();
    this.#options.onDone(isInStep && this.#keepsAlive && this.#socket.isFlushed);
  }
}
