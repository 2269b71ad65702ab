/**
 * Protobuf of the embedded server and of a real one: the objects of each kind, lists, documents of discovery and the frames of
 * a watch are read from the real server in JSON and in protobuf, and our encoder must make the second from the first, byte for
 * byte. Then both servers get the same Accept headers.
 *
 *   deno task cluster -- deno test -A --no-check tests/conformance/protobuf_test.ts
 */
import { parseExactJson } from "../../src/api/mod.ts";
import { builtinGroups } from "../../src/apiserver/kinds/mod.ts";
import { type JsonObject, StatusError } from "../../src/apiserver/model/mod.ts";
import { decodeProtobuf, encodeProtobuf, protobufType, watchFrame } from "../../src/apiserver/protobuf/mod.ts";
import { controlPlaneTest, createNamespace } from "../controlplane/test.ts";
import { assert, assertEquals } from "../testing.ts";
import type { Send } from "./case_run.ts";
import type { ConformanceCase } from "./conformance_case.ts";
import { EmbeddedHost } from "./embedded_host.ts";
import { protobufSamples } from "./protobuf_samples.ts";
import { RealHost } from "./real_host.ts";

const json = "application/json";
const aggregated = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const metadata = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const metadataList = metadata.replace("Metadata;", "MetadataList;");

async function read(send: Send, path: string, accept: string): Promise<Uint8Array> {
  const response = await send(path, { headers: { accept } });
  assertEquals((response.headers.get("content-type") ?? "").split(";")[0], accept.split(";")[0], path);
  return new Uint8Array(await response.arrayBuffer());
}

function parsed(bytes: Uint8Array | string): JsonObject {
  return parseExactJson(typeof bytes === "string" ? bytes : new TextDecoder().decode(bytes)) as JsonObject;
}

/** Compares one path. @returns the JSON */
async function compare(send: Send, path: string, parameters = ""): Promise<JsonObject> {
  // A controller may write between the two requests, so the JSON is read before and after.
  for (;;) {
    const before = await read(send, path, json + parameters);
    const expected = await read(send, path, protobufType + parameters);
    const after = await read(send, path, json + parameters);
    const object = parsed(before);
    if (new TextDecoder().decode(before) !== new TextDecoder().decode(after)) continue;
    assertSame(encodeProtobuf(object), expected, `${path} ${parameters}`);
    return object;
  }
}

/** Shows the surroundings of the first difference. */
function assertSame(actual: Uint8Array, expected: Uint8Array, what: string): void {
  const at = expected.findIndex((byte, index) => byte !== actual[index]);
  if (at < 0 && actual.length === expected.length) return;
  const shown = (bytes: Uint8Array) =>
    JSON.stringify(String.fromCharCode(...bytes.slice(Math.max(0, at - 60), at + 40)));
  throw new Error(`${what}: byte ${at} of ${expected.length}\n  real: ${shown(expected)}\n  ours: ${shown(actual)}`);
}

/** The paths of the built-in kinds that can be listed, in every version. Kinds of CRDs come and go with other tests. */
async function listable(send: Send): Promise<readonly string[]> {
  const groups = new Set(builtinGroups());
  const found: string[] = [];
  for (const root of ["/api", "/apis"]) {
    const response = await send(root, { headers: { accept: json + aggregated } });
    for (const { metadata, versions } of (await response.json()).items) {
      if (root === "/apis" && !groups.has(metadata.name)) continue;
      for (const { version, resources } of versions) {
        const base = root === "/api" ? `/api/${version}` : `/apis/${metadata.name}/${version}`;
        for (const { resource, verbs } of resources) {
          if (verbs.includes("list")) found.push(`${base}/${resource}`);
        }
      }
    }
  }
  return found;
}

