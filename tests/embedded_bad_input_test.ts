/**
 * Bad input to the embedded API server is rejected with the messages of a real one, never crashes it, and does not change
 * stored objects. First in memory, for every kind; then on the HTTPS port of `controller dev`, byte by byte.
 */
import { connect } from "node:tls";
import { kubernetesApi } from "../src/apiserver/mod.ts";
import { EmbeddedCluster } from "../src/cluster/mod.ts";
import { assert, assertEquals, test } from "./testing.ts";
import { until } from "./until.ts";

/** The server with all kinds in memory; its internal errors are recorded. */
class Memory implements Disposable {
  readonly errors: unknown[] = [];
  readonly #api = kubernetesApi({ onError: (error) => this.errors.push(error) });

  async send(method: string, path: string, body?: string, contentType = "application/json"): Promise<Reply> {
    const init = body === undefined ? { method } : { method, body, headers: { "content-type": contentType } };
    const response = await this.#api.server.fetch(new Request(`http://in.memory${path}`, init));
    return { code: response.status, text: await response.text() };
  }

  [Symbol.dispose](): void {
    this.#api.server[Symbol.dispose]();
  }
}

interface Reply {
  readonly code: number;
  readonly text: string;
}

/** An error of our server. The real server also responds with 500 to some errors of clients, but without a reason. */
function isOurFault({ code, text }: Reply): boolean {
  return code >= 500 && (code !== 500 || JSON.parse(text).reason !== undefined);
}

interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  /** The path for creating one, in the namespace `default` if it is namespaced. */
  readonly path: string;
  readonly verbs: readonly string[];
}

async function resourcesOf(memory: Memory): Promise<readonly Resource[]> {
  const { groups } = JSON.parse((await memory.send("GET", "/apis")).text);
  const roots = ["/api/v1"];
  for (const { versions } of groups) for (const { groupVersion } of versions) roots.push(`/apis/${groupVersion}`);
  const found: Resource[] = [];
  for (const root of roots) {
    const { resources } = JSON.parse((await memory.send("GET", root)).text);
    for (const { name, kind, namespaced, verbs } of resources) {
      if (name.includes("/")) continue;
      const apiVersion = root.replace(/^\/apis?\//, "");
      found.push({ apiVersion, kind, verbs, path: `${root}${namespaced ? "/namespaces/default" : ""}/${name}` });
    }
  }
  return found;
}

const bodies = [
  "",
  "{",
  "null",
  "5",
  "[]",
  '"x"',
  '{"kind":5}',
  '{"kind":"Bogus","apiVersion":"v1"}',
  "\u0000",
  "{}{}",
];

/** Wrong values in the place of an object or a list. */
const values = [
  null,
  5,
  -1,
  1e308,
  "x",
  "",
  true,
  [],
  [null],
  [[]],
  {},
  { constructor: 1 },
  { toString: { valueOf: [] } },
  JSON.parse('{"__proto__":{"x":1}}'),
  JSON.parse(`${'{"a":'.repeat(150)}1${"}".repeat(150)}`),
];

const metadata = [
  ...values,
  { name: 5 },
  { name: "" },
  { name: ".." },
  { name: "../../secrets/a" },
  { name: "a/b" },
  { name: "a%2fb" },
  { name: "A".repeat(300) },
  { name: "a\u0000b" },
  { name: "grüße" },
  { name: "a", namespace: "other" },
  { name: "a", labels: JSON.parse('{"__proto__":"x"}') },
  { name: "a", labels: { a: "x".repeat(64) } },
  { name: "a", annotations: [] },
  { name: "a", annotations: { a: "x".repeat(300_000) } },
  { name: "a", ownerReferences: [{}] },
  { name: "a", finalizers: [null] },
  { name: "a", finalizers: ["x y"] },
  { name: "a", managedFields: [{ fieldsV1: 5 }] },
  { name: "a", resourceVersion: "x" },
  { name: "a", creationTimestamp: "yesterday" },
  { generateName: "x".repeat(400) },
];

/** Fields that most kinds have, and some with special rules. */
const fields = [
  "spec",
  "status",
  "data",
  "rules",
  "webhooks",
  "subjects",
  "roleRef",
  "endpoints",
  "provisioner",
  "template",
];

function objectsOf({ apiVersion, kind }: Resource): readonly string[] {
  const named = { apiVersion, kind, metadata: { name: "a" } };
  return [
    ...metadata.map((one) => ({ apiVersion, kind, metadata: one })),
    ...fields.flatMap((field) => values.map((value) => ({ ...named, [field]: value }))),
  ].map((object) => JSON.stringify(object));
}

test("[94] no body of a create of any kind is an internal error of the server", async () => {
  using memory = new Memory();
  const wrong: string[] = [];
  for (const resource of await resourcesOf(memory)) {
    if (!resource.verbs.includes("create")) continue;
    for (const body of [...bodies, ...objectsOf(resource)]) {
      const reply = await memory.send("POST", `${resource.path}?dryRun=All`, body);
      if (isOurFault(reply)) wrong.push(`${resource.path} ${body.slice(0, 200)}: ${reply.text.slice(0, 200)}`);
    }
  }
  assertEquals(wrong, []);
  assertEquals(memory.errors, []);
  assertEquals(Object.keys(Object.prototype), []);
});

const patchTypes = [
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
];

const patches = [
  ...bodies,
  ...values.flatMap((value) => [
    JSON.stringify({ spec: value }),
    JSON.stringify({ metadata: value }),
    JSON.stringify({ spec: { template: { spec: { containers: value } } } }),
    JSON.stringify([{ op: "replace", path: "/spec/replicas", value }]),
    JSON.stringify([{ op: "add", path: "/metadata/labels", value }]),
    JSON.stringify({ apiVersion: "apps/v1", kind: "Deployment", spec: value }),
  ]),
  '{"spec":{"$patch":"bogus"}}',
  '{"spec":{"template":{"spec":{"containers":[{"$patch":"delete"}]}}}}',
  '{"spec":{"template":{"spec":{"containers":[{"$patch":"replace"}]}}}}',
  '{"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"x"}]}}}}',
  '{"spec":{"template":{"spec":{"$deleteFromPrimitiveList/containers":[5]}}}}',
  '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
  '[{"op":"add","path":"/__proto__/polluted","value":1}]',
  '[{"op":"copy","from":"/spec","path":"/spec/template/spec/x"}]',
  '[{"op":"move","from":"/metadata","path":"/metadata/x"}]',
  '[{"op":"test","path":"/spec","value":{}}]',
  '[{"op":"remove","path":""}]',
  '[{"op":"add","path":"/spec/template/spec/containers/99","value":{}}]',
];

const deployment = JSON.stringify({
  metadata: { name: "web" },
  spec: {
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "main", image: "x" }] } },
  },
});

