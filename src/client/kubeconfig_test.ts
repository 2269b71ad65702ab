/** From files, variables and flags to a ClusterAccess, as kubectl decides it. */
import { inspect } from "node:util";
import { assert, assertEquals, assertMatch, assertRejects, test } from "../../tests/testing.ts";
import { RecordingLogger } from "./_access_test_data.ts";
import { Folder } from "./_folder_test_data.ts";
import type { ClusterAccess } from "./cluster_access.ts";
import { kubeconfigPaths, loadKubeconfig } from "./kubeconfig.ts";
import { KubeconfigError } from "./kubeconfig_error.ts";
import { type KubeconfigOverrides, loadClusterAccess, type LoadClusterAccessOptions } from "./load_cluster_access.ts";

const pem = (name: string) => `-----BEGIN CERTIFICATE-----\n${name}\n-----END CERTIFICATE-----\n`;
const base64 = (text: string) => btoa(text);

const simple = `
apiVersion: v1
kind: Config
current-context: dev
clusters:
- name: one
  cluster: { server: "https://one.example:6443/", certificate-authority-data: ${base64(pem("CA ONE"))} }
- name: two
  cluster: { server: "https://two.example", tls-server-name: kubernetes, certificate-authority: certs/ca.pem }
users:
- name: jane
  user: { token: token-of-jane }
- name: cert
  user: { client-certificate: certs/c.pem, client-key: certs/k.pem }
contexts:
- name: dev
  context: { cluster: one, user: jane, namespace: team-a }
- name: prod
  context: { cluster: two, user: cert }
`;

async function folderWith(files: Record<string, string>): Promise<Folder> {
  return await Folder.with({ "certs/ca.pem": pem("CA TWO"), "certs/c.pem": "c", "certs/k.pem": "k", ...files });
}

async function accessOf(
  folder: Folder,
  overrides: KubeconfigOverrides = {},
  options: Partial<LoadClusterAccessOptions> = {},
): Promise<ClusterAccess> {
  return await loadClusterAccess({
    environment: { KUBECONFIG: `${folder.path}/config` },
    workingDirectory: folder.path,
    serviceAccountDirectory: `${folder.path}/serviceaccount`,
    overrides,
    ...options,
  });
}

async function complaint(text: string, overrides: KubeconfigOverrides = {}): Promise<string> {
  await using folder = await folderWith({ config: text });
  const error = await assertRejects(() => accessOf(folder, overrides));
  assert(error instanceof KubeconfigError, `${error.name}: ${error.message}`);
  return error.message.replaceAll(folder.path, "");
}

test("the current context leads to a server, a namespace and credentials", async () => {
  await using folder = await folderWith({ config: simple });
  const access = await accessOf(folder);
  assertEquals([access.server, access.namespace, access.user], ["https://one.example:6443", "team-a", "jane"]);
  assert(access.credentials.kind === "token" && access.certificateAuthority?.kind === "data");
  assertEquals(access.credentials.token.reveal(), "token-of-jane");
  assertEquals(access.certificateAuthority.pem.reveal(), pem("CA ONE"));
  assertEquals(access.source, { kind: "kubeconfig", files: [`${folder.path}/config`], context: "dev" });
});

test("[83] relative paths are relative to the file they stand in", async () => {
  await using folder = await folderWith({
    "deep/config": simple,
    "deep/certs/ca.pem": "",
    "deep/certs/c.pem": "",
    "deep/certs/k.pem": "",
  });
  const access = await accessOf(folder, { kubeconfig: "deep/config", context: "prod" });
  assertEquals(access.certificateAuthority, { kind: "file", path: `${folder.path}/deep/certs/ca.pem` });
  assertEquals(access.clientCertificate, {
    certificate: { kind: "file", path: `${folder.path}/deep/certs/c.pem` },
    key: { kind: "file", path: `${folder.path}/deep/certs/k.pem` },
  });
  assertEquals([access.serverName, access.namespace, access.credentials.kind], ["kubernetes", "default", "none"]);
});

