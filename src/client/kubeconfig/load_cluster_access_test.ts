/** Tests of loadClusterAccess(): flags, service accounts, credentials, secrets. */
import { inspect } from "node:util";
import { assert, assertEquals, assertMatch, assertRejects, test } from "../../../tests/testing.ts";
import { RecordingLogger } from "../testing/cluster_access.ts";
import { accessOf, base64, errorMessage, folderWith, pem, simple } from "../testing/kubeconfig.ts";
import { TemporaryFolder } from "../testing/temporary_folder.ts";
import { KubeconfigError } from "./cluster_access.ts";
import { loadKubeconfig } from "./kubeconfig.ts";

test("flags override the kubeconfig as in kubectl", async () => {
  await using folder = await folderWith({ config: simple });
  const access = await accessOf(folder, {
    context: "prod",
    cluster: "one",
    user: "jane",
    namespace: "elsewhere",
    token: "flag-token",
    as: "root",
    asGroups: ["a", "b"],
    asUid: "u",
    clientCertificate: "certs/c.pem",
    clientKey: "certs/k.pem",
    requestTimeoutMs: 5,
  });
  assertEquals([access.server, access.namespace, access.requestTimeoutMs], [
    "https://one.example:6443",
    "elsewhere",
    5,
  ]);
  assert(access.credentials.kind === "token");
  assertEquals(access.credentials.token.reveal(), "flag-token");
  assertEquals(access.impersonate, { user: "root", uid: "u", groups: ["a", "b"], extra: {} });
  assertEquals(access.clientCertificate?.certificate, { kind: "file", path: `${folder.path}/certs/c.pem` });
});

test("--server drops the server name of the kubeconfig, and --tls-server-name sets one", async () => {
  await using folder = await folderWith({ config: simple });
  assertEquals((await accessOf(folder, { context: "prod", server: "https://x" })).serverName, undefined);
  const both = await accessOf(folder, { context: "prod", server: "https://x", tlsServerName: "y" });
  assertEquals([both.server, both.serverName], ["https://x", "y"]);
});

test("[84] a namespace that cannot exist is an error that names its source and the rule", async () => {
  const text = simple.replace("namespace: team-a", "namespace: Team_A");
  assertMatch(
    await errorMessage(text),
    /^Cannot use context "[^"]+": its namespace "Team_A" cannot exist, it is not an RFC 1123 label/,
  );
  assertMatch(
    await errorMessage(simple, { namespace: "a.b" }),
    /^Cannot use namespace "a.b" of the flags: it is not an RFC 1123 label/,
  );
  await using folder = await folderWith({ config: text });
  assertEquals((await accessOf(folder, { namespace: "other" })).namespace, "other");
});

test("--server and --token are enough without a kubeconfig", async () => {
  await using folder = await TemporaryFolder.with({});
  const access = await accessOf(folder, { server: "https://x:1/path/", token: "t" });
  assertEquals([access.server, access.namespace, access.source.kind], ["https://x:1/path", "default", "flags"]);
});

test("[security 2] skipping verification logs a warning and contradicts a CA, and either flag replaces both", async () => {
  const skipping = simple.replace(
    "tls-server-name: kubernetes, certificate-authority: certs/ca.pem",
    "insecure-skip-tls-verify: true",
  );
  await using folder = await folderWith({ config: skipping, plain: simple });
  const logger = new RecordingLogger();
  for (let round = 1; round <= 2; round++) {
    assertEquals((await accessOf(folder, { context: "prod" }, { logger })).insecureSkipTlsVerify, true);
    assertEquals(logger.warnings.length, round);
  }
  const withCa = await accessOf(folder, { context: "prod", certificateAuthority: "certs/ca.pem" }, { logger });
  assertEquals([withCa.insecureSkipTlsVerify, withCa.certificateAuthority?.kind, logger.warnings.length], [
    false,
    "file",
    2,
  ]);
  const flag = await accessOf(folder, { kubeconfig: "plain", insecureSkipTlsVerify: true }, { logger });
  assertEquals([flag.insecureSkipTlsVerify, flag.certificateAuthority], [true, undefined]);
  const both = skipping.replace("skip-tls-verify: true", "skip-tls-verify: true, certificate-authority: certs/ca.pem");
  assertMatch(
    await errorMessage(both, { context: "prod" }),
    /^Cannot use insecure-skip-tls-verify: the cluster has a certificate/,
  );
});

test("[security 2] an environment that disables verification is refused", async () => {
  await using folder = await folderWith({ config: simple });
  const environment = { KUBECONFIG: `${folder.path}/config`, NODE_TLS_REJECT_UNAUTHORIZED: "0" };
  await assertRejects(() => accessOf(folder, {}, { environment }), /^Cannot start: NODE_TLS_REJECT_UNAUTHORIZED=0/);
});

test("unencrypted servers are allowed on loopback only, and get no credentials", async () => {
  await using folder = await folderWith({ config: simple });
  for (const server of ["http://localhost:8080", "http://127.0.0.1:8001", "http://[::1]:1"]) {
    const access = await accessOf(folder, {
      server,
      token: "t",
      clientCertificate: "certs/c.pem",
      clientKey: "certs/k.pem",
    });
    assertEquals([access.credentials.kind, access.clientCertificate], ["none", undefined]);
  }
});