test("[94] no patch of a Deployment is an internal error of the server, and a dry run changes nothing", async () => {
  using memory = new Memory();
  const path = "/apis/apps/v1/namespaces/default/deployments";
  assertEquals((await memory.send("POST", path, deployment)).code, 201);
  const before = (await memory.send("GET", `${path}/web`)).text;
  const wrong: string[] = [];
  for (const type of patchTypes) {
    for (const part of ["", "/status", "/scale"]) {
      for (const body of patches) {
        const url = `${path}/web${part}?dryRun=All&fieldManager=test`;
        const reply = await memory.send("PATCH", url, body, type);
        if (isOurFault(reply)) wrong.push(`${type} ${part} ${body.slice(0, 200)}: ${reply.text.slice(0, 200)}`);
      }
    }
  }
  assertEquals(wrong, []);
  assertEquals((await memory.send("GET", `${path}/web`)).text, before);
  assertEquals(memory.errors, []);
  assert(!("polluted" in {}), "Object.prototype is as it was");
});

const paths = [
  "/api/v1/namespaces/default/configmaps/..",
  "/api/v1/namespaces/default/configmaps/%2e%2e%2f%2e%2e%2fkube-system%2fsecrets",
  "/api/v1/namespaces/..%2f..%2fdefault/secrets",
  "/api/v1/namespaces/default/configmaps/a%00b",
  "/api/v1/namespaces/default/configmaps/%ff",
  "/api/v1/namespaces/%5f%5fproto%5f%5f/configmaps/constructor",
  "/apis/__proto__/v1/foos",
  "/apis/constructor/prototype/toString",
  "/api/v1/toString",
  "/openapi/v3/__proto__",
  "/openapi/v3/apis/../../etc/passwd",
  "/openapi/v2/",
  `/api/v1/namespaces/default/configmaps/${"a".repeat(20_000)}`,
  `/${"a/".repeat(5_000)}`,
  "//api/v1//namespaces",
  "/api/v1/namespaces/default/pods/a/log/b/c/d",
];

test("[security 18] paths with traversal or escapes do not reach another object", async () => {
  using memory = new Memory();
  const wrong: string[] = [];
  for (const path of paths) {
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]) {
      const body = ["POST", "PUT", "PATCH"].includes(method) ? "{}" : undefined;
      const { code } = await memory.send(method, path, body);
      if (code >= 500) wrong.push(`${method} ${path}: ${code}`);
    }
  }
  assertEquals(wrong, []);
  assertEquals(memory.errors, []);
});

