import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { kubernetesApi } from "../mod.ts";

const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** A server, and its response to a GET. */
function serving() {
  const { server } = kubernetesApi();
  const get = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
    const response = await server.fetch(new Request(`http://in.memory${path}`, { headers }));
    const text = await response.text();
    return { code: response.status, headers: response.headers, body: text.startsWith("{") ? JSON.parse(text) : text };
  };
  const define = async (group: string, ...versions: readonly string[]) => {
    const body = JSON.stringify(definitionOf(group, versions));
    const headers = { "content-type": "application/json" };
    const path = "http://in.memory/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const { status } = await server.fetch(new Request(path, { method: "POST", headers, body }));
    assertEquals(status, 201);
  };
  return { get, define, [Symbol.dispose]: () => server[Symbol.dispose]() };
}

function definitionOf(group: string, versions: readonly string[]) {
  return {
    metadata: { name: `foos.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "foos", singular: "foo", kind: "Foo", shortNames: ["fo"], categories: ["all"] },
      versions: versions.map((name, index) => ({
        name,
        served: true,
        storage: index === 0,
        schema: {
          openAPIV3Schema: { type: "object", description: "A Foo.", properties: { spec: { type: "object" } } },
        },
        subresources: { status: {} },
      })),
    },
  };
}

test("groups have the order of kube-apiserver, with those of CRDs last and by name", async () => {
  using server = serving();
  await server.define("z.example.com", "v1");
  await server.define("a.example.com", "v1");
  const { body } = await server.get("/apis");
  const names: readonly string[] = body.groups.map(({ name }: { readonly name: string }) => name);
  assertEquals(names.slice(0, 4), ["apiregistration.k8s.io", "apps", "events.k8s.io", "authentication.k8s.io"]);
  assertEquals(names.slice(-2), ["a.example.com", "z.example.com"]);
});

test("the preferred version of a group is the most stable and newest, not the storage version", async () => {
  using server = serving();
  await server.define("example.com", "v1alpha1", "v1", "v2beta1");
  const { body } = await server.get("/apis/example.com");
  assertEquals(body.preferredVersion, { groupVersion: "example.com/v1", version: "v1" });
  assertEquals(body.versions.map(({ version }: { readonly version: string }) => version), [
    "v1",
    "v2beta1",
    "v1alpha1",
  ]);
});

test("the kinds of a CRD are discovered when they are served, with names, categories and subresources", async () => {
  using server = serving();
  assertEquals((await server.get("/apis/example.com/v1")).code, 404);
  await server.define("example.com", "v1");
  const { body } = await server.get("/apis/example.com/v1");
  const [foo, status] = body.resources;
  assertEquals([foo.name, foo.shortNames, foo.categories, foo.namespaced], ["foos", ["fo"], ["all"], true]);
  assertEquals([status.name, status.verbs], ["foos/status", ["get", "patch", "update"]]);
});

/** From kube-apiserver 1.36.3: versions of one kind share the hash of the version that is stored. */
test("storage version hashes are those of kube-apiserver", async () => {
  using server = serving();
  const hashes = async (path: string) => {
    const { body } = await server.get(path);
    const entries = body.resources.map((one: { readonly name: string; readonly storageVersionHash?: string }) =>
      [one.name, one.storageVersionHash] as const
    );
    return new Map<string, string | undefined>(entries);
  };
  const core = await hashes("/api/v1");
  assertEquals(core.get("configmaps"), "qFsyl6wFWjQ=");
  assertEquals(core.get("pods"), "xPOwRZ+Yhw8=");
  assertEquals(core.get("componentstatuses"), undefined);
  assertEquals(
    (await hashes("/apis/autoscaling/v1")).get("horizontalpodautoscalers"),
    (await hashes("/apis/autoscaling/v2")).get("horizontalpodautoscalers"),
  );
});

test("aggregated discovery is one document with an ETag that changes with the kinds", async () => {
  using server = serving();
  const first = await server.get("/apis", { accept: `${aggregated},application/json` });
  assertEquals(first.headers.get("content-type"), aggregated);
  assertEquals([first.body.kind, first.body.apiVersion], ["APIGroupDiscoveryList", "apidiscovery.k8s.io/v2"]);
  const etag = first.headers.get("etag") ?? "";
  const second = await server.get("/apis", { accept: aggregated, "if-none-match": etag });
  assertEquals([second.code, second.body], [304, ""]);
  await server.define("example.com", "v1");
  const third = await server.get("/apis", { accept: aggregated, "if-none-match": etag });
  assertEquals(third.code, 200);
  assert(third.headers.get("etag") !== etag);
});

const accepts: readonly (readonly [accept: string, answer: string | number])[] = [
  ["", "APIGroupList"],
  ["*/*", "APIGroupList"],
  ["application/json", "APIGroupList"],
  [aggregated, "APIGroupDiscoveryList"],
  [`application/json,${aggregated}`, "APIGroupDiscoveryList"],
  [`${aggregated.replace("v=v2", "v=v2beta1")},${aggregated},application/json`, "APIGroupDiscoveryList"],
  [aggregated.replace("v=v2", "v=v2beta1"), 406],
  ["application/json,application/vnd.kubernetes.protobuf", "APIGroupList"],
  ["text/html", 406],
];

for (const [accept, answer] of accepts) {
  test(`groups for "${accept}" get ${answer}`, async () => {
    using server = serving();
    const { code, body } = await server.get("/apis", { accept });
    assertEquals(typeof answer === "number" ? code : body.kind, answer);
  });
}

test("other paths and methods have no discovery", async () => {
  using server = serving();
  for (const path of ["/apis/nope", "/apis/apps/v9", "/apis/apps/v1/x/y/z", "/api/v2", "/apis/__proto__"]) {
    assertEquals((await server.get(path)).code, 404, path);
  }
  const { major, minor } = (await server.get("/version")).body;
  assertEquals([major, minor], ["1", "36"]);
});
