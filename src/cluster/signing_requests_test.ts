import "reflect-metadata";
import { request as httpsRequest } from "node:https";
import * as x509 from "@peculiar/x509";
import { assert, assertEquals, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { EmbeddedCluster } from "./embedded_cluster.ts";
import { readRequest, SigningAuthority } from "./signing_authority.ts";
import { deletionTimeOf } from "./signing_requests.ts";

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const signerName = "kubernetes.io/kube-apiserver-client";
const dayMs = 86_400_000;
/** Reads until a certificate is there; a controller needs a few. */
const maxAttempts = 10_000;

/** A request for a certificate in base64, and the private key. */
async function newRequest(name: string) {
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({ name, keys, signingAlgorithm: algorithm });
  const key = x509.PemConverter.encode(await crypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY");
  return { request: btoa(request.toString("pem")), key };
}

/** The status and the body of a response to a client with a certificate. */
function send(url: string, tls: { readonly ca: string; readonly cert: string; readonly key: string }, body: string) {
  const { promise, resolve, reject } = Promise.withResolvers<{ readonly code: number; readonly body: string }>();
  const headers = { "content-type": "application/json", connection: "close" };
  const outgoing = httpsRequest(url, { ...tls, method: "POST", headers }, (response) => {
    let text = "";
    response.setEncoding("utf8").on("data", (part: string) => text += part);
    response.on("end", () => resolve({ code: response.statusCode ?? 0, body: text }));
  });
  outgoing.on("error", reject);
  outgoing.end(body);
  return promise;
}

test("an approved request gets a certificate with which the server knows its user", async () => {
  await using cluster = await EmbeddedCluster.start({ nodes: 0, onError: (error) => console.error(error) });
  const { client } = cluster;
  const { request, key } = await newRequest("CN=jane,O=people");
  const spec = { request, signerName, usages: ["client auth"] as const, expirationSeconds: 3600 };
  await client.create(builtin.CertificateSigningRequest, { metadata: { name: "a" }, spec });
  const approved = { type: "Approved", status: "True", reason: "Test", message: "" };
  const patch = { kind: "merge", value: { status: { conditions: [approved] } } } as const;
  await client.patch(builtin.CertificateSigningRequest, "a", patch, { subresource: "approval" });
  let cert = "";
  for (let attempt = 0; attempt < maxAttempts && cert === ""; attempt++) {
    cert = atob((await client.get(builtin.CertificateSigningRequest, "a")).status?.certificate ?? "");
  }
  const ca = /certificate-authority-data"?: *"?([\w+/=]+)/.exec(cluster.kubeconfig)?.[1] ?? "";
  const review = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" });
  const path = `${cluster.url}/apis/authentication.k8s.io/v1/selfsubjectreviews`;
  const { code, body } = await send(path, { ca: atob(ca), cert, key }, review);
  assertEquals(code, 201, body);
  const { username, groups } = JSON.parse(body).status.userInfo;
  assertEquals([username, groups], ["jane", ["people", "system:authenticated"]]);
});

test("a certificate ends with its authority at the latest, and is none itself", async () => {
  const authority = await SigningAuthority.create({ now: 0, lifetimeMs: dayMs });
  const requested = await readRequest((await newRequest("CN=jane")).request);
  assert(requested !== undefined, "the request can be read");
  const pem = await authority.sign(requested, { usages: ["client auth"], now: 0, lifetimeMs: 365 * dayMs });
  const certificate = new x509.X509Certificate(pem);
  assertEquals(certificate.notAfter.getTime(), dayMs);
  assertEquals(certificate.getExtension(x509.BasicConstraintsExtension)?.ca, false);
  assertEquals(
    await certificate.verify({ publicKey: new x509.X509Certificate(authority.certificate), date: new Date(1) }),
    true,
  );
});

test("an authority that is loaded again signs for the same certificate", async () => {
  const { pair } = await SigningAuthority.create({ now: 0, lifetimeMs: dayMs });
  assertEquals((await SigningAuthority.load(pair)).pair, pair);
});

test("a request that is not signed with its own key is not read", async () => {
  const [one, other] = await Promise.all([newRequest("CN=jane"), newRequest("CN=jane")]);
  const derOf = (base64: string) => new Uint8Array(x509.PemConverter.decodeFirst(atob(base64)));
  const [der, foreign] = [derOf(one.request), derOf(other.request)];
  der.set(foreign.subarray(foreign.length - 60), der.length - 60);
  assertEquals(await readRequest(btoa(x509.PemConverter.encode(der, "CERTIFICATE REQUEST"))), undefined);
});

const at = Date.UTC(2026, 0, 1);
const condition = (type: string) => ({ type, status: "True", lastUpdateTime: "2026-01-01T01:00:00Z" });

/** What a request has, its status, and after how many hours it is deleted. */
const ends: readonly (readonly [what: string, status: object, hours: number])[] = [
  ["no decision", {}, 24],
  ["a refusal", { conditions: [condition("Denied")] }, 2],
  ["a failure", { conditions: [condition("Approved"), condition("Failed")] }, 2],
  ["an approval without a certificate", { conditions: [condition("Approved")] }, 25],
  ["a certificate", { conditions: [condition("Approved")], certificate: "eA==" }, 2],
  ["another condition", { conditions: [condition("Odd")] }, Infinity],
];

for (const [what, status, hours] of ends) {
  test(`a request with ${what} is deleted after ${hours} hours`, async () => {
    const metadata = { name: "a", creationTimestamp: "2026-01-01T00:00:00Z" };
    assertEquals(await deletionTimeOf({ metadata, status }), at + hours * 3_600_000);
  });
}

test("a request is deleted when its certificate expires", async () => {
  const authority = await SigningAuthority.create({ now: at, lifetimeMs: 3_600_000 });
  const certificate = btoa(authority.certificate);
  const metadata = { name: "a", creationTimestamp: "2026-01-01T00:00:00Z" };
  const status = { conditions: [condition("Approved")], certificate };
  assertEquals(await deletionTimeOf({ metadata, status }), at + 3_600_000);
});
