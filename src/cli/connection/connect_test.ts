import { CertificateAuthority } from "../../../tests/controlplane/certificate_authority.ts";
import { assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { type ClusterAccess, Masked } from "../../client/mod.ts";
import { credentialsAdvice } from "./connect.ts";

const bare: ClusterAccess = {
  source: { kind: "flags" },
  server: "https://10.0.0.1:6443",
  namespace: "default",
  certificateAuthority: undefined,
  insecureSkipTlsVerify: false,
  serverName: undefined,
  proxy: undefined,
  clientCertificate: undefined,
  credentials: { kind: "none" },
  impersonate: undefined,
  user: "ann",
  requestTimeoutMs: undefined,
};

async function withCertificate(notAfter: Date): Promise<ClusterAccess> {
  const authority = await CertificateAuthority.create("test");
  const pair = await authority.issue({ commonName: "ann", notBefore: new Date("2020-01-01"), notAfter });
  const pem = (text: string) => ({ kind: "data", pem: new Masked(text) }) as const;
  return { ...bare, clientCertificate: { certificate: pem(pair.certificate), key: pem(pair.key) } };
}

const now = Date.parse("2026-06-01T00:00:00Z");

test("[84] the advice for an expired client certificate names its date", async () => {
  const advice = await credentialsAdvice(await withCertificate(new Date("2026-05-31T12:00:00Z")), now);
  assertEquals(advice, "Get a new client certificate: this one expired at 2026-05-31T12:00:00.000Z");
});

test("the advice for a valid client certificate does not mention its date", async () => {
  assertMatch(await credentialsAdvice(await withCertificate(new Date("2027-01-01")), now), /issued for this cluster/);
});

test("an unreadable client certificate does not hide the error of the server", async () => {
  const broken = { kind: "file", path: "/nonexistent/cert.pem" } as const;
  const access = { ...bare, clientCertificate: { certificate: broken, key: broken } };
  assertMatch(await credentialsAdvice(access, now), /issued for this cluster/);
});

test("each kind of credentials has its own advice, which contains no secret", async () => {
  assertMatch(await credentialsAdvice(bare, now), /has no credentials for this user/);
  const token = { ...bare, credentials: { kind: "token", token: new Masked("s3cret") } } as const;
  assertEquals(
    await credentialsAdvice(token, now),
    "Check whether the token has expired, was revoked, or belongs to another cluster",
  );
});
