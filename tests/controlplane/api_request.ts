/**
 * One GET of the API server, over a new connection, without code of Pintle: the check whether the server is ready
 * must not depend on the code under test.
 */
import { request } from "node:https";

/** The response of the server. */
export type ApiAnswer =
  | { readonly kind: "answered"; readonly status: number; readonly body: string }
  | { readonly kind: "unreachable"; readonly reason: string };

/** The trusted CA and the credential. */
export interface ApiRequestOptions {
  /** PEM of the authority that signed the server's certificate. */
  readonly ca: string;
  readonly token: string;
}

/** A TLS handshake takes seconds on a machine that is busy enough. */
const timeoutMs = 30_000;

/** Sends a GET to `url`; an unreachable server is a result as well. */
export function getFromApi(url: string, options: ApiRequestOptions): Promise<ApiAnswer> {
  const { ca, token } = options;
  return new Promise((resolve) => {
    const unreachable = (error: Error) => resolve({ kind: "unreachable", reason: error.message });
    const headers = { authorization: `Bearer ${token}` };
    const asked = request(url, { ca, headers, agent: false, timeout: timeoutMs }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (text: string) => body += text);
      response.on("error", unreachable);
      response.on("end", () => resolve({ kind: "answered", status: response.statusCode ?? 0, body }));
    });
    asked.on("error", unreachable);
    asked.on("timeout", () => asked.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    asked.end();
  });
}
