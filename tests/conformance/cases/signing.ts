/** CertificateSigningRequests that controllers approve, sign and refuse to sign, and invalid ones. */
import "reflect-metadata";
import * as x509 from "@peculiar/x509";
import type { CaseRun } from "../case_run.ts";
import { type ConformanceCase, scenario } from "../conformance_case.ts";
import { invalidSigningCases } from "./_invalid_signing.ts";
import type { Body } from "./_objects.ts";

const path = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const clientSigner = "kubernetes.io/kube-apiserver-client";
const kubeletSigner = "kubernetes.io/kube-apiserver-client-kubelet";
const servingSigner = "kubernetes.io/kubelet-serving";

/** The request of a case. */
interface Asked {
  readonly subject: string;
  readonly names?: readonly { readonly type: "dns" | "ip" | "email" | "url"; readonly value: string }[];
  readonly signerName: string;
  readonly usages: readonly string[];
  readonly expirationSeconds?: number;
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
let keys: Promise<CryptoKeyPair> | undefined;

/** A request as `spec.request` has it. */
async function requestOf({ subject, names = [] }: Asked): Promise<string> {
  keys ??= crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: subject,
    keys: await keys,
    signingAlgorithm: algorithm,
    extensions: names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension([...names])],
  });
  return btoa(request.toString("pem"));
}

/** What of a certificate is the same in each run. */
function factsOf(base64: string) {
  if (base64 === "") return "none";
  const certificate = new x509.X509Certificate(atob(base64));
  const { extensions, notBefore, notAfter } = certificate;
  return {
    subject: certificate.subject,
    seconds: Math.round((notAfter.getTime() - notBefore.getTime()) / 1000),
    extensions: extensions.filter(({ type }) => type !== "2.5.29.35").map(({ type, critical, value }) => ({
      type,
      critical,
      value: Array.from(new Uint8Array(value), (byte) => byte.toString(16).padStart(2, "0")).join(""),
    })).toSorted((left, right) => left.type < right.type ? -1 : 1),
  };
}

// deno-lint-ignore no-explicit-any
const pick = ({ status }: any) => ({
  // deno-lint-ignore no-explicit-any
  conditions: status.conditions?.map(({ lastUpdateTime: _, lastTransitionTime: __, ...rest }: any) => rest) ?? [],
  certificate: factsOf(status.certificate ?? ""),
});

/** Creates a request, decides about it, and waits until the controllers have done their part. */
async function ask(run: CaseRun, asked: Asked, decision?: "Approved" | "Denied"): Promise<void> {
  const name = run.name("asked");
  const { subject: _subject, names: _names, ...rest } = asked;
  const body: Body = { metadata: { name }, spec: { ...rest, request: await requestOf(asked) } };
  const made = await run.prepare({ path, body });
  try {
    if (decision !== undefined) {
      const condition = { type: decision, status: "True", reason: "Case", message: "decided" };
      const approval = { ...made, status: { conditions: [condition] } };
      await run.prepare({ method: "PUT", path: `${path}/${name}/approval`, body: approval });
    }
    if (decision !== "Denied") await run.until(`${path}/${name}`, ({ status }) => isFinished(status));
    await run.call({ path: `${path}/${name}`, pick });
  } finally {
    await run.prepare({ method: "DELETE", path: `${path}/${name}` });
  }
}

// deno-lint-ignore no-explicit-any
function isFinished({ certificate = "", conditions = [] }: any): boolean {
  return certificate !== "" || conditions.some(({ type }: { readonly type: string }) => type === "Failed");
}

const client = { subject: "CN=jane,O=people", signerName: clientSigner, usages: ["client auth"] };
const node = { subject: "CN=system:node:one,O=system:nodes", signerName: kubeletSigner };
const nodeUsages = ["digital signature", "client auth"];
const served = {
  subject: "CN=system:node:one,O=system:nodes",
  signerName: servingSigner,
  usages: ["digital signature", "key encipherment", "server auth"],
};
const dns = { type: "dns", value: "one.example" } as const;
const ip = { type: "ip", value: "192.0.2.1" } as const;
const email = { type: "email", value: "a@one.example" } as const;
const url = { type: "url", value: "spiffe://one.example/a" } as const;

