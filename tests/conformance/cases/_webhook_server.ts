/** withWebhookServer(): an HTTPS server for webhooks on the loopback address while a case runs. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { Buffer } from "node:buffer";
import type { AddressInfo } from "node:net";
import { CertificateAuthority } from "../../controlplane/certificate_authority.ts";
import type { Body } from "./_objects.ts";

/** A review, or a response to it. */
// deno-lint-ignore no-explicit-any
export type Any = any;

/** A running webhook server. */
export interface WebhookServer {
  readonly url: string;
  readonly caBundle: string;
  /** The requests so far, in order. */
  readonly reviews: Any[];
}

/**
 * Serves reviews while `act` runs.
 * @param respond returns the response without its uid, or a number as the HTTP code, or a string as the whole body
 */
export async function withWebhookServer(
  respond: (review: Any) => Body | number | string,
  act: (server: WebhookServer) => Promise<void>,
): Promise<void> {
  const authority = await CertificateAuthority.create("conformance");
  const pair = await authority.issue({ commonName: "webhook", usage: "server", hosts: ["127.0.0.1"] });
  const reviews: Any[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const review = JSON.parse(Buffer.concat(chunks).toString());
    reviews.push(review);
    const result = respond(review);
    const { uid } = review.request;
    const { apiVersion, kind } = review;
    response.writeHead(typeof result === "number" ? result : 200, {
      "content-type": "application/json",
      connection: "close",
    });
    if (typeof result === "string") return void response.end(result);
    response.end(
      typeof result === "number" ? "no" : JSON.stringify({ apiVersion, kind, response: { uid, ...result } }),
    );
  };
  const server = createServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
    // A controller may ask at any time, also when the case is over: then its request is aborted.
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    await act({
      url: `https://127.0.0.1:${port}/`,
      caBundle: Buffer.from(authority.certificate).toString("base64"),
      reviews,
    });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}
