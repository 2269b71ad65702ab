import { assert, assertEquals, assertNotEquals, test } from "../../../tests/testing.ts";
import { kubernetesApi } from "../mod.ts";

/** A server, and its response to a GET. */
function serving() {
  const { server } = kubernetesApi();
  const send = (path: string, init: RequestInit = {}) => server.fetch(new Request(`http://in.memory${path}`, init));
  return {
    send,
    get: (path: string, headers: Readonly<Record<string, string>> = {}) => send(path, { headers }),
    json: async (path: string) => await (await send(path)).json(),
    define: async (schema: object) => {
      const body = JSON.stringify(definitionOf(schema));
      const headers = { "content-type": "application/json" };
      const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
      assertEquals((await send(path, { method: "POST", headers, body })).status, 201);
    },
    [Symbol.dispose]: () => server[Symbol.dispose](),
  };
}

function definitionOf(schema: object) {
  return {
    metadata: { name: "foos.stable.example.com" },
    spec: {
      group: "stable.example.com",
      scope: "Namespaced",
      names: { plural: "foos", singular: "foo", kind: "Foo", listKind: "FooList" },
      versions: [{
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", ...schema } },
        subresources: { status: {}, scale: { specReplicasPath: ".spec.n", statusReplicasPath: ".status.n" } },
      }],
    },
  };
}

const spec = {
  description: "A Foo is a thing.",
  properties: {
    spec: {
      type: "object",
      properties: {
        n: { type: "integer", description: "How many.", default: 1, maximum: 10 },
        port: { "x-kubernetes-int-or-string": true },
        inner: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
        maybe: { type: "string", nullable: true },
      },
    },
    status: { type: "object", properties: { n: { type: "integer" } } },
  },
};

const apps = "/openapi/v3/apis/apps/v1";
const fooName = "com.example.stable.v1.Foo";
const foos = "/openapi/v3/apis/stable.example.com/v1";

test("the index has a URL with a hash for each document, which may be cached", async () => {
  using server = serving();
  const { paths } = await server.json("/openapi/v3");
  const { serverRelativeURL } = paths["apis/apps/v1"];
  const response = await server.get(serverRelativeURL);
  assertEquals([response.status, response.headers.get("cache-control")], [200, "public, immutable"]);
  assertEquals(`"${serverRelativeURL.split("=")[1]}"`, response.headers.get("etag"));
  const stale = await server.get(`${apps}?hash=OLD`);
  assertEquals([stale.status, stale.headers.get("location")], [301, serverRelativeURL]);
});

test("a document with a known ETag is not sent again until one of its kinds changes", async () => {
  using server = serving();
  await server.define(spec);
  const etag = async (path: string) => (await server.get(path)).headers.get("etag") ?? "";
  const known = await etag(foos);
  assertEquals((await server.get(foos, { "if-none-match": known })).status, 304);
  const [appsBefore, indexBefore] = [await etag(apps), await etag("/openapi/v3")];
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/foos.stable.example.com";
  const body = '[{"op":"replace","path":"/spec/versions/0/schema/openAPIV3Schema/description","value":"Other."}]';
  const headers = { "content-type": "application/json-patch+json" };
  assertEquals((await server.send(path, { method: "PATCH", headers, body })).status, 200);
  await new Promise<void>((resolve) => queueMicrotask(resolve));
  assertEquals((await server.get(foos, { "if-none-match": known })).status, 200);
  assertEquals((await server.json(foos)).components.schemas[fooName].description, "Other.");
  assertEquals(await etag(apps), appsBefore);
  assertNotEquals(await etag("/openapi/v3"), indexBefore);
});

test("a document has all components that it refers to", async () => {
  using server = serving();
  const text = await (await server.get(apps)).text();
  const { components: { schemas } } = JSON.parse(text);
  for (const [, name = ""] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) assert(name in schemas, name);
  assertEquals(schemas["io.k8s.api.apps.v1.DeploymentSpec"].properties.replicas, { format: "int32", type: "integer" });
});

