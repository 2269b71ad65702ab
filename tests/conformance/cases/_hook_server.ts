/** A server of webhooks over HTTPS on the loopback address, while a case runs. */
import { createServer } from "node:https";
import { Buffer } from "node:buffer";
import type { AddressInfo } from "node:net";
import { CertificateAuthority } from "../../controlplane/certificate_authority.ts";
import type { Body } from "./_objects.ts";

/** A review, or its answer. */
// deno-lint-ignore no-explicit-any
export type Any = any;

/** A server of webhooks. */
export interface Hook {
  readonly url: string;
  readonly caBundle: string;
  /** What it was asked, in order. */
  readonly reviews: Any[];
}

/** Serves reviews while `act` runs. @param answer the response, without its uid; a number is an HTTP code, a text the whole body */
export async function serving(
  answer: (review: Any) => Body | number | string,
  act: (hook: Hook) => Promise<void>,
): Promise<void> {
  const authority = await CertificateAuthority.create("conformance");
  const pair = await authority.issue({ commonName: "hook", usage: "server", hosts: ["127.0.0.1"] });
  const reviews: Any[] = [];
  const server = createServer({ cert: pair.certificate, key: pair.key }, async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const review = JSON.parse(Buffer.concat(chunks).toString());
    reviews.push(review);
    const said = answer(review);
    const { uid } = review.request;
    const { apiVersion, kind } = review;
    response.writeHead(typeof said === "number" ? said : 200, {
      "content-type": "application/json",
      connection: "close",
    });
    if (typeof said === "string") return void response.end(said);
    response.end(typeof said === "number" ? "no" : JSON.stringify({ apiVersion, kind, response: { uid, ...said } }));
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