/** Requests that are approved by a user. */
const approved: readonly (readonly [what: string, asked: Asked])[] = [
  ["a client", client],
  ["a client with all usages", { ...client, usages: ["digital signature", "key encipherment", "client auth"] }],
  ["a client without the usage", { ...client, usages: ["digital signature"] }],
  ["a client that wants to serve", { ...client, usages: ["client auth", "server auth"] }],
  ["a client with a long subject", { ...client, subject: "E=a@b.c,CN=jane,OU=dev,OU=ops,O=b,O=a,L=Bern,ST=BE,C=CH" }],
  ["a client with street and number", { ...client, subject: "CN=jane,2.5.4.5=7,2.5.4.9=Main,2.5.4.17=3000,DC=x" }],
  ["a client without a subject", { ...client, subject: "" }],
  ["a client for ten minutes", { ...client, expirationSeconds: 600 }],
  ["a client for an hour", { ...client, expirationSeconds: 3600 }],
  ["a client for a day", { ...client, expirationSeconds: 86_400 }],
  ["a client for many years", { ...client, expirationSeconds: 2_000_000_000 }],
  ["a client with names", { ...client, names: [dns, ip, email, url] }],
  ["a kubelet that serves", { ...served, names: [dns, ip] }],
  ["a kubelet that serves with an elliptic key", {
    ...served,
    usages: ["digital signature", "server auth"],
    names: [ip],
  }],
  ["a kubelet that serves without names", served],
  ["a kubelet that serves in another organization", {
    ...served,
    subject: "CN=system:node:one,O=people",
    names: [dns],
  }],
  ["a kubelet that serves in two organizations", {
    ...served,
    subject: "CN=system:node:one,O=system:nodes,O=people",
    names: [dns],
  }],
  ["a kubelet that serves with an email", { ...served, names: [dns, email] }],
  ["a kubelet that serves with a URI", { ...served, names: [dns, url] }],
  ["a kubelet that serves with other usages", { ...served, usages: ["server auth"], names: [dns] }],
  ["a kubelet that serves under another name", { ...served, subject: "CN=one,O=system:nodes", names: [dns] }],
  ["a kubelet with a DNS name", { ...node, usages: nodeUsages, names: [dns] }],
  ["a kubelet with an address", { ...node, usages: nodeUsages, names: [ip] }],
  ["a kubelet with an email", { ...node, usages: nodeUsages, names: [email] }],
  ["a kubelet with a URI", { ...node, usages: nodeUsages, names: [url] }],
  ["a kubelet under another name", { ...node, subject: "CN=one,O=system:nodes", usages: nodeUsages }],
  ["a kubelet in no organization", { ...node, subject: "CN=system:node:one", usages: nodeUsages }],
  ["a kubelet with other usages", { ...node, usages: ["client auth", "server auth"] }],
];

/** Requests that a controller approves, because the administrator may make them. */
const autoApproved: readonly (readonly [what: string, asked: Asked])[] = [
  ["a kubelet", { ...node, usages: nodeUsages }],
  ["a kubelet with an RSA key", { ...node, usages: ["digital signature", "key encipherment", "client auth"] }],
];

const traits = { needsControllers: true, needsNamespace: false };

export const signingCases: readonly ConformanceCase[] = [
  ...approved.map(([what, asked]) =>
    scenario(`a certificate of ${what}`, (run) => ask(run, asked, "Approved"), traits)
  ),
  ...autoApproved.map(([what, asked]) => scenario(`approval of ${what}`, (run) => ask(run, asked), traits)),
  ...invalidSigningCases,
  scenario("a denied request is not signed", (run) => ask(run, client, "Denied"), traits),
];