test("inline data has precedence over a file, and must be PEM in base64", async () => {
  const both = simple.replace(
    "certificate-authority-data",
    "certificate-authority: nowhere.pem, certificate-authority-data",
  );
  await using folder = await folderWith({ config: both });
  assertEquals((await accessOf(folder)).certificateAuthority?.kind, "data");
  const wrong = simple.replace(base64(pem("CA ONE")), "not-base64!");
  assertEquals(await errorMessage(wrong), "Cannot use certificate-authority-data: it is not PEM in base64");
});

test("credentials have an order of precedence, and contradictions are refused", async () => {
  const withUser = (user: string) => simple.replace("user: { token: token-of-jane }", `user: { ${user} }`);
  const exec = "exec: { apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: Never }";
  const kinds: readonly (readonly [string, string])[] = [
    ["tokenFile: certs/c.pem, token: a", "tokenFile"],
    [`token: a, ${exec}`, "token"],
    ["username: u, password: p", "basic"],
    [exec, "exec"],
    [`${exec}, client-certificate: certs/c.pem, client-key: certs/k.pem`, "none"],
    ["auth-provider: { name: oidc, config: { id-token: x } }", "oidc"],
    ["", "none"],
  ];
  for (const [user, kind] of kinds) {
    await using folder = await folderWith({ config: withUser(user) });
    assertEquals((await accessOf(folder)).credentials.kind, kind, user);
  }
  const refused: readonly (readonly [string, RegExp])[] = [
    ["token: a, username: b", /it has a token and a user name, only one is allowed/],
    [`${exec}, auth-provider: { name: gcp }`, /an exec plugin and an auth provider, only one is allowed/],
    ["exec: { apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never }", /command is missing/],
    ["exec: { command: x }", /apiVersion is missing/],
    [
      "exec: { command: x, apiVersion: client.authentication.k8s.io/v1alpha1 }",
      /is not client.authentication.k8s.io\/v1 or v1beta1/,
    ],
    ["exec: { command: x, apiVersion: client.authentication.k8s.io/v1 }", /interactiveMode is missing/],
    ["client-certificate: certs/c.pem", /client-key or client-key-data is missing/],
  ];
  for (const [user, pattern] of refused) assertMatch(await errorMessage(withUser(user)), pattern);
});

test("a Pod uses its service account if there is no kubeconfig", async () => {
  const serviceAccount = {
    "serviceaccount/token": "t",
    "serviceaccount/ca.crt": "c",
    "serviceaccount/namespace": "own\n",
  };
  await using folder = await folderWith({ ...serviceAccount, config: simple });
  const environment = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };
  const access = await accessOf(folder, {}, { environment });
  assertEquals([access.server, access.namespace, access.source.kind], ["https://[fd00::1]", "own", "inCluster"]);
  assertEquals(access.credentials, { kind: "tokenFile", path: `${folder.path}/serviceaccount/token` });
  assertEquals(access.certificateAuthority, { kind: "file", path: `${folder.path}/serviceaccount/ca.crt` });
  const both = { ...environment, KUBECONFIG: `${folder.path}/config` };
  assertEquals((await accessOf(folder, {}, { environment: both })).source.kind, "kubeconfig");
  assertEquals((await accessOf(folder, { namespace: "n", token: "x" }, { environment })).namespace, "n");
});

test("without any configuration the error names the searched files and says what to do", async () => {
  await using folder = await TemporaryFolder.with({});
  const error = await assertRejects(() => accessOf(folder));
  assert(error instanceof KubeconfigError);
  assertMatch(
    error.message,
    /^Cannot find a cluster: there is no kubeconfig \(searched ".*\/config"\).*pass --kubeconfig or --server/,
  );
});

test("[security 5] a printed kubeconfig or access shows no secrets", async () => {
  const secrets = ["s3cret-token", "s3cret-password", "s3cret-env", "s3cret-provider", "s3cret-key"];
  const config = `
current-context: a
clusters: [{ name: c, cluster: { server: "https://c" } }]
contexts: [{ name: a, context: { cluster: c, user: a } }, { name: b, context: { cluster: c, user: b } }, { name: e, context: { cluster: c, user: e } }, { name: p, context: { cluster: c, user: p } }]
users:
- { name: a, user: { token: ${secrets[0]}, client-certificate-data: ${base64(pem("c"))}, client-key-data: ${
    base64(pem(secrets[4] ?? ""))
  } } }
- { name: b, user: { username: u, password: ${secrets[1]} } }
- { name: e, user: { exec: { apiVersion: client.authentication.k8s.io/v1beta1, command: x, env: [{ name: A, value: ${
    secrets[2]
  } }] } } }
- { name: p, user: { auth-provider: { name: oidc, config: { id-token: ${secrets[3]} } } } }`;
  await using folder = await folderWith({ config });
  const kubeconfig = await loadKubeconfig({ path: `${folder.path}/config`, environment: {}, workingDirectory: "/" });
  const values: unknown[] = [kubeconfig];
  for (const context of ["a", "b", "e", "p"]) values.push(await accessOf(folder, { context }));
  for (const value of values) {
    for (const text of [JSON.stringify(value), inspect(value, { depth: 12 })]) {
      assertEquals(secrets.filter((secret) => text.includes(secret) || text.includes(base64(pem(secret)))), [], text);
    }
  }
});
