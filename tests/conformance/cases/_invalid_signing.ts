/** Errors of CertificateSigningRequests: a valid object with one change each, for signing.ts. */
import type { ConformanceCase } from "../conformance_case.ts";
import { type Changes, type MutatedKind, mutationCases } from "./_mutations.ts";
import { type Body, signingRequest } from "./_objects.ts";

const pem = (type: string, content: string) => btoa(`-----BEGIN ${type}-----\n${content}\n-----END ${type}-----\n`);

const condition = (type: string, status = "True"): Body => ({ type, status, reason: "Case", message: "" });

/** A status with conditions. */
const having = (...conditions: readonly Body[]): Changes => ({ status: { conditions } });

const request: MutatedKind = {
  what: "a CertificateSigningRequest",
  path: () => "/apis/certificates.k8s.io/v1/certificatesigningrequests",
  good: (run) => ({
    metadata: { name: run.name("asked") },
    // No controller acts on the requests for this signer.
    spec: { request: signingRequest, signerName: "example.com/custom", usages: ["client auth"] },
  }),
  // The administrators of the two servers have other names.
  pick: ({ spec: { username: _name, uid: _uid, groups: _groups, ...spec }, status }) => ({ spec, status }),
  creates: [
    { spec: undefined },
    { "spec.request": undefined },
    { "spec.request": "!" },
    { "spec.request": btoa("text") },
    { "spec.request": pem("CERTIFICATE", "MAA=") },
    { "spec.request": pem("CERTIFICATE REQUEST", "MAA=") },
    { "spec.signerName": undefined },
    { "spec.signerName": "plain" },
    { "spec.signerName": "one/part" },
    { "spec.signerName": "a.b/c/d" },
    { "spec.signerName": "a.b/" },
    { "spec.signerName": "Upper.b/c" },
    { "spec.signerName": "a..b/c" },
    { "spec.signerName": "a.b/C_d" },
    { "spec.signerName": "kubernetes.io/legacy-unknown" },
    { "spec.signerName": `${"a".repeat(250)}.example/x` },
    { "spec.usages": undefined },
    { "spec.usages": [] },
    { "spec.usages": ["fly"] },
    { "spec.usages": ["client auth", "client auth"] },
    { "spec.expirationSeconds": 0 },
    { "spec.expirationSeconds": 599 },
    { "spec.expirationSeconds": -1 },
    { "spec.username": "someone-else" },
    { "metadata.name": "a/b" },
    { "metadata.name": "Any Name" },
    having(condition("Approved")),
    ["several errors", { "spec.signerName": "x", "spec.usages": ["fly", "fly"], "spec.expirationSeconds": 1 }],
  ],
  updates: [
    { "spec.request": "!" },
    { "spec.usages": ["server auth"] },
    { "spec.signerName": "example.com/other" },
    { "metadata.labels": { a: "b" } },
    { "metadata.resourceVersion": undefined },
    having(condition("Approved")),
    { status: { certificate: pem("CERTIFICATE", "MAA=") } },
  ],
  statusUpdates: [
    having(condition("Approved")),
    having(condition("Denied")),
    having(condition("Failed")),
    having(condition("Failed", "False")),
    having(condition("", "True")),
    having(condition("Other", "Perhaps")),
    having(condition("Other"), condition("Other")),
    { status: { certificate: btoa("text") } },
    { status: { certificate: pem("PRIVATE KEY", "MAA=") } },
    { status: { certificate: pem("CERTIFICATE", "") } },
    { status: { certificate: pem("CERTIFICATE", "MAA=") } },
    { status: { certificate: btoa("-----BEGIN CERTIFICATE-----\nA: b\n\nMAA=\n-----END CERTIFICATE-----\n") } },
    { "spec.signerName": "example.com/other" },
  ],
};

export const invalidSigningCases: readonly ConformanceCase[] = mutationCases({
  ...request,
  traits: { needsNamespace: false },
});
