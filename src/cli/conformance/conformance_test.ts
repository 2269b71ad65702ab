import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { assert, assertEquals, assertMatch, assertStringIncludes, test } from "../../../tests/testing.ts";
import { kubernetesApi } from "../../apiserver/mod.ts";
import type { Transport } from "../../client/mod.ts";
import { createProcess, endOf, startCommandLine } from "../testing/run_command.ts";
import { statusResponse } from "../testing/fake_server.ts";

const operator = { name: "op", version: "1.0.0", controllers: [] };

/** Changes the answer of a server, or answers itself. */
type Change = (request: Request, respond: () => Promise<Response>) => Promise<Response>;

/** Two API servers in memory, the kubeconfigs that lead there, and a folder for request files. */
class Servers implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), "conformance-"));
  readonly a = kubernetesApi().server;
  readonly b = kubernetesApi().server;
  /** `METHOD HOST/path` of all requests. */
  readonly requests: string[] = [];
  #change: Change | undefined;

  /** @param change what the server B does otherwise */
  constructor(change?: Change) {
    this.#change = change;
    for (const name of ["a", "b"]) this.file(`${name}.kubeconfig`, kubeconfig(name));
  }

  file(name: string, text: string): string {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  readonly transport: Transport = async (request) => {
    const { host, pathname } = new URL(request.url);
    this.requests.push(`${request.method} ${host}${pathname}`);
    if (host !== "b.test") return await this.a.fetch(request);
    const respond = () => this.b.fetch(request);
    return await (this.#change === undefined ? respond() : this.#change(request, respond));
  };

  /** Compares A with B. */
  async compare(...args: readonly string[]) {
    const both = ["a", "b"].flatMap((name) => ["--kubeconfig", join(this.folder, `${name}.kubeconfig`)]);
    return await this.run(...both, ...args);
  }

  async run(...args: readonly string[]) {
    const process = createProcess(["conformance", ...args]);
    const code = await endOf(startCommandLine(operator, process, this.transport), process, 20);
    return { code, out: process.out, err: process.err };
  }

  async namespacesOf(server: "a" | "b"): Promise<readonly string[]> {
    const response = await this[server].fetch(new Request("http://in.memory/api/v1/namespaces"));
    const { items } = await response.json();
    return items.filter(({ metadata }: Named) => metadata.name.startsWith("conformance-"))
      .filter(({ metadata }: Named) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }: Named) => metadata.name);
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
    this.a[Symbol.dispose]();
    this.b[Symbol.dispose]();
  }
}

interface Named {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
}

function kubeconfig(name: string): string {
  const entry = { cluster: { server: `https://${name}.test` }, name };
  const context = { name, context: { cluster: name, user: name } };
  const user = { name, user: { token: `token-of-${name}` } };
  const config = { apiVersion: "v1", kind: "Config", "current-context": name };
  return JSON.stringify({ ...config, clusters: [entry], contexts: [context], users: [user] });
}

const configMaps = "/api/v1/namespaces/${NAMESPACE}/configmaps";

const cases = `
name: a ConfigMap
requests:
- path: ${configMaps}
  watch: { events: 2 }
- path: ${configMaps}
  body: { apiVersion: v1, kind: ConfigMap, metadata: { name: some }, data: { where: "\${NAMESPACE}" } }
- path: ${configMaps}/some
- method: PATCH
  path: ${configMaps}/some
  contentType: application/merge-patch+json
  body: { data: { more: words } }
- path: ${configMaps}
  accept: application/json;as=Table;g=meta.k8s.io;v=v1
- method: DELETE
  path: ${configMaps}/missing
---
name: a Secret
requests:
- path: /api/v1/namespaces/\${NAMESPACE}/secrets
  file: bodies/secret.yaml
---
name: only reading
requests:
- path: /api/v1/namespaces/default
- path: /version
`;

const secretFile = `
apiVersion: v1
kind: Secret
metadata: { name: some }
stringData: { code: hunter-two }
`;

