/** What the tests of the Client share: a Client in front of a server that answers as the test says, and what it was sent. */
import { Client, type ClientOptions } from "./client.ts";

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly query: Record<string, string>;
  readonly accept: string | null;
  readonly contentType: string | null;
  readonly body: unknown;
}

export interface Rig {
  readonly client: Client;
  readonly sent: Sent[];
}

/** A client whose server answers with what `answer` makes of a request. */
export function rig(answer: (sent: Sent) => Response, options: ClientOptions = {}): Rig {
  const sent: Sent[] = [];
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
    return answer(one);
  }, options);
  return { client, sent };
}

export const configMap = (name = "a", fields: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "ns", resourceVersion: "5" },
  data: { key: "value" },
  ...fields,
});
export const status = (code: number, reason: string) =>
  Response.json({ kind: "Status", code, reason, message: reason }, { status: code });
