/**
 * Attacks with certificates: chains that the authority of the cluster has signed, and that a client must not accept. A
 * generator combines the names, the length of the chain, the algorithm of each signature and the name of the request.
 *
 * The rules are those of x509 of Go: a host name must be among the alternative names, however fitting the common name
 * is; SHA-1 signs no certificate but the trusted one; with verification switched off there are no rules. Nothing is sent
 * to a server that is refused.
 */
import "reflect-metadata";
import * as x509 from "@peculiar/x509";
import { httpClient } from "../../src/runtime/mod.ts";
import type { KeyPair } from "../controlplane/certificate_authority.ts";
import { LoopbackServer } from "../loopback.ts";
import { assert, assertEquals, test } from "../testing.ts";

type Hash = "SHA-1" | "SHA-256" | "SHA-384";
type Algorithm = "ECDSA" | "RSASSA-PKCS1-v1_5";

/** One certificate of a chain. */
interface Part {
  readonly algorithm: Algorithm;
  readonly hash: Hash;
  /** The alternative names of a server; undefined for an authority. */
  readonly hosts?: readonly string[];
}

interface SigningKeys {
  readonly keys: CryptoKeyPair;
  readonly algorithm: Algorithm;
}

interface Signer extends SigningKeys {
  readonly certificate: x509.X509Certificate;
}

let serial = 1;

async function keysFor(algorithm: Algorithm): Promise<CryptoKeyPair> {
  const settings = algorithm === "ECDSA"
    ? { name: algorithm, namedCurve: "P-256" }
    : { name: algorithm, hash: "SHA-256", modulusLength: 2048, publicExponent: Uint8Array.of(1, 0, 1) };
  return await crypto.subtle.generateKey(settings, true, ["sign", "verify"]) as CryptoKeyPair;
}

/** Keys of RSA are slow to make, so each name has one. */
const keyPairs: Record<string, Promise<CryptoKeyPair>> = {};

/** The key for another hash: a key of RSA has one. */
async function signingKey(signer: SigningKeys, hash: Hash): Promise<CryptoKey> {
  const der = await crypto.subtle.exportKey("pkcs8", signer.keys.privateKey);
  const settings = { name: signer.algorithm, namedCurve: "P-256", hash };
  return await crypto.subtle.importKey("pkcs8", der, settings, false, ["sign"]);
}

/** Signs a certificate; `issuer` undefined: its own. */
async function sign(commonName: string, part: Part, issuer?: Signer): Promise<Signer> {
  const { algorithm, hash, hosts } = part;
  // A certificate is signed with the algorithm of its issuer's key.
  const keys = await (keyPairs[`${algorithm} of ${commonName}`] ??= keysFor(algorithm));
  const own: SigningKeys = { keys, algorithm };
  const signer = issuer ?? own;
  const names = hosts?.map((host) => ({ type: /^[\d.]+$/.test(host) ? "ip" : "dns", value: host }) as const) ?? [];
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: `01${String(serial++).padStart(8, "0")}`,
    subject: [{ CN: [commonName] }],
    issuer: issuer?.certificate.subjectName ?? [{ CN: [commonName] }],
    notBefore: new Date(Date.now() - 300_000),
    notAfter: new Date(Date.now() + 86_400_000),
    signingAlgorithm: { name: signer.algorithm, hash },
    publicKey: keys.publicKey,
    signingKey: await signingKey(signer, hash),
    extensions: [
      new x509.BasicConstraintsExtension(hosts === undefined, undefined, true),
      ...(hosts === undefined
        ? [new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true)]
        : [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth])]),
      ...(names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)]),
    ],
  });
  return { ...own, certificate };
}

async function pemOf(signer: Signer, chain: readonly Signer[]): Promise<KeyPair> {
  const key = x509.PemConverter.encode(await crypto.subtle.exportKey("pkcs8", signer.keys.privateKey), "PRIVATE KEY");
  return { certificate: [signer, ...chain].map(({ certificate }) => `${certificate.toString("pem")}\n`).join(""), key };
}

/** Sends one request. @returns "answered" or the code of the error, and how many requests the server got. */
async function request(pair: KeyPair, ca: string, host: string, skips: boolean): Promise<[string, number]> {
  let requests = 0;
  const answer = (_: unknown, response: { end(text: string): void }) => {
    requests++;
    response.end("answer");
  };
  await using server = await LoopbackServer.start({ tls: pair, answer });
  const client = httpClient({ ca, insecureSkipTlsVerify: skips });
  try {
    const response = await client.fetch(new Request(server.url(host)));
    await response.text();
    return ["answered", requests];
  } catch (error) {
    assert(error instanceof Error);
    return ["code" in error ? String(error.code) : error.message, requests];
  } finally {
    client.close();
  }
}

const algorithms = ["ECDSA", "RSASSA-PKCS1-v1_5"] as const;
const hashes = ["SHA-256", "SHA-384", "SHA-1"] as const;

for (const algorithm of algorithms) {
  test(`a chain of ${algorithm} with a signature by SHA-1 is refused, except for that of the authority`, async () => {
    for (const rootHash of ["SHA-256", "SHA-1"] as const) {
      const root = await sign("root", { algorithm, hash: rootHash });
      const ca = root.certificate.toString("pem");
      for (const hash of hashes) {
        const leaf = await sign("127.0.0.1", { algorithm, hash, hosts: ["127.0.0.1"] }, root);
        const between = await sign("between", { algorithm, hash }, root);
        const below = await sign("127.0.0.1", { algorithm, hash: "SHA-256", hosts: ["127.0.0.1"] }, between);
        for (const pair of [await pemOf(leaf, []), await pemOf(leaf, [root]), await pemOf(below, [between])]) {
          const [outcome, requests] = await request(pair, ca, "127.0.0.1", false);
          assertEquals(outcome === "answered", hash !== "SHA-1", `${rootHash} ${hash} ${outcome}`);
          assertEquals(requests, hash === "SHA-1" ? 0 : 1);
        }
      }
    }
  });
}

test("a certificate without the name of the server among its alternative names is refused, whatever its common name", async () => {
  const root = await sign("root", { algorithm: "ECDSA", hash: "SHA-256" });
  const ca = root.certificate.toString("pem");
  const table: readonly (readonly [commonName: string, hosts: readonly string[], host: string, isTrusted: boolean])[] =
    [
      ["localhost", [], "localhost", false],
      ["127.0.0.1", [], "127.0.0.1", false],
      ["localhost", ["127.0.0.1"], "localhost", false],
      ["localhost", ["example.com"], "localhost", false],
      ["127.0.0.1", ["localhost"], "127.0.0.1", false],
      ["example.com", ["localhost"], "localhost", true],
      ["example.com", ["localhost", "127.0.0.1"], "127.0.0.1", true],
    ];
  for (const [commonName, hosts, host, isTrusted] of table) {
    const pair = await pemOf(await sign(commonName, { algorithm: "ECDSA", hash: "SHA-256", hosts }, root), []);
    const label = `${commonName} [${hosts}] as ${host}`;
    const [outcome, requests] = await request(pair, ca, host, false);
    assertEquals([outcome, requests], isTrusted ? ["answered", 1] : ["ERR_TLS_CERT_ALTNAME_INVALID", 0], label);
    assertEquals(await request(pair, ca, host, true), ["answered", 1], label);
  }
});
