/**
 * ClientExchange: one request and its answer on a connection. It turns what the socket brings into a Response.
 *
 * Guarantees: an answer that is there as a whole has a body of bytes, any other a stream that holds the peer up while its
 * reader is behind; an abort, a cancelled body and a broken connection end the exchange once, and the connection with it.
 */
import type { BunSocket } from "./_bun_socket.ts";
import { ReadPacer } from "./_read_pacer.ts";
import { type ResponseBodyReader, responseBodyReader } from "./_response_body.ts";
import { malformed, mostHeadBytes, parseResponseHead } from "./_response_head.ts";
import { joined } from "./_byte_source.ts";
import { ownedBytes } from "./release_bytes.ts";

/** One request, ready to be sent. */
export interface ClientExchangeOptions {
  readonly method: string;
  readonly signal: AbortSignal;
  /** The answer may stream for minutes; what it brings may be gathered for a moment. */
  readonly longLived: boolean;
  /** The answer is complete, or never will be. */
  readonly onDone: (isReusable: boolean) => void;
}

/** Bytes read ahead of the consumer before the socket is paused. */
const readAheadBytes = 256 * 1024;

const latin1 = new TextDecoder("latin1");
const empty = new Uint8Array(0);
const lineFeed = 10;

/** One request under way. */
export class ClientExchange {
  /** Resolves when the head of the answer has come. */
  readonly answer: Promise<Response>;
  readonly #socket: BunSocket;
  readonly #options: ClientExchangeOptions;
  readonly #resolve: (response: Response) => void;
  readonly #reject: (error: unknown) => void;
  readonly #aborted = () => this.fail(this.#options.signal.reason);
  #head: Uint8Array<ArrayBuffer> = empty;
  #body: ResponseBodyReader | undefined;
  #keepsAlive = false;
  #endsWithConnection = false;
  #controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined;
  #pacer: ReadPacer | undefined;
  #isDone = false;

  constructor(socket: BunSocket, options: ClientExchangeOptions) {
    this.#socket = socket;
    this.#options = options;
    ({ promise: this.answer, resolve: this.#resolve, reject: this.#reject } = Promise.withResolvers<Response>());
    options.signal.addEventListener("abort", this.#aborted, { once: true });
  }

  /** Takes what the peer sent. */
  receive(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.#isDone) return;
    try {
      if (this.#body === undefined) this.#receiveHead(bytes);
      else this.#receiveBody(this.#body, bytes);
    } catch (error) {
      this.fail(error);
    }
  }

  /** The connection has ended. */
  closed(error: Error): void {
    // A body without length or chunks ends here, as it should; only old proxies send such.
    if (!this.#endsWithConnection || this.#isDone) return this.fail(error);
    this.#finish(false);
    this.#controller?.close();
  }

  /** Ends the exchange with an error. */
  fail(error: unknown): void {
    if (this.#isDone) return;
    this.#finish(false);
    this.#reject(error);
    this.#controller?.error(error);
  }

  #receiveHead(bytes: Uint8Array<ArrayBuffer>): void {
    const received = this.#head.length === 0 ? bytes : joined(this.#head, bytes);
    const end = headEnd(received);
    if (end < 0 ? received.length > mostHeadBytes : end > mostHeadBytes) throw malformed("its head is too large");
    this.#head = end < 0 ? received : empty;
    if (end < 0) return;
    const head = parseResponseHead(latin1.decode(received.subarray(0, end - 4)), this.#options.method);
    const rest = received.subarray(end);
    if (head.status === 101) throw malformed("it switches to another protocol");
    if (head.status < 200) return this.#receiveHead(rest);
    this.#keepsAlive = head.keepsAlive;
    const body = responseBodyReader(head.framing);
    const first = body.take(rest);
    const { status, headers } = head;
    if (body.isComplete) {
      this.#resolve(new Response(first.length === 0 ? null : first, { status, headers }));
      return this.#finish(!body.hasExcess);
    }
    this.#body = body;
    this.#endsWithConnection = head.framing.kind === "rest";
    this.#pacer = new ReadPacer(this.#socket, { gathers: this.#options.longLived });
    this.#resolve(new Response(this.#stream(first), { status, headers }));
  }

  #receiveBody(body: ResponseBodyReader, bytes: Uint8Array<ArrayBuffer>): void {
    const part = body.take(bytes);
    if (part.length > 0) this.#controller?.enqueue(ownedBytes(part));
    if (!body.isComplete) return this.#pacer?.received((this.#controller?.desiredSize ?? 0) <= 0);
    this.#finish(!body.hasExcess);
    this.#controller?.close();
  }

  #stream(first: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
    return new ReadableStream<Uint8Array<ArrayBuffer>>({
      start: (controller) => {
        this.#controller = controller;
        if (first.length > 0) controller.enqueue(first);
      },
      pull: () => this.#pacer?.drained(),
      cancel: () => this.#finish(false),
    }, { highWaterMark: readAheadBytes, size: (chunk) => chunk.byteLength });
  }

  #finish(isInStep: boolean): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#options.signal.removeEventListener("abort", this.#aborted);
    this.#pacer?.[Symbol.dispose]();
    this.#options.onDone(isInStep && this.#keepsAlive && this.#socket.isFlushed);
  }
}

/** The index behind the blank line that ends a head, or -1. */
function headEnd(bytes: Uint8Array<ArrayBuffer>): number {
  for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) {
    if (bytes[at - 2] === lineFeed) return at + 1;
  }
  return -1;
}
