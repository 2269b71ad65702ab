/**
 * One GET of the API server, over a connection of its own, without any of Pintle's code: what the harness needs to see
 * whether the server is ready must not depend on what is being tested.
 */
import { request } from "node:https";

/** What the server said. */
export type ApiAnswer =
  | { readonly kind: "answered"; readonly status: number; readonly body: string }
  | { readonly kind: "unreachable"; readonly reason: string };

/** Whom to trust and how to log in. */
export interface ApiRequestOptions {
  /** PEM of the authority that signed the server's certificate. */
  readonly ca: string;
  readonly token: string;
}

const timeoutMs = 5_000;

/** Asks for `url`; a server that cannot be reached is an answer too. */
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
