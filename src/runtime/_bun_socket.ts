/**
 * BunSocket: one TCP connection, with TLS or without, over Bun's own sockets. They read on the thread that parses: a
 * stream of 50 MB costs a quarter of the CPU that Bun's fetch takes for it, whose second thread is woken for every TLS
 * record and wakes this one.
 *
 * Guarantees: a socket is handed out once its peer has proved who it is, so nothing is sent to anybody else; whatever ends
 * it is told once.
 */

/** Where to connect, and whom to believe. */
export interface SocketTarget {
  readonly hostname: string;
  readonly port: number;
  /** Undefined for a connection without TLS. */
  readonly tls: TlsSettings | undefined;
}

/** Certificates as PEM text. */
export interface TlsSettings {
  /** The only authorities that are believed. @default those of the system */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** The SNI, and the name or address the certificate must have. */
  readonly serverName: string;
  readonly rejectUnauthorized: boolean;
}

/** What is used of Bun's sockets. */
interface NativeSocket {
  /** Returns how many of the bytes were taken; `drain` says when there is room for more. */
  write(bytes: Uint8Array): number;
  pause(): void;
  resume(): void;
  terminate(): void;
  /** Calls the `timeout` handler after so many quiet seconds; 0 never. */
  timeout(seconds: number): void;
  ref(): void;
  unref(): void;
  setKeepAlive(isOn: boolean, initialDelayMs: number): boolean;
  setNoDelay(isOn: boolean): boolean;
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

/** Idle connections end after 60 s, before kube-apiserver ends them at 90 s: no write meets one that is just being closed. */
const idleSeconds = 60;
/** TCP keep-alive probes start after 30 s of silence, as client-go's dialer. */
const keepAliveMs = 30_000;

const empty = new Uint8Array(0);

/** Connects. @throws the system's or BoringSSL's error, with its `code` */
export function dial(target: SocketTarget): Promise<BunSocket> {
  return new Promise((resolve, reject) => {
    const socket = new BunSocket();
    const isReady = () => resolve(socket);
    const failed = (error: Error) => {
      reject(error);
      socket.end(error);
    };
    const { tls } = target;
    Bun.connect({
      ...target,
      socket: {
        open(native) {
          native.setNoDelay(true);
          native.setKeepAlive(true, keepAliveMs);
          socket.attach(native);
          if (tls === undefined) isReady();
        },
        handshake(_native, hasSucceeded, error) {
          // Without checks a wrong name is reported as a failure too; after a real one the connection closes by itself.
          const isBelieved = tls?.rejectUnauthorized === false || (hasSucceeded && error === null);
          if (isBelieved) isReady();
          else failed(error ?? connectionClosed());
        },
        data: (_native, bytes) => socket.onBytes(bytes),
        drain: () => socket.flush(),
        end: () => socket.end(connectionClosed()),
        timeout: () => socket.end(connectionClosed()),
        error: (_native, error) => failed(error),
        close: (_native, error) => failed(error ?? connectionClosed()),
        connectError: (_native, error) => failed(error),
      },
    }).catch(failed);
  });
}

/** One connection. */
export class BunSocket {
  /** Gets what the peer sends, in memory that is the receiver's own. */
  onBytes: (bytes: Uint8Array<ArrayBuffer>) => void = () => {};
  /** Called once, when the connection has ended for whatever reason. */
  onEnd: (error: Error) => void = () => {};
  #native: NativeSocket | undefined;
  #unsent: Uint8Array = empty;
  #hasEnded = false;

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Everything written has left the process. */
  get isFlushed(): boolean {
    return this.#unsent.length === 0;
  }

  /** For `dial`: gives the connection its socket. */
  attach(native: NativeSocket): void {
    this.#native = native;
    if (this.#hasEnded) native.terminate();
  }

  /** Sends bytes; call it again only when they have left. */
  write(bytes: Uint8Array): void {
    this.#unsent = bytes;
    this.flush();
  }

  /** Sends on what the system had no room for. */
  flush(): void {
    if (this.#hasEnded || this.#native === undefined || this.isFlushed) return;
    const taken = this.#native.write(this.#unsent);
    this.#unsent = taken >= this.#unsent.length ? empty : this.#unsent.subarray(Math.max(0, taken));
  }

  pause(): void {
    if (!this.#hasEnded) this.#native?.pause();
  }

  resume(): void {
    if (!this.#hasEnded) this.#native?.resume();
  }

  /** Nobody waits for it: it ends after a while, and does not keep the process alive. */
  rest(): void {
    this.#native?.timeout(idleSeconds);
    this.#native?.unref();
  }

  /** It is in use. */
  wake(): void {
    this.#native?.timeout(0);
    this.#native?.ref();
  }

  /** Ends the connection now. */
  end(error: Error): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#native?.terminate();
    this.onEnd(error);
  }
}

/** The error of a peer that left. */
export function connectionClosed(): Error {
  return Object.assign(new Error("the connection was closed"), { code: "ECONNRESET" });
}
