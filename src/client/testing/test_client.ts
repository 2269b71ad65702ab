/** A Client with a scripted server, and the requests that the server got. */
import { Client } from "../client.ts";
import type { ClientOptions } from "../client_options.ts";

/** A request that the server got. */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Record<string, string>;
  readonly accept: string | null;
  readonly contentType: string | null;
  readonly body: unknown;
}

/** A Client and the requests that it sent. */
export interface TestClient {
  readonly client: Client;
  readonly sent: SentRequest[];
}

/** A Client whose server calls `respond` for each request. */
export function testClient(respond: (request: SentRequest) => Response, options: ClientOptions = {}): TestClient {
  const sent: SentRequest[] = [];
  const client = new Client(async (request) => {
    const url = new URL(request.url);
    const text = await request.text();
    const one = {
      method: request.method,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      accept: request.headers.get("accept"),
      contentType: request.headers.get("content-type"),
      body: text === "" ? undefined : JSON.parse(text),
    };
    sent.push(one);
    return respond(one);
  }, options);
  return { client, sent };
}

/** A ConfigMap as the server sends it. */
export const configMap = (name = "a", fields: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "ns", resourceVersion: "5" },
  data: { key: "value" },
  ...fields,
});
/** An error response with a Status. */
export const status = (code: number, reason: string) =>
  Response.json({ kind: "Status", code, reason, message: reason }, { status: code });
