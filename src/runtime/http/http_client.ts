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
import { runtimeName, untilAborted } from "../process/mod.ts";
import { bunHttpClient } from "./bun_http_client.ts";
import type { HttpClient, HttpClientOptions } from "./http_client_options.ts";

/** Makes a client for one set of certificates and one proxy. */
export function httpClient(options: HttpClientOptions = {}): HttpClient {
  const isDirect = runtimeName === "bun" && options.proxy === undefined;
  const client = isDirect ? bunHttpClient(options) : lazyNodeHttpClient(options);
  return {
    // A library may neither answer nor close after an abort, so no caller waits for one.
    fetch: (request, options) =>
      untilAborted(client.fetch(request, options), request.signal, ({ body }) => void body?.cancel().catch(() => {})),
    upgrade: (request, headers) =>
      untilAborted(client.upgrade(request, headers), request.signal, (answer) => {
        if (answer.kind === "switched") answer.wire.end();
      }),
    close: () => client.close(),
  };
}

/** Loads node:https with the first request: a program on Bun without a proxy starts without it. */
function lazyNodeHttpClient(options: HttpClientOptions): HttpClient {
  let loading: Promise<HttpClient> | undefined;
  const load = async () => (await import("./node_http_client.ts")).nodeHttpClient(options);
  return {
    fetch: async (request, options) => await (await (loading ??= load())).fetch(request, options),
    upgrade: async (request, headers) => await (await (loading ??= load())).upgrade(request, headers),
    close: () => void loading?.then((client) => client.close()),
  };
}