function files(servers: Servers): string {
  servers.file("bodies/secret.yaml", secretFile);
  return servers.file("requests.yaml", cases);
}

test("[141] conformance of two equal servers agrees, and leaves nothing behind", async () => {
  using servers = new Servers();
  const { code, out, err } = await servers.compare(files(servers));
  assertEquals({ code, out }, { code: 0, out: "3 cases, 3 agree\n" });
  assertMatch(
    err,
    /^op: creating and deleting 2 namespaces conformance-… on ".*a\.kubeconfig" and ".*b\.kubeconfig"\n$/,
  );
  assertEquals([await servers.namespacesOf("a"), await servers.namespacesOf("b")], [[], []]);
  const created = servers.requests.filter((line) => line.startsWith("POST") && line.endsWith("/namespaces"));
  assertEquals(created.length, 4);
});

/** A server whose Secrets and ConfigMaps have other values. */
const otherValues: Change = async (request, respond) => {
  const response = await respond();
  if (!/\/(secrets|configmaps)$/.test(new URL(request.url).pathname) || request.method !== "POST") return response;
  const { data, ...rest } = await response.json();
  return Response.json({ ...rest, data: { ...data, where: "elsewhere", code: btoa("hunter-three") } }, {
    status: response.status,
    headers: response.headers,
  });
};