test("[83] files merge: of equal names the first wins whole, missing and empty ones are skipped", async () => {
  const second = `
current-context: prod
clusters: [{ name: one, cluster: { server: "https://other" } }, { name: three, cluster: { server: "https://three" } }]
users: null
contexts: [{ name: late, context: { cluster: three, user: jane } }]`;
  await using folder = await folderWith({ a: simple, b: second, empty: "" });
  const list = ["missing", "empty", "a", "", "b", "a"].map((name) => name === "" ? "" : `${folder.path}/${name}`).join(
    ":",
  );
  const environment = { KUBECONFIG: list };
  const access = await accessOf(folder, {}, { environment });
  assertEquals(access.server, "https://one.example:6443");
  assertEquals(access.source.kind === "kubeconfig" && access.source.files.length, 3);
  assertEquals((await accessOf(folder, { context: "late" }, { environment })).server, "https://three");
});

test("[83] the first current-context of the list wins, also over a file before it that has none", async () => {
  await using folder = await folderWith({ a: simple.replace("current-context: dev", ""), b: "current-context: prod" });
  const access = await accessOf(folder, {}, { environment: { KUBECONFIG: `${folder.path}/a:${folder.path}/b` } });
  assertEquals(access.server, "https://two.example");
});

test("[83] a file named by --kubeconfig must be there, and is the only one", async () => {
  await using folder = await folderWith({ config: simple });
  const error = await assertRejects(
    () => accessOf(folder, { kubeconfig: "nowhere" }),
    /there is no such file; check --kubeconfig$/,
  );
  assert(error instanceof KubeconfigError);
  const paths = kubeconfigPaths({ path: "x", environment: { KUBECONFIG: "/a:/b" }, workingDirectory: "/w" });
  assertEquals(paths, ["/w/x"]);
});

test("~/.kube/config is the default, and there is none without a home", () => {
  const options = { environment: {}, workingDirectory: "/w" };
  assertEquals(kubeconfigPaths({ ...options, home: "/home/jane" }), ["/home/jane/.kube/config"]);
  assertEquals(kubeconfigPaths(options), []);
});

