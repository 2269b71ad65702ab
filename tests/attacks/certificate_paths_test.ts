/**
 * Attacks with certificate paths: chains whose signatures are good, and in which one certificate must not be used: it has
 * expired, is no authority, may not sign, is for clients, is below its path length, is outside of the names that its
 * issuer may sign, or has another name than the server. A generator puts each defect at each place of chains of each length.
 *
 * The rules are those of crypto/x509 of Go, the same on each runtime. Nothing is sent to a server that is refused.
 */
import "reflect-metadata";
import * as x509 from "@peculiar/x509";
import { seededRandom } from "../../src/async/mod.ts";
import { refuseCertificate } from "../../src/runtime/http/certificate_path.ts";
import { httpClient } from "../../src/runtime/mod.ts";
import { LoopbackServer } from "../loopback.ts";
import { assert, assertEquals, test } from "../testing.ts";

/** One certificate of a chain. */
interface Part {
  /** The name of its subject and of its key. */
  readonly name: string;
  readonly notBeforeMs?: number;
  readonly notAfterMs?: number;
  /** undefined: no basic constraints. */
  readonly isAuthority?: boolean;
  readonly pathLength?: number;
  /** undefined: no key usage. */
  readonly keyUsage?: number;
  readonly extendedUsages?: readonly x509.ExtendedKeyUsage[];
  readonly hosts?: readonly string[];
  /** The only domain that it may sign. */
  readonly permitted?: string;
  /** A critical extension that no program knows. */
  readonly hasUnknownExtension?: boolean;
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const { keyCertSign, cRLSign, digitalSignature } = x509.KeyUsageFlags;
const { serverAuth, clientAuth } = x509.ExtendedKeyUsage;
const dayMs = 86_400_000;
const keyPairs = new Map<string, Promise<CryptoKeyPair>>();
let serial = 1;

function keysOf(name: string): Promise<CryptoKeyPair> {
  const made = keyPairs.get(name) ??
    (crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]) as Promise<CryptoKeyPair>);
  keyPairs.set(name, made);
  return made;
}

/** A name constraint with one permitted domain, in DER. */
function permittedDomain(domain: string): x509.Extension {
  const wrap = (tag: number, bytes: readonly number[]) => [tag, bytes.length, ...bytes];
  const name = wrap(0x82, [...new TextEncoder().encode(domain)]);
  return new x509.Extension("2.5.29.30", true, Uint8Array.from(wrap(0x30, wrap(0xa0, wrap(0x30, name)))));
}

async function sign(part: Part, issuer: Part): Promise<x509.X509Certificate> {
  const { notBeforeMs = -300_000, notAfterMs = dayMs, isAuthority, pathLength, keyUsage, extendedUsages, hosts } = part;
  const names = hosts?.map((host) => ({ type: /^[\d.]+$/.test(host) ? "ip" : "dns", value: host }) as const) ?? [];
  return await x509.X509CertificateGenerator.create({
    serialNumber: `01${String(serial++).padStart(8, "0")}`,
    subject: [{ CN: [part.name] }],
    issuer: [{ CN: [issuer.name] }],
    notBefore: new Date(Date.now() + notBeforeMs),
    notAfter: new Date(Date.now() + notAfterMs),
    signingAlgorithm: algorithm,
    publicKey: (await keysOf(part.name)).publicKey,
    signingKey: (await keysOf(issuer.name)).privateKey,
    extensions: [
      ...(isAuthority === undefined ? [] : [new x509.BasicConstraintsExtension(isAuthority, pathLength, true)]),
      ...(keyUsage === undefined ? [] : [new x509.KeyUsagesExtension(keyUsage, true)]),
      ...(extendedUsages === undefined ? [] : [new x509.ExtendedKeyUsageExtension([...extendedUsages])]),
      ...(names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)]),
      ...(part.permitted === undefined ? [] : [permittedDomain(part.permitted)]),
      ...(part.hasUnknownExtension ? [new x509.Extension("1.3.6.1.4.1.99999.1", true, Uint8Array.of(5, 0))] : []),
    ],
  });
}

const authority = (name: string): Part => ({ name, isAuthority: true, keyUsage: keyCertSign });
const server: Part = {
  name: "server",
  isAuthority: false,
  keyUsage: digitalSignature,
  extendedUsages: [serverAuth],
  hosts: ["api.example.com", "127.0.0.1"],
};

/** The parts of a good chain, the root first. */
const chainOf = (authorities: number): readonly Part[] => [
  ...Array.from({ length: authorities }, (_, index) => authority(index === 0 ? "root" : `between ${index}`)),
  server,
];

