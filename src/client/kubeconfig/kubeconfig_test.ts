/** Tests of kubeconfig files: merging, names, paths, and malformed files. */
import { assert, assertEquals, assertMatch, assertRejects, test } from "../../../tests/testing.ts";
import { redactText } from "../../observe/mod.ts";
import { accessOf, errorMessage, folderWith, pem, simple } from "../testing/kubeconfig.ts";
import { KubeconfigError } from "./cluster_access.ts";
import { kubeconfigPaths } from "./kubeconfig.ts";
import type { KubeconfigOverrides } from "./resolve_access.ts";

test("the current context provides a server, a namespace and credentials", async () => {
  await using folder = await folderWith({ config: simple });
  const access = await accessOf(folder);
  assertEquals([access.server, access.namespace, access.user], ["https://one.example:6443", "team-a", "jane"]);
  assert(access.credentials.kind === "token" && access.certificateAuthority?.kind === "data");
  assertEquals(access.credentials.token.reveal(), "token-of-jane");
  assertEquals(access.certificateAuthority.pem.reveal(), pem("CA ONE"));
  assertEquals(access.source, { kind: "kubeconfig", files: [`${folder.path}/config`], context: "dev" });
});

test("[83] relative paths are relative to the file that contains them", async () => {
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

test("[83] of entries with the same name the first file wins, and missing and empty files are skipped", async () => {
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

test("[83] the first file with a current-context wins", async () => {
  await using folder = await folderWith({ a: simple.replace("current-context: dev", ""), b: "current-context: prod" });
  const access = await accessOf(folder, {}, { environment: { KUBECONFIG: `${folder.path}/a:${folder.path}/b` } });
  assertEquals(access.server, "https://two.example");
});

test("[83] a file named by --kubeconfig must exist, and is the only one", async () => {
  await using folder = await folderWith({ config: simple });
  const error = await assertRejects(
    () => accessOf(folder, { kubeconfig: "nowhere" }),
    /it does not exist; check --kubeconfig$/,
  );
  assert(error instanceof KubeconfigError);
  const paths = kubeconfigPaths({ path: "x", environment: { KUBECONFIG: "/a:/b" }, workingDirectory: "/w" });
  assertEquals(paths, ["/w/x"]);
});

test("an address without a scheme means http, as for kubectl, and is allowed on loopback only", async () => {
  const plain = "clusters: [{ name: one, cluster: { server: 127.0.0.1:8080 } }]";
  await using folder = await folderWith({ config: simple, plain });
  const cases: readonly (readonly [KubeconfigOverrides, string])[] = [
    [{ server: "127.0.0.1:8001" }, "http://127.0.0.1:8001"],
    [{ server: "localhost" }, "http://localhost"],
    [{ server: "localhost:8001/" }, "http://localhost:8001"],
    [{ server: "[::1]:8001" }, "http://[::1]:8001"],
    [{ kubeconfig: "plain", cluster: "one" }, "http://127.0.0.1:8080"],
  ];
  for (const [overrides, server] of cases) {
    const access = await accessOf(folder, overrides);
    assertEquals([access.server, access.credentials.kind], [server, "none"]);
  }
});

test("~/.kube/config is the default, and there is no default without a home folder", () => {
  const options = { environment: {}, workingDirectory: "/w" };
  assertEquals(kubeconfigPaths({ ...options, home: "/home/jane" }), ["/home/jane/.kube/config"]);
  assertEquals(kubeconfigPaths(options), []);
});

test("[83] the error for a missing entry names it and the existing entries", async () => {
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
    ...[
      "ftp://one.example",
      "one.example",
      "one.example:6443",
      "[2001:db8::1]:6443",
      "one.example/path",
      "//one.example",
      "one.example:port",
      "",
    ].map((server) =>
      [
        simple,
        { server },
        /^Cannot use server of cluster "one": ".*" is not a URL that starts with https:\/\/$/,
      ] as const
    ),
    [
      simple,
      { cluster: "two", context: "prod", server: "a:b@one.example" },
      /"…@one.example" is not a URL that starts with https:\/\//,
    ],
    [simple, { server: "http://one.example" }, /is unencrypted, which is allowed on this machine only; use https:\/\//],
    [simple, { server: "https://a:b@one.example" }, /a URL must not contain credentials/],
    [
      simple,
      { certificateAuthority: "nope.pem" },
      /^Cannot read certificate-authority "\/nope.pem": it does not exist$/,
    ],
    [simple, { clientCertificate: "certs/c.pem" }, /^Cannot use client certificate of user "jane": client-key or/],
    ...["é", "a\nb", " root ", "日"].map((as) =>
      [simple, { as }, /^Cannot act as user ".+": the name ".+" cannot be sent in a header\. Use/] as const
    ),
    [simple, { as: "root", asGroups: ["a,b", "\x01"] }, /the group "\\u0001" cannot be sent in a header/],
    [simple, { asGroups: ["admins"] }, /^Cannot act as a group or UID: a user is missing; pass --as too$/],
  ];
  for (const [text, overrides, pattern] of cases) assertMatch(await errorMessage(text, overrides), pattern);
});

test("[83] a name that occurs twice in one file is refused", async () => {
  const twice = simple.replace("- name: two", "- name: one");
  assertEquals(await errorMessage(twice), 'Cannot use kubeconfig "/config": cluster "one" occurs twice');
});

test("[security 17] malformed, ambiguous, huge and exploding YAML is refused and never quoted", async () => {
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
      /^Cannot use kubeconfig "\/config": line 1: a key occurs twice$/,
    ],
    [
      "users:\n  - name: a\n   user: s3cret: t0ken: [",
      /^Cannot use kubeconfig "\/config": line \d: it is not valid YAML \([A-Z_]+\)$/,
    ],
    [bomb, /^Cannot use kubeconfig "\/config": it has too many aliases/],
    ["x: *nowhere", /^Cannot use kubeconfig "\/config": /],
    [
      "users: [{ name: a, user: { token: 12345 } }]",
      /^Cannot use kubeconfig "\/config": .*expected string.* \(at users.0.user.token\)$/,
    ],
    ["clusters: {}", /^Cannot use kubeconfig "\/config": .* \(at clusters\)$/],
    ["just text", /^Cannot use kubeconfig "\/config": .* \(at the top\)$/],
    ["kind: Pod", /^Cannot use kubeconfig "\/config": .* \(at kind\)$/],
    [`# ${"x".repeat(4 * 1024 * 1024)}`, /^Cannot read kubeconfig "\/config": it is larger than 4 MiB$/],
  ];
  for (const [text, pattern] of cases) {
    const message = await errorMessage(text);
    assertMatch(message, pattern);
    assert(!/s3cret|t0ken|12345/.test(message), message);
    assertEquals(redactText(message), message);
  }
});

test("[16] names that are properties of Object in JavaScript are names, and change no prototype", async () => {
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