test("[83] what is missing or leads nowhere is named, with what there is", async () => {
  const cases: readonly (readonly [string, KubeconfigOverrides, RegExp])[] = [
    [
      simple,
      { context: "nope" },
      /^Cannot use context "nope" \(--context\): it does not exist; there are "dev", "prod"$/,
    ],
    [
      simple.replace("context: dev", "context: gone"),
      {},
      /^Cannot use context "gone" \(current-context\): it does not exist/,
    ],
    [
      simple.replace("current-context: dev", ""),
      {},
      /no context is current; pass --context or set current-context; there are/,
    ],
    [
      simple,
      { cluster: "nope" },
      /^Cannot use cluster "nope" \(named by context "dev"\): it does not exist; there are "one"/,
    ],
    [
      simple.replace("user: jane", "user: john"),
      {},
      /^Cannot use user "john" \(named by context "dev"\): it does not exist/,
    ],
    [simple.replace("cluster: one, user", "user"), {}, /^Cannot use context "dev": it names no cluster/],
    [
      simple.replace('server: "https://one.example:6443/", ', ""),
      {},
      /^Cannot use server of cluster "one": it is missing$/,
    ],
    [simple, { server: "one.example" }, /is not a URL that starts with https:\/\//],
    [simple, { server: "http://one.example" }, /is unencrypted, which is for this machine only; use https:\/\//],
    [simple, { server: "https://a:b@one.example" }, /credentials do not belong into the URL/],
    [
      simple,
      { certificateAuthority: "nope.pem" },
      /^Cannot read certificate-authority "\/nope.pem": there is no such file$/,
    ],
    [simple, { clientCertificate: "certs/c.pem" }, /^Cannot use client certificate of user "jane": client-key or/],
    [simple, { asGroups: ["admins"] }, /^Cannot act as a group or UID: a user is missing; pass --as too$/],
  ];
  for (const [text, overrides, pattern] of cases) assertMatch(await complaint(text, overrides), pattern);
});

test("[83] a name that is there twice in one file is refused", async () => {
  const twice = simple.replace("- name: two", "- name: one");
  assertEquals(await complaint(twice), 'Cannot use kubeconfig "/config": cluster "one" is there twice');
});

test("[17] YAML that is broken, ambiguous, huge or a bomb is refused, and never quoted", async () => {
  const bomb = [
    "a: &a [x,x,x,x,x,x,x,x,x]",
    ..."bcdefgh".split("").map((name, index) => {
      const before = "abcdefgh"[index];
      return `${name}: &${name} [${Array(9).fill(`*${before}`).join(",")}]`;
    }),
  ].join("\n");
  const cases: readonly (readonly [string, RegExp])[] = [
    [
      "users: [{ name: a, user: { token: s3cret, token: t0ken } }]",
      /^Cannot use kubeconfig "\/config": line 1: a key is there twice$/,
    ],
    [
      "users:\n  - name: a\n   user: s3cret: t0ken: [",
      /^Cannot use kubeconfig "\/config": line \d: it is not valid YAML \([A-Z_]+\)$/,
    ],
    [bomb, /^Cannot use kubeconfig "\/config": it has too many aliases/],
    ["x: *nowhere", /^Cannot use kubeconfig "\/config": /],
    [
      "users: [{ name: a, user: { token: 12345 } }]",
      /^Cannot use kubeconfig "\/config": at users.0.user.token: .*expected string/,
    ],
    ["clusters: {}", /^Cannot use kubeconfig "\/config": at clusters: /],
    ["just text", /^Cannot use kubeconfig "\/config": at the top: /],
    ["kind: Pod", /^Cannot use kubeconfig "\/config": at kind: /],
    [`# ${"x".repeat(1024 * 1024)}`, /^Cannot read kubeconfig "\/config": it is larger than 1 MiB$/],
  ];
  for (const [text, pattern] of cases) {
    const message = await complaint(text);
    assertMatch(message, pattern);
    assert(!/s3cret|t0ken|12345/.test(message), message);
  }
});

test("[16] names that are words of JavaScript are names, and change no prototype", async () => {
  const names = ["__proto__", "constructor", "toString", "hasOwnProperty"];
  const text = names.map((name) =>
    `{ name: ${name}, cluster: { server: "https://${name.replaceAll("_", "x").toLowerCase()}" } }`
  ).join(", ");
  const config = `
clusters: [${text}]
__proto__: { polluted: yes }
users: [{ name: u, user: { as: a, as-user-extra: { __proto__: [x], constructor: [y] } } }]
contexts: [${names.map((name) => `{ name: ${name}, context: { cluster: ${name}, user: u } }`).join(", ")}]`;
  await using folder = await folderWith({ config });
  for (const name of names) {
    const access = await accessOf(folder, { context: name });
    assertEquals(access.server, `https://${name.replaceAll("_", "x").toLowerCase()}`);
    assertEquals(Object.hasOwn(access.impersonate?.extra ?? {}, "constructor"), true);
  }
  assertEquals(Reflect.get({}, "polluted"), undefined);
  await assertRejects(() => accessOf(folder, { context: "valueOf" }), /does not exist/);
});

test("flags override, each as kubectl's", async () => {
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

test("--server alone drops the server name of the kubeconfig, --tls-server-name gives one", async () => {
  await using folder = await folderWith({ config: simple });
  assertEquals((await accessOf(folder, { context: "prod", server: "https://x" })).serverName, undefined);
  const both = await accessOf(folder, { context: "prod", server: "https://x", tlsServerName: "y" });
  assertEquals([both.server, both.serverName], ["https://x", "y"]);
});

test("without a kubeconfig --server and --token are enough", async () => {
  await using folder = await Folder.with({});
  const access = await accessOf(folder, { server: "https://x:1/path/", token: "t" });
  assertEquals([access.server, access.namespace, access.source.kind], ["https://x:1/path", "default", "flags"]);
});

test("[2] skipping verification warns each time, contradicts a CA, and either flag replaces both", async () => {
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
    await complaint(both, { context: "prod" }),
    /^Cannot use insecure-skip-tls-verify: the cluster has a certificate/,
  );
});

test("[2] an environment that turns verification off is refused", async () => {
  await using folder = await folderWith({ config: simple });
  const environment = { KUBECONFIG: `${folder.path}/config`, NODE_TLS_REJECT_UNAUTHORIZED: "0" };
  await assertRejects(() => accessOf(folder, {}, { environment }), /^Cannot start: NODE_TLS_REJECT_UNAUTHORIZED=0/);
});

test("unencrypted servers are for loopback, and get no credentials", async () => {
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

test("inline data beats a file, and must be PEM in base64", async () => {
  const both = simple.replace(
    "certificate-authority-data",
    "certificate-authority: nowhere.pem, certificate-authority-data",
  );
  await using folder = await folderWith({ config: both });
  assertEquals((await accessOf(folder)).certificateAuthority?.kind, "data");
  const wrong = simple.replace(base64(pem("CA ONE")), "not-base64!");
  assertEquals(await complaint(wrong), "Cannot use certificate-authority-data: it is not PEM in base64");
});

test("of several credentials the right one counts, and contradictions are refused", async () => {
  const withUser = (user: string) => simple.replace("user: { token: token-of-jane }", `user: { ${user} }`);
  const exec = "exec: { apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: Never }";
  const kinds: readonly (readonly [string, string])[] = [
    ["tokenFile: certs/c.pem, token: a", "tokenFile"],
    [`token: a, ${exec}`, "token"],
    ["username: u, password: p", "basic"],
    [exec, "exec"],
    [`${exec}, client-certificate: certs/c.pem, client-key: certs/k.pem`, "none"],
    ["auth-provider: { name: oidc, config: { id-token: x } }", "authProvider"],
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
  for (const [user, pattern] of refused) assertMatch(await complaint(withUser(user)), pattern);
});

test("a Pod finds its API server by its service account, after every kubeconfig", async () => {
  const serviceAccount = {
    "serviceaccount/token": "t",
    "serviceaccount/ca.crt": "c",
    "serviceaccount/namespace": "own\n",
  };
  await using folder = await folderWith({ ...serviceAccount, config: simple });
  const environment = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };
  const access = await accessOf(folder, {}, { environment });
  assertEquals([access.server, access.namespace, access.source.kind], ["https://[fd00::1]:443", "own", "inCluster"]);
  assertEquals(access.credentials, { kind: "tokenFile", path: `${folder.path}/serviceaccount/token` });
  assertEquals(access.certificateAuthority, { kind: "file", path: `${folder.path}/serviceaccount/ca.crt` });
  const both = { ...environment, KUBECONFIG: `${folder.path}/config` };
  assertEquals((await accessOf(folder, {}, { environment: both })).source.kind, "kubeconfig");
  assertEquals((await accessOf(folder, { namespace: "n", token: "x" }, { environment })).namespace, "n");
});

test("where there is nothing at all, the error says where was looked and what to do", async () => {
  await using folder = await Folder.with({});
  const error = await assertRejects(() => accessOf(folder));
  assert(error instanceof KubeconfigError);
  assertMatch(
    error.message,
    /^Cannot find a cluster: there is no kubeconfig \(looked at ".*\/config"\).*pass --kubeconfig or --server/,
  );
});

test("[5] neither a kubeconfig nor an access shows its secrets when printed", async () => {
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
