/**
 * Wire: a connection that carries another protocol than HTTP, after the server has agreed to switch. openUpgrade() sends
 * the request and reads the answer on a connection of its own; wireOfDuplex() is one over a socket of Node.
 *
 * Guarantees: bytes arrive in order, those behind the head of the answer included; a reader that is slow pauses the socket;
 * the end is reported once; an answer that is not a switch has at most 64 KiB of body.
 */
import { Buffer } from "node:buffer";
import type { Duplex } from "node:stream";
import { onAbort } from "../process/mod.ts";
import { joined } from "./bytes.ts";
import { bodyDecoder, responseRules } from "./http_body.ts";
import { findHeadEnd, maxInterimAnswers, maxResponseHeadBytes, parseResponseHead, responseError } from "./http_head.ts";

/** One connection in both directions. */
export interface Wire {
  /** Gets the received bytes. Set it at once; until then they are kept. */
  onBytes: (bytes: Uint8Array) => void;
  /** Called once, when the connection has ended; without an error when the peer has closed it in order. */
  onEnd: (error: Error | undefined) => void;
  /** Resolves when the bytes have left, or the connection has ended. */
  write(bytes: Uint8Array): Promise<void>;
  /** Reads no further bytes until {@link Wire.resume}. */
  pause(): void;
  /** Reads again. */
  resume(): void;
  /** Ends the connection now. */
  end(): void;
}

/** What the server answered: it switched protocols, or responded as to any other request. */
export type UpgradeAnswer =
  | { readonly kind: "switched"; readonly headers: Headers; readonly wire: Wire }
  | { readonly kind: "refused"; readonly response: Response };

/** The most bytes of the body of an answer that is not a switch. */
const maxRefusalBytes = 64 * 1024;

/**
 * Sends the request and reads the answer.
 *
 * @throws the error of the connection or of the signal
 */
export function openUpgrade(
  wire: Wire,
  request: { readonly head: string; readonly method: string; readonly signal: AbortSignal },
): Promise<UpgradeAnswer> {
  const { head, method, signal } = request;
  return new Promise((resolve, reject) => {
    let received: Uint8Array = new Uint8Array(0);
    let interimAnswers = 0;
    const listening = onAbort(signal, () => fail(signal.reason));
    const release = () => listening[Symbol.dispose]();
    const fail = (error: unknown) => {
      release();
      wire.end();
      reject(error);
    };
    wire.onEnd = (error) => fail(error ?? connectionClosed());
    wire.onBytes = (bytes) => {
      try {
        received = received.length === 0 ? bytes : joined(received, bytes);
        readHead();
      } catch (error) {
        fail(error);
      }
    };
    const readHead = () => {
      const end = findHeadEnd(received, 0, responseError);
      if (end < 0 ? received.length > maxResponseHeadBytes : end > maxResponseHeadBytes) {
        throw responseError("its head is too large");
      }
      if (end < 0) return;
      const answer = parseResponseHead(received.subarray(0, end), method);
      const rest = received.subarray(end);
      if (answer.status === 101) {
        release();
        return resolve({ kind: "switched", headers: answer.headers, wire: new PrefixedWire(wire, rest) });
      }
      if (answer.status < 200) {
        if (++interimAnswers > maxInterimAnswers) throw responseError("it has too many interim answers");
        received = rest;
        return readHead();
      }
      readRefusal(answer, rest);
    };
    const readRefusal = ({ status, headers, framing }: ReturnType<typeof parseResponseHead>, rest: Uint8Array) => {
      const decoder = bodyDecoder(framing, responseRules);
      let body: Uint8Array = new Uint8Array(0);
      const finish = () => {
        release();
        wire.onEnd = () => {};
        wire.end();
        const isBodiless = status === 204 || status === 205 || status === 304;
        const copy = isBodiless ? null : new Uint8Array(body.subarray(0, maxRefusalBytes));
        headers.delete("content-length");
        headers.delete("transfer-encoding");
        resolve({ kind: "refused", response: new Response(copy, { status, headers }) });
      };
      const take = (bytes: Uint8Array) => {
        const part = decoder.take(new Uint8Array(bytes));
        if (part.length > 0) body = joined(body, part);
        if (decoder.isComplete || body.length >= maxRefusalBytes) finish();
      };
      wire.onEnd = (error) => framing.kind === "untilClose" ? finish() : fail(error ?? connectionClosed());
      wire.onBytes = (bytes) => {
        try {
          take(bytes);
        } catch (error) {
          fail(error);
        }
      };
      take(rest);
    };
    wire.write(Buffer.from(head, "latin1")).catch(fail);
  });
}

function connectionClosed(): Error {
  return Object.assign(new Error("the connection was closed"), { code: "ECONNRESET" });
}

/** A wire whose first bytes were read with the head of the answer. */
class PrefixedWire implements Wire {
  readonly #wire: Wire;
  #first: Uint8Array | undefined;
  #ended: { readonly error: Error | undefined } | undefined;
  #onBytes: ((bytes: Uint8Array) => void) | undefined;
  #onEnd: ((error: Error | undefined) => void) | undefined;

  constructor(wire: Wire, first: Uint8Array) {
    this.#wire = wire;
    this.#first = first.length === 0 ? undefined : first.slice();
    wire.onBytes = (bytes) => {
      if (this.#onBytes !== undefined) this.#onBytes(bytes);
      else this.#first = this.#first === undefined ? bytes.slice() : joined(this.#first, bytes);
    };
    wire.onEnd = (error) => {
      if (this.#onEnd !== undefined) this.#onEnd(error);
      else this.#ended = { error };
    };
  }

  set onBytes(listener: (bytes: Uint8Array) => void) {
    this.#onBytes = listener;
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined) listener(first);
  }

  set onEnd(listener: (error: Error | undefined) => void) {
    this.#onEnd = listener;
    if (this.#ended !== undefined) listener(this.#ended.error);
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.#wire.write(bytes);
  }

  pause(): void {
    this.#wire.pause();
  }

  resume(): void {
    this.#wire.resume();
  }

  end(): void {
    this.#wire.end();
  }
}

/**
 * The wire of a socket of Node, on Node, on Deno, and behind proxies.
 *
 * @param options `isHalfOpen`: the peer may send no more and still read.
 */
export function wireOfDuplex(socket: Duplex, { isHalfOpen = false }: { readonly isHalfOpen?: boolean } = {}): Wire {
  let hasEnded = false;
  let error: Error | undefined;
  const wire: Wire = {
    onBytes: () => {},
    onEnd: () => {},
    write: (bytes) =>
      new Promise((resolve) => {
        if (hasEnded) return resolve();
        socket.once("close", resolve);
        socket.write(bytes, () => {
          socket.off("close", resolve);
          resolve();
        });
      }),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    end: () => void socket.destroy(),
  };
  socket.on("data", (chunk: Uint8Array) => {
    if (!hasEnded) wire.onBytes(chunk);
  });
  socket.on("error", (reason: Error) => error ??= reason);
  if (!isHalfOpen) socket.on("end", () => socket.destroy());
  socket.on("close", () => {
    if (hasEnded) return;
    hasEnded = true;
    wire.onEnd(error);
  });
  return wire;
}