test("[141] conformance prints a unified diff for each case that differs, without values of Secrets", async () => {
  using servers = new Servers(otherValues);
  const { code, out, err } = await servers.compare(files(servers));
  assertEquals([code, err.split("\n").length], [2, 2]);
  assertStringIncludes(out, "# differs: a ConfigMap (");
  assertStringIncludes(out, "-      where: conformance-UNIQUE\n+      code: ");
  assertStringIncludes(out, "# differs: a Secret (");
  assertMatch(out, /\n@@ .* @@ POST \/api\/v1\/namespaces\/conformance-UNIQUE\/secrets\n/);
  assertMatch(out, /- {6}code: '?\[masked\] \(.*a\.kubeconfig\)/);
  assertMatch(out, /\+ {6}code: '?\[masked\] \(.*b\.kubeconfig\)/);
  assertStringIncludes(out, "3 cases, 1 agree\n");
  for (const secret of ["hunter", btoa("hunter-two"), btoa("hunter-three").slice(0, 12)]) {
    const secrets = out.slice(out.indexOf("a Secret"));
    assert(!secrets.includes(secret), secret);
  }
});

test("[141] conformance -o json has the result of each case, and the answers where servers differ", async () => {
  using servers = new Servers(otherValues);
  const { code, out } = await servers.compare(files(servers), "-o", "json");
  const result = JSON.parse(out);
  assertEquals(code, 2);
  assertEquals(result.summary, { cases: 3, agree: 1 });
  assertEquals(result.cases.map(({ name, result }: Record<string, string>) => [name, result]), [
    ["a ConfigMap", "differs"],
    ["a Secret", "differs"],
    ["only reading", "agrees"],
  ]);
  const [, secret, reading] = result.cases;
  assertMatch(secret.left[0].response.data.code, /^\[masked\] \(.*a\.kubeconfig\)$/);
  assertMatch(secret.right[0].response.data.code, /^\[masked\] \(.*b\.kubeconfig\)$/);
  assertEquals(reading.left, undefined);
});

test("[141] conformance with a server that refuses reports the case, deletes what it made and ends with 1", async () => {
  using servers = new Servers((request, respond) =>
    request.method === "POST" && request.url.endsWith("/namespaces")
      ? Promise.resolve(statusResponse(403, "Forbidden", "namespaces is forbidden"))
      : respond()
  );
  const { code, out, err } = await servers.compare(files(servers));
  assertEquals(code, 1);
  assertStringIncludes(out, "# error: a ConfigMap (");
  assertStringIncludes(out, "3 cases, 1 agree, 2 errors\n");
  assertMatch(
    err,
    /op: Cannot compare 2 cases: "a ConfigMap" on ".*b\.kubeconfig": Cannot POST \/api\/v1\/namespaces: 403/,
  );
  assertEquals(await servers.namespacesOf("a"), []);
});

test("[141] conformance ends the watch and deletes the namespace when a server stops answering", async () => {
  using servers = new Servers((request, respond) => {
    if (request.method !== "PATCH") return respond();
    const { promise, reject } = Promise.withResolvers<Response>();
    request.signal.addEventListener("abort", () => reject(request.signal.reason), { once: true });
    return promise;
  });
  const { code, err } = await servers.compare(files(servers), "--request-timeout", "2s");
  assertEquals(code, 1);
  assertStringIncludes(err, "Timed out after 2000 ms");
  assertEquals([await servers.namespacesOf("a"), await servers.namespacesOf("b")], [[], []]);
});

test("[141] conformance deletes what it made when a signal ends it, and sends no further case", async () => {
  const patching = Promise.withResolvers<void>();
  using servers = new Servers((request, respond) => {
    if (request.method !== "PATCH") return respond();
    patching.resolve();
    const { promise, reject } = Promise.withResolvers<Response>();
    request.signal.addEventListener("abort", () => reject(request.signal.reason), { once: true });
    return promise;
  });
  const both = ["a", "b"].flatMap((name) => ["--kubeconfig", join(servers.folder, `${name}.kubeconfig`)]);
  const process = createProcess(["conformance", ...both, files(servers), "--request-timeout", "0"]);
  const ending = startCommandLine(operator, process, servers.transport);
  await patching.promise;
  process.signal("SIGINT");
  assertEquals(await endOf(ending, process, 20), 1);
  assertStringIncludes(process.err, "op: Cannot compare all cases: a signal ended it\n");
  assertEquals([await servers.namespacesOf("a"), await servers.namespacesOf("b")], [[], []]);
  assert(!servers.requests.some((line) => line.endsWith("/secrets")), servers.requests.join("\n"));
});

test("[141] conformance --dry-run prints the requests and sends none", async () => {
  using servers = new Servers();
  const { code, out } = await servers.compare(files(servers), "--dry-run");
  assertEquals(code, 0);
  assertStringIncludes(
    out,
    "\n  create namespace conformance-UNIQUE\n  POST /api/v1/namespaces/conformance-UNIQUE/secrets\n",
  );
  assertMatch(out, /3 cases on ".*a\.kubeconfig" and ".*b\.kubeconfig"\n$/);
  assertEquals(servers.requests, []);
});

test("[141] conformance --embedded compares one server with a new embedded one, users to act as included", async () => {
  using servers = new Servers();
  const path = servers.file(
    "as.yaml",
    `
name: a cluster-scoped object
clusterWrites: true
requests:
- path: /apis/rbac.authorization.k8s.io/v1/clusterroles
  body: { apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: { name: "conformance-\${UNIQUE}" } }
cleanup:
- { method: DELETE, path: "/apis/rbac.authorization.k8s.io/v1/clusterroles/conformance-\${UNIQUE}" }
---
name: a Pod
serviceAccount: true
requests:
- path: /api/v1/namespaces/\${NAMESPACE}/pods
  body: { apiVersion: v1, kind: Pod, metadata: { generateName: some- }, spec: { containers: [{ name: a, image: b }] } }
---
name: who acts
requests:
- path: /api/v1/secrets
  as: { user: jane, groups: [some, others] }
`,
  );
  const { code, out } = await servers.run("--kubeconfig", join(servers.folder, "a.kubeconfig"), "--embedded", path);
  // The server A knows no users, so it allows what the embedded one refuses.
  assertEquals(code, 2);
  assertStringIncludes(out, 'secrets is forbidden: User "jane" cannot list resource');
  assertStringIncludes(out, "3 cases, 2 agree\n");
  assertEquals(servers.requests.filter((line) => /DELETE .*clusterroles/.test(line)).length, 1);
});

const wrongFiles: readonly (readonly [title: string, text: string, message: RegExp])[] = [
  ["no YAML", "name: [", /line 1 is no YAML/],
  ["no case", "# nothing\n", /it has no cases/],
  ["an unknown field", "name: a\nrequests: [{ path: /version, methods: GET }]", /requests\[0\]: .*methods/],
  ["no requests", "name: a\nrequests: []", /requests: /],
  [
    "a path without a slash",
    "name: a\nrequests: [{ path: version }]",
    /requests\[0\]\.path: it does not begin with \//,
  ],
  ["a relative path", "name: a\nrequests: [{ path: /api/v1/../x }]", /empty or relative parts/],
  ["an escaped relative path", "name: a\nrequests: [{ path: /api/v1/%2E%2e/x }]", /empty or relative parts/],
  [
    "a write elsewhere",
    "name: a\nrequests: [{ path: /api/v1/namespaces/default/pods, body: {} }]",
    /clusterWrites: true/,
  ],
  [
    "a write to a namespace with a longer name",
    "name: a\nrequests: [{ path: '/api/v1/namespaces/${NAMESPACE}x/pods', body: {} }]",
    /changes something outside of/,
  ],
  ["a proxy elsewhere", "name: a\nrequests: [{ path: /api/v1/nodes/a/proxy/run }]", /changes something outside of/],
  [
    "a cleanup elsewhere",
    "name: a\nrequests: [{ path: /version }]\ncleanup: [{ method: DELETE, path: /api/v1/nodes }]",
    /cleanup\[0\] changes something/,
  ],
  ["a body and a file", "name: a\nrequests: [{ path: /version, body: {}, file: a.json }]", /a body and a file/],
  ["a file elsewhere", "name: a\nrequests: [{ path: /version, file: ../a.json }]", /beside this one or below/],
  [
    "a missing file",
    "name: a\nclusterWrites: true\nrequests: [{ path: /version, file: a.json }]",
    /the file "a\.json": /,
  ],
  ["a credential", "name: a\nrequests: [{ path: /version, headers: { Authorization: x } }]", /cannot be set here/],
  ["a watch in a path", "name: a\nrequests: [{ path: '/api/v1/pods?watch=true' }]", /with the field watch/],
  [
    "a watch that posts",
    "name: a\nrequests: [{ path: /api/v1/pods, body: {}, watch: { events: 1 } }]",
    /a GET without/,
  ],
  [
    "a name twice",
    "name: a\nrequests: [{ path: /version }]\n---\nname: a\nrequests: [{ path: /version }]",
    /same name/,
  ],
];

test("[141] a request file that is wrong is an error with its place, before anything is sent", async () => {
  using servers = new Servers();
  for (const [title, text, message] of wrongFiles) {
    const { code, out, err } = await servers.compare(servers.file("bad.yaml", text));
    assertEquals([code, out], [1, ""], title);
    assertMatch(err, /^op: Cannot read requests from ".*bad\.yaml(:\d+)?": [^\n]+\n$/);
    assertMatch(err, message);
  }
  assertEquals(servers.requests, []);
});

test("[141] conformance names two servers as kubectl names them, or says how", async () => {
  using servers = new Servers();
  const path = servers.file("requests.yaml", "name: a\nrequests: [{ path: /version }]");
  const a = ["--kubeconfig", join(servers.folder, "a.kubeconfig")];
  const wrong: readonly (readonly string[])[] = [
    [path],
    [...a, path],
    [...a, ...a, ...a, path],
    [...a, ...a, "--context", "a", path],
    [...a, ...a, "--embedded", path],
    [...a, ...a],
  ];
  for (const args of wrong) {
    const { code, err } = await servers.run(...args);
    assertEquals(code, 1, args.join(" "));
    assertMatch(err, /^op: Cannot compare [^\n]+\n$/);
  }
  const { code, out } = await servers.run(...a, "--context", "a", "--context", "a", path);
  assertEquals([code, out], [0, "1 case, 1 agree\n"]);
  assertEquals((await servers.run(...a, "--context", "a", "--context", "none", path)).code, 3);
});
