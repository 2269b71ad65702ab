/** Tests of certificatesIn() and privateKeyIn() by what httpClient() trusts and sends. */
import { assert, assertEquals, assertRejects, test } from "../../../tests/testing.ts";
import { CertificateAuthority } from "../../../tests/controlplane/certificate_authority.ts";
import { LoopbackServer } from "../../../tests/loopback.ts";
import { isKeyPair } from "./certificates.ts";
import { httpClient } from "./http_client.ts";
import type { HttpClientOptions } from "./http_client_options.ts";

const ca = await CertificateAuthority.create("ca");
const otherCa = await CertificateAuthority.create("another CA");
const pair = await ca.issue({ commonName: "server", usage: "server", hosts: ["127.0.0.1"] });

function startServer(clientCa?: string): Promise<LoopbackServer> {
  return LoopbackServer.start({ tls: pair, clientCa, answer: (_, response) => void response.end("answer") });
}

async function get(url: string, options: HttpClientOptions): Promise<string> {
  const client = httpClient(options);
  try {
    return await (await client.fetch(new Request(url))).text();
  } finally {
    client.close();
  }
}

test("of PEM text only certificates and keys count: not a damaged certificate, another block, or text", async () => {
  await using server = await startServer(ca.certificate);
  const jane = await ca.issue({ commonName: "jane" });
  const damaged = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  const bundle = `The bundle:\n${damaged}${otherCa.certificate}${jane.key}${ca.certificate.replaceAll("\n", "\r\n")}`;
  for (const both of [jane.certificate + jane.key, jane.key + jane.certificate]) {
    assert(isKeyPair(both, both));
    assertEquals(await get(server.url(), { ca: bundle, cert: both, key: both }), "answer");
  }
});

test("no server is trusted if the given CA has no certificate that can be read", async () => {
  await using server = await startServer();
  const damaged = ca.certificate.replace(/\n[^\n]{20}/, "\n");
  for (const unreadable of ["", "no PEM", damaged, ca.certificate.replaceAll("CERTIFICATE", "TRUSTED CERTIFICATE")]) {
    const error = await assertRejects(() => get(server.url(), { ca: unreadable }));
    assert("code" in error && error.code === "UNABLE_TO_GET_ISSUER_CERT", String(error));
  }
  assertEquals(await get(server.url(), { ca: damaged, insecureSkipTlsVerify: true }), "answer");
});
