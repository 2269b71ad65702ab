/**
 * Tests of httpClient() with trusted certificates that are no roots: authorities below one, and servers: envtest of controller-runtime puts the certificate
 * of the webhook server, not that of its authority, into caBundle, and Go accepts that.
 */
import { assert, assertEquals, assertRejects, test } from "../../../tests/testing.ts";
import { CertificateAuthority, type KeyPair } from "../../../tests/controlplane/certificate_authority.ts";
import { LoopbackServer } from "../../../tests/loopback.ts";
import { httpClient } from "./http_client.ts";

const ca = await CertificateAuthority.create("ca");
const own = await ca.issue({ commonName: "own", usage: "server", hosts: ["127.0.0.1", "own.example.com"] });
const other = await ca.issue({ commonName: "own", usage: "server", hosts: ["127.0.0.1"] });

/** Sends one request to a server with this certificate. @returns the answer, and what the server got */
async function ask(tls: KeyPair, options: { readonly ca: string; readonly serverName?: string }) {
  let requests = 0;
  await using server = await LoopbackServer.start({
    tls,
    answer: (_, response) => {
      requests++;
      response.end("answer");
    },
  });
  const client = httpClient(options);
  try {
    return await (await client.fetch(new Request(server.url(), { method: "POST", body: "once" }))).text();
  } catch (error) {
    assertEquals(requests, 0, "a request was sent to a server that was refused");
    throw error;
  } finally {
    client.close();
  }
}

async function codeOf(asking: Promise<unknown>): Promise<unknown> {
  const error = await assertRejects(() => asking);
  assert(error instanceof Error);
  return "code" in error ? error.code : error.message;
}

test("a server whose own certificate is trusted is called, as by Go", async () => {
  assertEquals(await ask(own, { ca: own.certificate }), "answer");
  assertEquals(await ask(own, { ca: own.certificate, serverName: "own.example.com" }), "answer");
  assertEquals(await ask(own, { ca: other.certificate + own.certificate }), "answer");
});

test("an authority beside a trusted certificate trusts its servers", async () => {
  const elsewhere = await CertificateAuthority.create("elsewhere");
  const foreign = await elsewhere.issue({ commonName: "own", usage: "server", hosts: ["127.0.0.1"] });
  assertEquals(await ask(own, { ca: other.certificate + ca.certificate }), "answer");
  assert(typeof await codeOf(ask(foreign, { ca: other.certificate + ca.certificate })) === "string");
  const code = await codeOf(ask(own, { ca: other.certificate + ca.certificate, serverName: "elsewhere.example.com" }));
  assertEquals(code, "ERR_TLS_CERT_ALTNAME_INVALID");
});

test("a trusted certificate trusts no other server, not even one of its name and authority", async () => {
  assert(typeof await codeOf(ask(other, { ca: own.certificate })) === "string");
});

test("a path may end at a trusted authority that is no root, as in Go, and at no other authority of its name", async () => {
  const middle = await CertificateAuthority.create("middle", ca);
  const issuing = await CertificateAuthority.create("issuing", middle);
  const server = await issuing.issue({ commonName: "server", usage: "server", hosts: ["127.0.0.1"] });
  const chain = { ...server, certificate: server.certificate + issuing.certificate };
  const long = { ...server, certificate: chain.certificate + middle.certificate };
  assertEquals(await ask(server, { ca: issuing.certificate }), "answer");
  assertEquals(await ask(long, { ca: issuing.certificate }), "answer");
  assertEquals(await ask(chain, { ca: middle.certificate }), "answer");
  assertEquals(await ask(chain, { ca: other.certificate + middle.certificate }), "answer");
  assertEquals(await ask(long, { ca: ca.certificate + other.certificate }), "answer");
  const forged = await CertificateAuthority.create("middle", await CertificateAuthority.create("ca"));
  assert(typeof await codeOf(ask(chain, { ca: forged.certificate })) === "string");
  assert(typeof await codeOf(ask(server, { ca: middle.certificate })) === "string");
  const code = await codeOf(ask(chain, { ca: middle.certificate, serverName: "elsewhere.example.com" }));
  assertEquals(code, "ERR_TLS_CERT_ALTNAME_INVALID");
});

test("a trusted certificate of a server must be valid, for servers and for the name", async () => {
  const expired = await ca.issue({
    commonName: "old",
    usage: "server",
    hosts: ["127.0.0.1"],
    notBefore: new Date(Date.now() - 2 * 86_400_000),
    notAfter: new Date(Date.now() - 86_400_000),
  });
  const client = await ca.issue({ commonName: "client", usage: "client", hosts: ["127.0.0.1"] });
  assertEquals(await codeOf(ask(expired, { ca: expired.certificate })), "CERT_HAS_EXPIRED");
  assertEquals(await codeOf(ask(client, { ca: client.certificate })), "INVALID_PURPOSE");
  assertEquals(
    await codeOf(ask(own, { ca: own.certificate, serverName: "elsewhere.example.com" })),
    "ERR_TLS_CERT_ALTNAME_INVALID",
  );
});