test("operations have their kind, fieldValidation and patch types, which kubectl reads", async () => {
  using server = serving();
  await server.define(spec);
  const { patch } = (await server.json(apps)).paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"];
  assertEquals(patch["x-kubernetes-group-version-kind"], { group: "apps", kind: "Deployment", version: "v1" });
  assertEquals(patch.operationId, "patchAppsV1NamespacedDeployment");
  const names = patch.parameters.map(({ name }: { readonly name: string }) => name);
  assertEquals(names, ["dryRun", "fieldManager", "fieldValidation", "force"]);
  assert("application/strategic-merge-patch+json" in patch.requestBody.content);
  const custom =
    (await server.json(foos)).paths["/apis/stable.example.com/v1/namespaces/{namespace}/foos/{name}"].patch;
  assertEquals(custom.operationId, "patchStableExampleComV1NamespacedFoo");
  assert(!("application/strategic-merge-patch+json" in custom.requestBody.content));
});

test("the kind of a CRD has its schema and the fields of every object", async () => {
  using server = serving();
  await server.define(spec);
  const { components: { schemas }, paths } = await server.json(foos);
  const foo = schemas[fooName];
  assertEquals(Object.keys(foo.properties).sort(), ["apiVersion", "kind", "metadata", "spec", "status"]);
  assertEquals(foo["x-kubernetes-group-version-kind"], [{ group: "stable.example.com", kind: "Foo", version: "v1" }]);
  const { n, port, inner } = foo.properties.spec.properties;
  assertEquals([n.description, n.default], ["How many.", 1]);
  assertEquals(port.anyOf, [{ type: "integer" }, { type: "string" }]);
  assertEquals(Object.keys(inner.properties).sort(), ["apiVersion", "kind", "metadata"]);
  assertEquals(schemas[`${fooName}List`].properties.items.items, { $ref: `#/components/schemas/${fooName}` });
  assert("/apis/stable.example.com/v1/namespaces/{namespace}/foos/{name}/scale" in paths);
});

test("version 2 has all documents in one, without keywords that it does not support", async () => {
  using server = serving();
  await server.define(spec);
  const text = await (await server.get("/openapi/v2")).text();
  const { swagger, definitions, paths } = JSON.parse(text);
  assertEquals(swagger, "2.0");
  for (const [, name = ""] of text.matchAll(/"#\/definitions\/([^"]+)"/g)) assert(name in definitions, name);
  assert(!text.includes("#/components/"));
  const { n, maybe } = definitions[fooName].properties.spec.properties;
  assertEquals([n.default, n.maximum, maybe.type], [undefined, 10, undefined]);
  const port = definitions["io.k8s.api.core.v1.ServicePort"].properties.targetPort;
  assertEquals(port.$ref, "#/definitions/io.k8s.apimachinery.pkg.util.intstr.IntOrString");
  const { put } = paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"];
  assertEquals(put.parameters[0].schema, { $ref: "#/definitions/io.k8s.api.apps.v1.Deployment" });
});

const accepts: readonly (readonly [path: string, accept: string, code: number, type: string | null])[] = [
  ["/openapi/v2", "application/json", 200, "application/json"],
  ["/openapi/v2", "text/html", 406, null],
  [
    "/openapi/v2",
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    200,
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
  ],
  [apps, "application/json", 200, "application/json"],
  [apps, "application/com.github.proto-openapi.spec.v3.v1.0+protobuf", 406, null],
  ["/openapi/v3/apis/none.example.com/v1", "*/*", 404, null],
  ["/openapi/v3/__proto__", "*/*", 404, null],
  ["/openapi/v9", "*/*", 404, "text/plain; charset=utf-8"],
];

for (const [path, accept, code, type] of accepts) {
  test(`${path} for "${accept}" gets ${code}`, async () => {
    using server = serving();
    const response = await server.get(path, { accept });
    await response.body?.cancel();
    assertEquals([response.status, response.headers.get("content-type")], [code, type]);
  });
}
