/**
 * httpClient(): HTTP with your own certificates and proxies, the same on all runtimes. All requests to the API server
 * use it.
 *
 * Guarantees: a given CA replaces the authorities of the system; redirects are never followed; a proxy is used only if
 * the options name it, never because of the environment; no request is sent twice; bodies are not decompressed, so a
 * small response cannot grow. A request ends when its signal aborts, at once and whatever its connection does, never by
 * a timeout of the runtime. A connection has 10 s for TCP, 10 s for its proxy and 10 s for its TLS handshake.
 *
 * Caveats: fetch of the runtimes is not used. Deno's adds a CA to those of the system and knows neither server names nor
 * skipping the verification; Bun's obeys the proxies of the environment, has room for 256 requests and spends most of
 * its time on waking threads. On Bun requests use its sockets; on Deno and Node, and through proxies, they use
 * node:https.
 */
import { onAbort, runtimeName, untilAborted } from "../process/mod.ts";
import { bunHttpClient } from "./bun_http_client.ts";
import { requestBytes } from "./bytes.ts";
import {
  type HttpClient,
  type HttpClientOptions,
  type HttpRequest,
  type HttpSender,
  responseTimedOut,
} from "./http_client_options.ts";
import { certificatesIn, privateKeyIn } from "./pem.ts";
import { systemTimers, type Timers } from "./timers.ts";

/** Makes a client for one set of certificates and one proxy. */
export function httpClient(options: HttpClientOptions = {}): HttpClient {
  const sender = senderFor(options);
  return {
    send: (request, settings) => sender.send(request, settings),
    fetch: async (request, settings) => {
      const { method, url, headers, signal } = request;
      signal.throwIfAborted();
      const body = await untilAborted(requestBytes(request), signal);
      return await sender.send({ method, url, headers, body, signal }, settings);
    },
    upgrade: (request, headers) =>
      untilAborted(sender.upgrade(request, headers), request.signal, (answer) => {
        if (answer.kind === "switched") answer.wire.end();
      }),
    close: () => sender.close(),
  };
}

function senderFor(given: HttpClientOptions): HttpSender {
  const { ca, cert, key, insecureSkipTlsVerify = false, proxy, timers = systemTimers } = given;
  const trusted = ca === undefined || insecureSkipTlsVerify ? undefined : certificatesIn(ca);
  if (trusted === "") return untrusting;
  const options: HttpClientOptions = {
    ...given,
    ca: trusted,
    ...(cert === undefined || key === undefined ? {} : { cert: certificatesIn(cert), key: privateKeyIn(key) }),
  };
  const isDirect = runtimeName === "bun" && proxy === undefined;
  return isDirect ? bunHttpClient(options) : obedient(lazyNodeHttpClient(options), timers);
}

/** Trusts no server, because the text with its authorities has none. The runtimes would trust those of the system. */
const untrusting: HttpSender = { send: rejectUntrusted, upgrade: rejectUntrusted, close: () => {} };

function rejectUntrusted(): Promise<never> {
  const error = new Error("the certificates of the authorities cannot be read");
  return Promise.reject(Object.assign(error, { code: "UNABLE_TO_GET_ISSUER_CERT" }));
}

/** A library may neither answer nor close after an abort, so no caller waits for one. */
function obedient(sender: HttpSender, timers: Timers): HttpSender {
  return {
    ...sender,
    async send(request, options = {}) {
      const { responseTimeoutMs: limitMs = Infinity } = options;
      const sent = (one: HttpRequest) => untilAborted(sender.send(one, options), one.signal, discard);
      if (limitMs === Infinity) return await sent(request);
      // Follows the signal of the request, also while the body is read; both are garbage collected together.
      const attempt = new AbortController();
      const following = onAbort(request.signal, () => attempt.abort(request.signal.reason));
      const timer = timers.timer(limitMs, () => attempt.abort(responseTimedOut(limitMs)));
      try {
        return await sent({ ...request, signal: attempt.signal });
      } catch (error) {
        following[Symbol.dispose]();
        throw error;
      } finally {
        timer[Symbol.dispose]();
      }
    },
  };
}

function discard({ body }: Response): void {
  body?.cancel().catch(() => {});
}

/** Loads node:https with the first request: a program on Bun without a proxy starts without it. */
function lazyNodeHttpClient(options: HttpClientOptions): HttpSender {
  let loading: Promise<HttpSender> | undefined;
  const load = async () => (await import("./node_http_client.ts")).nodeHttpClient(options);
  return {
    send: async (request, options) => await (await (loading ??= load())).send(request, options),
    upgrade: async (request, headers) => await (await (loading ??= load())).upgrade(request, headers),
    close: () => void loading?.then((client) => client.close()),
  };
}
