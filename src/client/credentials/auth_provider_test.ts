/** Tests of auth providers, with @kubernetes/client-node. */
import { VirtualClock } from "../../async/mod.ts";
import { assert, assertEquals, assertRejects, test } from "../../../tests/testing.ts";
import { CredentialsError, Masked } from "../kubeconfig/mod.ts";
import { accessTo, RecordingLogger } from "../testing/cluster_access.ts";
import { testSource } from "../testing/credential_source.ts";
import { credentialSource } from "./credential_source.ts";

const never = new AbortController().signal;

test("the token of an auth provider is used until it expires", async () => {
  const encode = (value: object) =>
    new TextEncoder().encode(JSON.stringify(value)).toBase64({ alphabet: "base64url", omitPadding: true });
  // client-node uses the system clock and this test a virtual one, so the expiry is far ahead of both.
  const token = `${encode({ alg: "none" })}.${encode({ exp: Date.UTC(2100, 0, 1) / 1000 })}.c2ln`;
  const config = new Masked(JSON.stringify({ "id-token": token }));
  assertEquals(await testSource({ kind: "authProvider", name: "oidc", config }).header(), `Bearer ${token}`);
});

test("an auth provider without a usable token fails, and the error does not show its configuration", async () => {
  const expired = new Masked(JSON.stringify({ "access-token": "s3cret", expiry: "2020-01-01T00:00:00Z" }));
  for (const name of ["gcp", "azure", "unknown"]) {
    const error = await assertRejects(testSource({ kind: "authProvider", name, config: expired }).header);
    assert(error instanceof CredentialsError && !error.message.includes("s3cret"), error.message);
  }
});

test("[security 4] the policy for exec plugins applies to an auth provider that runs a program", async () => {
  const config = new Masked(JSON.stringify({ "cmd-path": "/bin/true" }));
  const access = accessTo("https://c", { credentials: { kind: "authProvider", name: "gcp", config } });
  const options = { clock: new VirtualClock(), logger: new RecordingLogger(), environment: {} };
  const source = credentialSource(access, { ...options, execPolicy: { kind: "denyAll" } });
  await assertRejects(() => source.current(never), /the policy allows none$/);
});
