/**
 * BunSocket: one TCP connection, with or without TLS, over the sockets of Bun. They read on the thread that parses. A
 * stream of 50 MB costs a quarter of the CPU of Bun's fetch, which wakes a second thread for every TLS record.
 *
 * Guarantees: dial() resolves after the certificate of the server was verified, so nothing is sent to another server; it
 * settles within 20 s, or at once when its signal aborts; the end of a connection is reported once.
 */
import { Buffer } from "node:buffer";
import { onAbort } from "../process/mod.ts";
import { refuseCertificate, refuseWithoutPath, type ServerCertificate, trustsBelowRoots } from "./certificate_path.ts";
import { connectStepMs, stepTimedOut } from "./http_client_options.ts";
import type { Timers } from "./timers.ts";

/** Where to connect, and which certificates to trust. */
export interface SocketTarget {
  readonly hostname: string;
  readonly port: number;
  /** Undefined: no TLS. */
  readonly tls: TlsSettings | undefined;
}

/** Certificates as PEM text. */
export interface TlsSettings {
  /** The only authorities that are trusted. @default those of the system */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** The SNI; empty for none. */
  readonly serverName: string;
  /** The name or address in the certificate. */
  readonly expectedName: string;
  readonly rejectUnauthorized: boolean;
}

/** The part of the sockets of Bun that this file uses. */
interface NativeSocket {
  /** Returns how many of the bytes were taken; the `drain` handler is called when there is room for more. */
  write(data: Uint8Array | string): number;
  pause(): void;
  resume(): void;
  terminate(): void;
  /** Calls the `timeout` handler after so many seconds without bytes; 0: never. */
  timeout(seconds: number): void;
  ref(): void;
  unref(): void;
  setKeepAlive(isOn: boolean, initialDelayMs: number): boolean;
  setNoDelay(isOn: boolean): boolean;
  /** `false`: with the certificates of its issuers. */
  getPeerCertificate(isAbbreviated: false): ServerCertificate;
}

interface NativeHandlers {
  open(socket: NativeSocket): void;
  handshake(socket: NativeSocket, hasSucceeded: boolean, error: Error | null): void;
  data(socket: NativeSocket, bytes: Uint8Array<ArrayBuffer>): void;
  drain(): void;
  end(): void;
  timeout(): void;
  error(socket: NativeSocket, error: Error): void;
  close(socket: NativeSocket, error?: Error): void;
  connectError(socket: NativeSocket, error: Error): void;
}

declare const Bun: {
  connect(options: SocketTarget & { readonly socket: NativeHandlers }): Promise<NativeSocket>;
};

/** Idle connections end after 60 s, before kube-apiserver ends them at 90 s, so that no write uses a closing connection. */
const idleSeconds = 60;
/** TCP keep-alive probes start after 30 s without bytes, as in the dialer of client-go. */
const keepAliveMs = 30_000;

const empty = new Uint8Array(0);

/** Options of {@link dial}. */
export interface DialOptions {
  /** Ends the connection while it is being opened. */
  readonly signal: AbortSignal;
  readonly timers: Timers;
}