/** Sends one request to a server with this chain. @returns whether it was answered */
async function isAccepted(chain: readonly Part[], serverName?: string): Promise<boolean> {
  const certificates = await Promise.all(chain.map((part, index) => sign(part, chain[index - 1] ?? part)));
  const pems = certificates.map((certificate) => `${certificate.toString("pem")}\n`);
  const privateKey = (await keysOf(chain.at(-1)?.name ?? "")).privateKey;
  const key = x509.PemConverter.encode(await crypto.subtle.exportKey("pkcs8", privateKey), "PRIVATE KEY");
  let requests = 0;
  await using listening = await LoopbackServer.start({
    tls: { certificate: pems.slice(1).reverse().join(""), key },
    answer: (_, response) => {
      requests++;
      response.end("answer");
    },
  });
  const client = httpClient({ ca: pems[0], serverName });
  try {
    await (await client.fetch(new Request(listening.url()))).text();
    assertEquals(requests, 1);
    return true;
  } catch (error) {
    assert(error instanceof Error);
    assertEquals(requests, 0, "a request was sent to a server that was refused");
    return false;
  } finally {
    client.close();
  }
}

/** What is wrong with one certificate, and which ones it makes unusable. */
const defects: Readonly<Record<string, { readonly change: Partial<Part>; readonly at: "leaf" | "authority" | "all" }>> =
  {
    "has expired": { change: { notBeforeMs: -2 * dayMs, notAfterMs: -dayMs }, at: "all" },
    "is not valid yet": { change: { notBeforeMs: dayMs, notAfterMs: 2 * dayMs }, at: "all" },
    "is no authority": { change: { isAuthority: false }, at: "authority" },
    "may not sign certificates": { change: { keyUsage: cRLSign }, at: "authority" },
    "is for clients": { change: { extendedUsages: [clientAuth] }, at: "all" },
    "has an unknown critical extension": { change: { hasUnknownExtension: true }, at: "all" },
    "may sign other names only": { change: { permitted: "example.org" }, at: "authority" },
  };

for (const [defect, { change, at }] of Object.entries(defects)) {
  test(`[security 1] a chain with a certificate that ${defect} is refused, wherever it is`, async () => {
    for (const authorities of [1, 2, 3]) {
      const good = chainOf(authorities);
      assertEquals(await isAccepted(good, "api.example.com"), true);
      for (const [place, part] of good.entries()) {
        const isLeaf = place === good.length - 1;
        if (at === (isLeaf ? "authority" : "leaf")) continue;
        const bad = good.map((one, index) => index === place ? { ...part, ...change } : one);
        assertEquals(await isAccepted(bad, "api.example.com"), false, `${defect}: ${part.name} of ${good.length}`);
      }
    }
  });
}

test("[security 1] a certificate of any bytes is judged, and never thrown over", async () => {
  const random = seededRandom(1);
  const chain = chainOf(1);
  const [root, leaf] = await Promise.all(chain.map((part, index) => sign(part, chain[index - 1] ?? part)));
  assert(root !== undefined && leaf !== undefined);
  const ca = root.toString("pem"), raw = new Uint8Array(leaf.rawData);
  assertEquals(refuseCertificate({ raw }, { name: "API.example.com.", ca }), undefined);
  let refused = 0;
  for (let round = 0; round < 20_000; round++) {
    const bytes = raw.slice(0, random.next() < 0.1 ? Math.floor(random.next() * raw.length) : raw.length);
    for (let change = 0; change <= round % 4; change++) {
      bytes[Math.floor(random.next() * bytes.length)] = Math.floor(random.next() * 256);
    }
    if (refuseCertificate({ raw: bytes }, { name: "api.example.com", ca }) !== undefined) refused++;
  }
  // The others have changed in the key, the signature or the serial number, which the runtime verifies.
  assert(refused > 5_000, `only ${refused} were refused`);
});

test("[security 1] a chain that is longer than an authority allows is refused", async () => {
  for (const authorities of [2, 3]) {
    for (let place = 0; place < authorities; place++) {
      const below = authorities - 1 - place;
      for (const pathLength of [0, 1, 2]) {
        const chain = chainOf(authorities).map((part, index) => index === place ? { ...part, pathLength } : part);
        assertEquals(await isAccepted(chain), pathLength >= below, `${pathLength} at ${place} of ${authorities}`);
      }
    }
  }
});

test("[security 1] a name of the server must be among the alternative names, by the rules of Go", async () => {
  const table: readonly (readonly [host: string, alternative: string, isTrusted: boolean])[] = [
    ["api.example.com", "api.example.com", true],
    ["API.example.COM", "api.example.com", true],
    ["api.example.com", "API.Example.com", true],
    ["api.example.com", "*.example.com", true],
    ["example.com", "*.example.com", false],
    ["a.api.example.com", "*.example.com", false],
    ["api.example.com", "a*.example.com", false],
    ["api.example.com", "*i.example.com", false],
    ["api.example.com", "api.*.com", false],
    ["api.example.com", "*", false],
    ["api.example.com", "*.com", false],
    ["api.example.com", "*.*.com", false],
    ["api.example.com", "example.com", false],
    ["api.example.com", "xapi.example.com", false],
    ["api.example.com", ".example.com", false],
    ["127.0.0.1", "127.0.0.1", true],
    ["127.0.0.1", "127.0.0.2", false],
  ];
  for (const [host, alternative, isTrusted] of table) {
    const chain = [authority("root"), { ...server, hosts: [alternative] }];
    const serverName = host === "127.0.0.1" ? undefined : host;
    assertEquals(await isAccepted(chain, serverName), isTrusted, `${host} with ${alternative}`);
  }
});
