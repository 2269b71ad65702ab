import { assertEquals, test } from "../../../../tests/testing.ts";
import { created, kindNamed, updated } from "../testing/kinds_testing.ts";
import { toBase64 } from "../types/mod.ts";
import { toBase64 as encodeBase64 } from "../../../runtime/mod.ts";

const requests = kindNamed("CertificateSigningRequest", "certificates.k8s.io/v1");
/** A structure with a serial number, an algorithm and a signature, all of them empty. */
const der = encodeBase64(new Uint8Array([0x30, 9, 0x30, 3, 0x02, 1, 1, 0x30, 0, 0x03, 0]));
const pem = (type: string) => toBase64(`-----BEGIN ${type}-----\n${der}\n-----END ${type}-----\n`);
const spec = { request: pem("CERTIFICATE REQUEST"), signerName: "example.com/a", usages: ["client auth"] };
const approved = { type: "Approved", status: "True", reason: "Tested" };

test("a new request records its real user, whatever the body says", () => {
  const { object, problems } = created(requests, { spec: { ...spec, username: "root", groups: ["system:masters"] } });
  assertEquals(problems, []);
  assertEquals([object.spec.username, object.spec.groups, object.spec.extra], ["jane", ["people"], { scope: ["all"] }]);
  assertEquals(object.status, {});
});

test("an update does not change the spec of a request", () => {
  const { object } = created(requests, { spec });
  const next = updated(requests, { ...object, spec: { ...spec, signerName: "b.example/c" } }, object);
  assertEquals(next.object.spec, object.spec);
});

test("only the approval subresource approves, and no update removes the approval", () => {
  const { object } = created(requests, { spec });
  const desired = { ...object, status: { conditions: [approved] } };
  assertEquals(updated(requests, desired, object).object.status, {});
  assertEquals(updated(requests, desired, object, "status").problems, [
    'status.conditions: Forbidden: updates may not add a condition of type "Approved"',
  ]);
  const { object: next, problems } = updated(requests, desired, object, "approval");
  assertEquals(problems, []);
  assertEquals(next.status.conditions[0].lastUpdateTime, "2026-01-01T00:00:00Z");
  const without = { ...next, status: { conditions: [{ ...approved, type: "Other" }] } };
  assertEquals(updated(requests, without, next, "approval").problems, [
    'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
  ]);
});

test("an approved request cannot be denied", () => {
  const { object } = created(requests, { spec });
  const both = { conditions: [approved, { ...approved, type: "Denied" }] };
  assertEquals(updated(requests, { ...object, status: both }, object, "approval").problems, [
    'status.conditions: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
  ]);
});

const certificates: readonly (readonly [what: string, certificate: string, problem: string | undefined])[] = [
  ["a certificate", pem("CERTIFICATE"), undefined],
  ["a request", pem("CERTIFICATE REQUEST"), 'only CERTIFICATE PEM blocks are allowed, found "CERTIFICATE REQUEST"'],
  ["nothing", toBase64("x"), "must contain at least one CERTIFICATE PEM block"],
];

for (const [what, certificate, problem] of certificates) {
  test(`${what} as the certificate of a request is ${problem === undefined ? "accepted" : "rejected"}`, () => {
    const { object } = created(requests, { spec });
    const { problems } = updated(requests, { ...object, status: { certificate } }, object, "status");
    const expected = `status.certificate: Invalid value: "<certificate data>": ${problem}`;
    assertEquals(problems, problem === undefined ? [] : [expected]);
  });
}

const signers: readonly (readonly [name: string, problems: number])[] = [
  ["example.com/a", 0],
  ["kubernetes.io/kube-apiserver-client", 0],
  ["example.com", 1],
  ["a/b/c", 1],
  ["example/a", 1],
  ["Example.com/a", 1],
  ["example.com/A..b", 1],
  ["kubernetes.io/legacy-unknown", 1],
  ["", 1],
];

for (const [signerName, count] of signers) {
  test(`the signer ${JSON.stringify(signerName)} is ${count === 0 ? "valid" : "invalid"}`, () => {
    assertEquals(created(requests, { spec: { ...spec, signerName } }).problems.length, count);
  });
}