/** A server on a port, with its address and credentials. */
async function listening(): Promise<Listening> {
  const errors: unknown[] = [];
  const cluster = await EmbeddedCluster.start({ workloads: false, nodes: 0, onError: (error) => errors.push(error) });
  const config = JSON.parse(cluster.kubeconfig);
  const [{ cluster: known }] = config.clusters;
  const [{ user }] = config.users;
  return {
    errors,
    port: Number(new URL(cluster.url).port),
    ca: atob(known["certificate-authority-data"]),
    authorization: `Authorization: Bearer ${user.token}\r\n`,
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}

interface Listening extends AsyncDisposable {
  readonly errors: readonly unknown[];
  readonly port: number;
  readonly ca: string;
  readonly authorization: string;
}

/** One connection, as bytes. */
class Peer implements Disposable {
  readonly #socket;
  received = "";
  isClosed = false;

  constructor({ port, ca }: Listening) {
    this.#socket = connect({ host: "127.0.0.1", port, ca });
    this.#socket.setEncoding("latin1").on("data", (text: string) => this.received += text);
    this.#socket.on("close", () => this.isClosed = true).on("error", () => this.isClosed = true);
  }

  send(text: string): void {
    if (!this.isClosed) this.#socket.write(text, "latin1");
  }

  /** The status of the first response. */
  async code(): Promise<number> {
    await until(() => this.received.includes("\r\n\r\n") || this.isClosed, "an answer");
    return Number(this.received.slice(9, 12));
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}

async function codeOf(server: Listening, text: string): Promise<number> {
  using peer = new Peer(server);
  peer.send(text);
  return await peer.code();
}

test("[security 14] the port of dev rejects requests that two servers could read differently, and continues serving", async () => {
  await using server = await listening();
  const head = `POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: 127.0.0.1\r\n${server.authorization}`;
  const hidden = `DELETE /api/v1/namespaces/default HTTP/1.1\r\nHost: 127.0.0.1\r\n${server.authorization}\r\n`;
  const corpus = [
    `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
    `${head}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${hidden}`,
    `${head}Content-Length: 0\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
    `${head}Content-Length: 0, 0\r\n\r\n${hidden}`,
    `${head}Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n${hidden}`,
    `${head}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${hidden}`,
    `${head}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n${hidden}`,
    `${head}X: a\r\n folded\r\n\r\n${hidden}`,
    `${head.replaceAll("\r\n", "\n")}\n${hidden}`,
    `${head}Host: localhost\r\n\r\n${hidden}`,
    `${head}Transfer-Encoding: chunked\r\n\r\n1\nx\r\n0\r\n\r\n${hidden}`,
    `${head}Transfer-Encoding: chunked\r\n\r\n0\r\n${"X: a\r\n".repeat(5_000)}\r\n${hidden}`,
    `GET https://127.0.0.1/api HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n${hidden}`,
    "\u0016\u0003\u0001\u0000nonsense\r\n\r\n",
  ];
  const codes: number[] = [];
  for (const text of corpus) codes.push(await codeOf(server, text));
  assertEquals(codes.filter((code) => code !== 400), [], codes.join());
  assertEquals(await codeOf(server, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505);
  const kept = `GET /api/v1/namespaces/default HTTP/1.1\r\nHost: 127.0.0.1\r\n${server.authorization}\r\n`;
  using peer = new Peer(server);
  peer.send(kept);
  assertEquals(await peer.code(), 200);
  await until(() => peer.received.includes('"phase":"Active"'), "the namespace, which still exists");
  assertEquals(server.errors, []);
});

test("[security 13] 200 slow peers on the port of dev do not prevent other requests", async () => {
  await using server = await listening();
  const slow = Array.from({ length: 200 }, () => new Peer(server));
  try {
    for (const peer of slow) peer.send("GET /api/v1/namespaces HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ");
    const get = `GET /api/v1/namespaces HTTP/1.1\r\nHost: 127.0.0.1\r\n${server.authorization}\r\n`;
    for (let turn = 0; turn < 5; turn++) assertEquals(await codeOf(server, get), 200);
    assertEquals(slow.filter(({ received }) => received !== "").length, 0);
  } finally {
    for (const peer of slow) peer[Symbol.dispose]();
  }
  assertEquals(server.errors, []);
});

test("bodies that are too large or invalid on the port of dev are a 4xx", async () => {
  await using server = await listening();
  const post = (path: string, body: string, fields = "Content-Type: application/json\r\n") =>
    codeOf(
      server,
      `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${server.authorization}${fields}Content-Length: ${body.length}\r\n\r\n${body}`,
    );
  const maps = "/api/v1/namespaces/default/configmaps";
  const large = JSON.stringify({ metadata: { name: "a" }, data: { x: "x".repeat(3 * 1024 * 1024) } });
  assertEquals(await post(maps, large), 413);
  assertEquals(await post(maps, '{"metadata":{"name":"a"'), 400);
  assertEquals(await post(maps, '{"metadata":{"name":"../a"}}'), 422);
  assertEquals(await post(maps, "\x80\x81\xfe"), 400);
  assertEquals(await post(maps, "k8s\0\xff\xff\xff", "Content-Type: application/vnd.kubernetes.protobuf\r\n"), 400);
  assertEquals(await post(maps, "{}", "Content-Type: text/html\r\n"), 415);
  assertEquals(await post(maps, "{}", "Content-Type: application/json\r\nContent-Encoding: gzip\r\n") < 500, true);
  assertEquals(await post(`${maps}/a/b/c/d/e`, "{}"), 404);
  assertEquals(await post(maps, '{"metadata":{"name":"a"},"data":{"__proto__":"kept"}}'), 201);
  assertEquals(server.errors, []);
});
