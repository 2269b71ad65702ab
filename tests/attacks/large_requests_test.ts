/**
 * Attacks by size on the embedded API server: requests below its limit of 3 MiB that make large work. Each has tens of
 * thousands of the same part; the algorithms they met were quadratic, and some answers had a thousand times their size.
 *
 * The rules: each request gets its answer, no answer is much larger than the request, and the server reports no internal
 * error. There is no clock here: with a quadratic algorithm these requests take many minutes.
 */
import { KubernetesTestServer } from "../../src/apiserver/testing/kubernetes_test_server.ts";
import { assert, assertEquals, test } from "../testing.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const pods = "/api/v1/namespaces/default/pods";
const things = "/apis/example.com/v1/namespaces/default/things";
const strategic = { "content-type": "application/strategic-merge-patch+json" };

/** `count` parts of a list or an object, without its brackets. */
function parts(count: number, part: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => part(index)).join(",");
}

function owners(more: string): (index: number) => string {
  return (index) => `{"apiVersion":"v1","kind":"ConfigMap","name":"x","uid":"u${index}"${more}}`;
}

function pod(container: string): string {
  return `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i",${container}}]}}`;
}

function map(metadata: string): string {
  return `{"metadata":{"name":"a",${metadata}}}`;
}

const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "things.example.com" },
  spec: {
    group: "example.com",
    names: { plural: "things", kind: "Thing" },
    scope: "Namespaced",
    versions: [{
      name: "v1",
      served: true,
      storage: true,
      schema: {
        openAPIV3Schema: {
          type: "object",
          properties: { list: { type: "array", items: { type: "string" } }, set: { type: "array" } },
        },
      },
    }],
  },
};
// Each item needs a schema; the set is of scalars.
Object.assign(definition.spec.versions[0]?.schema.openAPIV3Schema.properties.set ?? {}, {
  items: { type: "string" },
  "x-kubernetes-list-type": "set",
});

function thing(fields: string): string {
  return `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"},${fields}}`;
}

const env = Array.from({ length: 5_000 }, (_, index) => ({ name: `v${index}`, value: "x" }));

/** A request, and what must exist before. */
interface Attack {
  readonly name: string;
  readonly setUp?: (server: KubernetesTestServer) => Promise<unknown>;
  readonly request: readonly [method: string, path: string, body: string, headers?: Readonly<Record<string, string>>];
  readonly code: number;
}

const attacks: readonly Attack[] = [
  {
    name: "different owners",
    request: ["POST", maps, map(`"ownerReferences":[${parts(20_000, owners(""))}]`)],
    code: 201,
  },
  {
    name: "owners that all control",
    request: ["POST", maps, map(`"ownerReferences":[${parts(20_000, owners(',"controller":true'))}]`)],
    code: 422,
  },
  {
    name: "equal owners",
    request: ["POST", maps, map(`"ownerReferences":[${parts(30_000, () => owners("")(1))}]`)],
    code: 201,
  },
  {
    name: "malformed keys",
    request: ["POST", maps, `{"metadata":{"name":"a"},"data":{${parts(60_000, (index) => `"/${index}":""`)}}}`],
    code: 422,
  },
  {
    name: "wrong items in a list of a custom resource",
    setUp: createThings,
    request: ["POST", things, thing(`"list":[${parts(400_000, () => "1")}]`)],
    code: 422,
  },
  {
    name: "items of a set",
    setUp: createThings,
    request: ["POST", things, thing(`"set":[${parts(60_000, (index) => `"${index}"`)}]`)],
    code: 201,
  },
  {
    name: "ports with different numbers",
    request: ["POST", pods, pod(`"ports":[${parts(20_000, (index) => `{"containerPort":${index + 1}}`)}]`)],
    code: 201,
  },
  {
    name: "ports with one number",
    request: ["POST", pods, pod(`"ports":[${parts(30_000, () => '{"containerPort":1}')}]`)],
    code: 201,
  },
  {
    name: "ports of the host with one number",
    request: [
      "POST",
      pods,
      pod(`"ports":[${parts(10_000, (index) => `{"containerPort":1,"hostPort":${index + 1}}`)}]`),
    ],
    code: 201,
  },
  {
    name: "deletions of a strategic merge patch",
    setUp: (server) =>
      server.create(pods, { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i", env }] } }),
    request: [
      "PATCH",
      `${pods}/p`,
      `{"spec":{"containers":[{"name":"c","env":[${
        parts(50_000, (index) => `{"name":"w${index}","$patch":"delete"}`)
      }]}]}}`,
      strategic,
    ],
    code: 200,
  },
  {
    name: "finalizers of a strategic merge patch",
    setUp: (server) => server.create(maps, { metadata: { name: "a" } }),
    request: [
      "PATCH",
      `${maps}/a`,
      map(`"finalizers":["a.b/1",${parts(60_000, (index) => `"a.b/${index}"`)}]`),
      strategic,
    ],
    code: 200,
  },
];

async function createThings(server: KubernetesTestServer): Promise<void> {
  await server.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
}

for (const { name, setUp, request: [method, path, body, headers], code } of attacks) {
  test(`[95] a request with very many ${name} gets a bounded answer`, async () => {
    using server = new KubernetesTestServer();
    await setUp?.(server);
    const answer = await server.send(method, path, body, headers);
    assertEquals(answer.code, code, JSON.stringify(answer.body).slice(0, 300));
    const characters = JSON.stringify(answer.body).length;
    // managedFields and defaults make an object larger; problems are cut at 256 Ki characters, and named twice.
    assert(characters < 10 * body.length + 1024 * 1024, `${characters} characters for ${body.length}`);
    if (code === 422) assert(characters < 4 * 1024 * 1024, `${characters} characters of problems`);
    assertEquals(server.errors, []);
  });
}