/** @param resource the end of the paths of the objects to create @default all */
async function createSamples(send: Send, namespace: string, resource = ""): Promise<readonly string[]> {
  const created: string[] = [];
  const rejected: string[] = [];
  for (const { path, body, status } of protobufSamples(namespace)) {
    if (!path.endsWith(resource)) continue;
    const headers = { "content-type": json };
    const response = await send(path, { method: "POST", headers, body: JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) {
      rejected.push(`${path}: ${text}`);
      continue;
    }
    const one = `${path}/${body.metadata.name}`;
    created.push(one);
    if (status === undefined) continue;
    const patched = await send(`${one}/status`, {
      method: "PATCH",
      headers: { "content-type": "application/merge-patch+json" },
      body: JSON.stringify({ status }),
    });
    const answer = await patched.text();
    if (!patched.ok) rejected.push(`${one}: ${answer}`);
  }
  assertEquals(rejected, []);
  return created;
}

controlPlaneTest("objects of each kind have the bytes of a real server", async (controlPlane) => {
  using host = new RealHost(controlPlane);
  const created = await createSamples(host.send, await createNamespace(controlPlane));
  const empty: string[] = [];
  for (const path of await listable(host.send)) {
    // The server probes its components at the same time, and lists them as they answer.
    if (path === "/api/v1/componentstatuses") continue;
    const { items } = await compare(host.send, path);
    if (Array.isArray(items) && items.length === 0) empty.push(path);
    await compare(host.send, path, metadataList);
  }
  for (const path of created) {
    await compare(host.send, path);
    await compare(host.send, path, metadata);
  }
  // Each kind has an object: a kind without one is not compared.
  assertEquals(empty, []);
});

controlPlaneTest("discovery, a Scale and a Status have the bytes of a real server", async (controlPlane) => {
  using host = new RealHost(controlPlane);
  const namespace = await createNamespace(controlPlane);
  await createSamples(host.send, namespace, "/deployments");
  const paths = ["/api", "/apis", "/apis/apps", "/apis/apps/v1", "/api/v1", "/api/v1/namespaces/none"];
  for (const path of paths) await compare(host.send, path);
  for (const path of ["/api", "/apis"]) await compare(host.send, path, aggregated);
  await compare(host.send, `/apis/apps/v1/namespaces/${namespace}/deployments/sample/scale`);
});

controlPlaneTest("the frames of a watch have the bytes of a real server", async (controlPlane) => {
  using host = new RealHost(controlPlane);
  const namespace = await createNamespace(controlPlane);
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const write = async (name: string) => {
    const body = JSON.stringify({ metadata: { name, labels: { watched: "yes" } }, data: { a: "é", b: "" } });
    await (await host.send(path, { method: "POST", headers: { "content-type": json }, body })).text();
  };
  await write("a");
  await write("b");
  const selector = "watch=true&labelSelector=watched%3Dyes&timeoutSeconds=3";
  const initial = `${selector}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;
  for (const [query, parameters] of [[initial, ""], [initial, metadata], [`${selector}&resourceVersion=1`, ""]]) {
    const [lines, frames] = await Promise.all(
      [json, protobufType].map((type) => read(host.send, `${path}?${query}`, `${type}${parameters}`)),
    );
    const events = new TextDecoder().decode(lines).trimEnd().split("\n").map(parsed);
    const actual = events.map(({ type, object }) => watchFrame(String(type), encodeProtobuf(object as JsonObject)));
    // The bookmark of an event that the server sent in one of the watches only is left out.
    assert(events.length > 0);
    assertSame(joined(actual), frames ?? new Uint8Array(), `${query} ${parameters}`);
  }
});

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

const table = ";as=Table;g=meta.k8s.io;v=v1";
const accepts = [
  protobufType,
  `${protobufType},${json}`,
  `${json};q=0.5,${protobufType};q=0.4`,
  `${json};q=0.4,${protobufType};q=0.5`,
  `${protobufType};q=0`,
  `${protobufType};charset=utf-8`,
  protobufType + metadata,
  protobufType + metadataList,
  protobufType + table,
  `${protobufType}${table},${json}${table}`,
  `${protobufType}${metadata},${json}`,
  `${protobufType};stream=watch`,
  `${protobufType};stream=other`,
  `${protobufType}${aggregated}`,
  `${protobufType}${aggregated},${protobufType}`,
  `${json},${protobufType}${aggregated}`,
  "application/*",
  "application/yaml;stream=watch",
  "application/yaml",
  "application/cbor",
  "text/html",
];

const plain: ConformanceCase = { name: "protobuf", execute: () => Promise.resolve() };

controlPlaneTest("both servers choose the same format, with the same errors", async (controlPlane) => {
  using real = new RealHost(controlPlane);
  await using embedded = await EmbeddedHost.start(plain);
  const namespace = await createNamespace(controlPlane);
  const paths = await Promise.all([real, embedded].map((host) => prepared(host.send, namespace)));
  for (const path of paths[0] ?? []) {
    for (const accept of accepts) {
      const [expected, actual] = await Promise.all([
        outcome(real.send, path, accept),
        outcome(embedded.send, path, accept),
      ]);
      assertEquals(actual, expected, `${path} ${accept}`);
    }
  }
});

/** Creates a ConfigMap and a custom resource. @returns paths to read */
async function prepared(send: Send, namespace: string): Promise<readonly string[]> {
  const create = async (path: string, body: unknown) => {
    const headers = { "content-type": json };
    const response = await send(path, { method: "POST", headers, body: JSON.stringify(body) });
    const text = await response.text();
    assert(response.ok || response.status === 409, text);
  };
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  const scale = { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" };
  await create("/api/v1/namespaces", { metadata: { name: namespace } });
  await create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    metadata: { name: "things.protobuf.example.com" },
    spec: {
      group: "protobuf.example.com",
      names: { plural: "things", kind: "Thing" },
      scope: "Namespaced",
      versions: [{ name: "v1", served: true, storage: true, schema, subresources: { scale } }],
    },
  });
  const things = `/apis/protobuf.example.com/v1/namespaces/${namespace}/things`;
  for (;;) {
    const response = await send(things, {});
    await response.text();
    if (response.ok) break;
  }
  const maps = `/api/v1/namespaces/${namespace}/configmaps`;
  await create(maps, { metadata: { name: "a" }, data: { a: "b" } });
  const thing = {
    apiVersion: "protobuf.example.com/v1",
    kind: "Thing",
    metadata: { name: "a" },
    spec: { replicas: 2 },
  };
  await create(things, thing);
  const objects = [maps, things].flatMap((path) => [path, `${path}/a`, `${path}/none`]);
  const watches = [maps, things].flatMap((path) => [
    `${path}?watch=1&timeoutSeconds=1`,
    `${path}?watch=1&timeoutSeconds=1&resourceVersion=x`,
  ]);
  const documents = ["/api", "/apis", "/api/v1", "/apis/apps", "/apis/apps/v1", "/version", "/apis/none/v1", "/none"];
  return [...objects, `${things}/a/scale`, ...watches, ...documents];
}

/** The code, the type and, of an error, the Status. Of a watch that was opened, nothing more is read. */
async function outcome(send: Send, path: string, accept: string): Promise<unknown> {
  const response = await send(path, { headers: { accept } });
  const type = response.headers.get("content-type");
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (response.ok) return [response.status, type];
  if (type === protobufType) return [response.status, type, decoded(bytes)];
  return [response.status, type, new TextDecoder().decode(bytes).trimEnd()];
}

function decoded(bytes: Uint8Array): unknown {
  try {
    return decodeProtobuf(bytes);
  } catch (error) {
    if (error instanceof StatusError) return error.message;
    throw error;
  }
}