/** Connects. @throws the error of the system or of BoringSSL, with its `code`; the reason of the signal */
export function dial(target: SocketTarget, options: DialOptions): Promise<BunSocket> {
  const { signal, timers } = options;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const socket = new BunSocket();
    const limit = (step: string) => timers.timer(connectStepMs, () => onFailure(stepTimedOut(step)));
    const onReady = () => {
      release();
      resolve(socket);
    };
    const onFailure = (error: Error) => {
      release();
      reject(signal.aborted ? signal.reason : error);
      socket.end(error);
    };
    let timer = limit("the connection");
    const listening = onAbort(signal, () => onFailure(connectionClosed()));
    const release = () => {
      timer[Symbol.dispose]();
      listening[Symbol.dispose]();
    };
    const { tls } = target;
    const expected = { name: tls?.expectedName ?? "", ca: tls?.ca };
    // A server may be trusted without a path to a root, so Bun only tells what it has found.
    const isJudgedHere = tls?.rejectUnauthorized === true && trustsBelowRoots(tls.ca);
    Bun.connect({
      ...target,
      ...(isJudgedHere ? { tls: { ...tls, rejectUnauthorized: false } } : {}),
      socket: {
        open(native) {
          native.setNoDelay(true);
          native.setKeepAlive(true, keepAliveMs);
          socket.attach(native);
          if (socket.hasEnded) return;
          if (tls === undefined) return onReady();
          timer[Symbol.dispose]();
          timer = limit("the TLS handshake");
        },
        handshake(native, hasSucceeded, error) {
          // Without verification, a wrong name is reported as a failure too; after a real failure the socket closes.
          if (tls?.rejectUnauthorized === false) return onReady();
          if (!isJudgedHere && (!hasSucceeded || error !== null)) return onFailure(error ?? connectionClosed());
          const certificate = native.getPeerCertificate(false);
          const weakness = error === null
            ? refuseCertificate(certificate, expected)
            : refuseWithoutPath(error, certificate, expected);
          if (weakness === undefined) onReady();
          else onFailure(weakness);
        },
        data: (_native, bytes) => socket.onBytes(bytes),
        drain: () => socket.flush(),
        end: () => socket.end(connectionClosed()),
        timeout: () => socket.end(connectionClosed()),
        error: (_native, error) => onFailure(error),
        close: (_native, error) => onFailure(error ?? connectionClosed()),
        connectError: (_native, error) => onFailure(error),
      },
    }).catch(onFailure);
  });
}

/** One connection. */
export class BunSocket {
  /** Gets the received bytes. No other code uses their memory. */
  onBytes: (bytes: Uint8Array<ArrayBuffer>) => void = () => {};
  /** Called once, when the connection has ended for any reason. */
  onEnd: (error: Error) => void = () => {};
  #native: NativeSocket | undefined;
  #unsent: Uint8Array = empty;
  #hasEnded = false;
  #onFlushed: () => void = () => {};

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** True if all written bytes have left the process. */
  get isFlushed(): boolean {
    return this.#unsent.length === 0;
  }

  /** For `dial`: sets the socket of Bun. */
  attach(native: NativeSocket): void {
    this.#native = native;
    if (this.#hasEnded) native.terminate();
  }

  /** Sends bytes. Call it again only when `isFlushed` is true. */
  write(bytes: Uint8Array): void {
    this.#unsent = bytes;
    this.flush();
  }

  /** Sends a text of ASCII, as {@link write}. Its bytes are made only if the system has no room for all of them. */
  writeAscii(text: string): void {
    if (this.#hasEnded || this.#native === undefined) return;
    const taken = Math.max(0, this.#native.write(text));
    if (taken < text.length) this.#unsent = Buffer.from(text.slice(taken), "latin1");
  }

  /** Sends bytes. @returns when all of them have left the process, or the connection has ended */
  writeAll(bytes: Uint8Array): Promise<void> {
    this.write(bytes);
    if (this.#hasEnded || this.isFlushed) return Promise.resolve();
    return new Promise((resolve) => this.#onFlushed = resolve);
  }

  /** Sends the bytes that the system had no room for. */
  flush(): void {
    if (this.#hasEnded || this.#native === undefined || this.isFlushed) return;
    const taken = this.#native.write(this.#unsent);
    this.#unsent = taken >= this.#unsent.length ? empty : this.#unsent.subarray(Math.max(0, taken));
    if (this.isFlushed) this.#onFlushed();
  }

  pause(): void {
    if (!this.#hasEnded) this.#native?.pause();
  }

  resume(): void {
    if (!this.#hasEnded) this.#native?.resume();
  }

  /** No request uses it: it ends after a while, and does not keep the process alive. */
  setIdle(): void {
    this.#native?.timeout(idleSeconds);
    this.#native?.unref();
  }

  /** A request uses it. */
  setActive(): void {
    this.#native?.timeout(0);
    this.#native?.ref();
  }

  /** Ends the connection now. */
  end(error: Error): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#native?.terminate();
    this.#onFlushed();
    this.onEnd(error);
  }
}

/** The error of a connection that the peer closed. */
export function connectionClosed(): Error {
  return Object.assign(new Error("the connection was closed"), { code: "ECONNRESET" });
}
