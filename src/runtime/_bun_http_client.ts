/**
 * HTTP/1.1 over Bun's own sockets. Measured against Bun's fetch on 1.4.5: a quarter of the CPU for a stream of 50 MB, no
 * second thread (9 MiB), no limit of 256 requests at a time, no limit of 300 s, no proxy taken from the environment.
 */
import { Buffer } from "node:buffer";
import type { SocketTarget } from "./_bun_socket.ts";
import { ClientConnections } from "./_client_connections.ts";
import type { HttpClient, HttpClientOptions } from "./http_client.ts";

/** Makes a client that connects directly. */
export function bunHttpClient(options: HttpClientOptions): HttpClient {
  const always = checkedHeaders(options.headers ?? {});
  const connections = new ClientConnections();
  return {
    async fetch(request, { longLived = false } = {}) {
      const { method, signal } = request;
      signal.throwIfAborted();
      const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
      const url = new URL(request.url);
      const bytes = encode(headOf(request, url, { always, bodyBytes: body?.length }), body);
      return await connections.send(targetOf(url, options), { method, signal, longLived, bytes });
    },
    close: () => connections.close(),
  };
}

/** @throws TypeError when a name or a value cannot stand in a head. */
function checkedHeaders(headers: NonNullable<HttpClientOptions["headers"]>): ReadonlyMap<string, readonly string[]> {
  for (const [name, values] of Object.entries(headers)) {
    for (const value of values) new Headers([[name, value]]);
  }
  return new Map(Object.entries(headers).map(([name, values]) => [name.toLowerCase(), values]));
}

function targetOf(url: URL, options: HttpClientOptions): SocketTarget {
  const { ca, cert, key, insecureSkipTlsVerify = false } = options;
  const hostname = url.hostname.replace(/^\[|\]$/g, "");
  const isSecure = url.protocol === "https:";
  const port = url.port === "" ? (isSecure ? 443 : 80) : Number(url.port);
  const { serverName = hostname } = options;
  const tls = isSecure ? { ca, cert, key, serverName, rejectUnauthorized: !insecureSkipTlsVerify } : undefined;
  return { hostname, port, tls };
}

function headOf(
  request: Request,
  url: URL,
  add: { readonly always: ReadonlyMap<string, readonly string[]>; readonly bodyBytes: number | undefined },
): string {
  let head = `${request.method} ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\n`;
  for (const [name, value] of request.headers) {
    if (!add.always.has(name)) head += `${name}: ${value}\r\n`;
  }
  for (const [name, values] of add.always) {
    for (const value of values) head += `${name}: ${value}\r\n`;
  }
  if (add.bodyBytes !== undefined) head += `content-length: ${add.bodyBytes}\r\n`;
  return `${head}\r\n`;
}

function encode(head: string, body: Uint8Array | undefined): Uint8Array {
  const bytes = Buffer.from(head, "latin1"); // as Headers has checked
  return body === undefined ? bytes : Buffer.concat([bytes, body]);
}
