import { assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { kubernetesApi } from "../mod.ts";
import { StatusError } from "../model/mod.ts";
import { decodeProtobuf, protobufType } from "./decode_protobuf.ts";
import { type TestField, wire } from "./testing/proto_wire.ts";

const magic = [0x6b, 0x38, 0x73, 0x00];

/** A body as client-go writes it: "k8s", then an envelope with the type and the object. */
function bodyOf(apiVersion: string, kind: string, ...fields: readonly TestField[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from([
    ...magic,
    ...wire([1, [[1, apiVersion], [2, kind]]], [2, wire(...fields)], [3, ""], [4, ""]),
  ]);
}

const name: TestField = [1, [[1, "a"]]];

/** Field numbers as in the `generated.proto` of each group. */
const bodies: readonly (readonly [what: string, body: Uint8Array, json: object])[] = [
  ["nothing but its type", bodyOf("v1", "ConfigMap"), { kind: "ConfigMap", apiVersion: "v1" }],
  ["metadata", bodyOf("v1", "ConfigMap", [1, [[1, "a"], [3, "b"], [11, [[1, "k"], [2, "v"]]]]]), {
    kind: "ConfigMap",
    apiVersion: "v1",
    metadata: { name: "a", namespace: "b", labels: { k: "v" } },
  }],
  [
    "maps of texts and of bytes",
    bodyOf("v1", "ConfigMap", [2, [[1, "k"], [2, "v"]]], [2, [[1, "e"]]], [3, [
      [1, "b"],
      [2, Uint8Array.of(0, 255)],
    ]]),
    { kind: "ConfigMap", apiVersion: "v1", data: { k: "v", e: "" }, binaryData: { b: "AP8=" } },
  ],
  ["a key that JavaScript has itself", bodyOf("v1", "ConfigMap", [2, [[1, "__proto__"], [2, "v"]]]), {
    kind: "ConfigMap",
    apiVersion: "v1",
    data: JSON.parse('{"__proto__":"v"}'),
  }],
  [
    "numbers below zero and lists",
    bodyOf("apps/v1", "Deployment", [2, [
      [1, -1],
      [3, [[2, [[2, [[1, "c"], [3, "x"], [3, "y"]]]]]]],
    ]]),
    {
      kind: "Deployment",
      apiVersion: "apps/v1",
      spec: { replicas: -1, template: { spec: { containers: [{ name: "c", command: ["x", "y"] }] } } },
    },
  ],
  [
    "times, quantities, and numbers that may be texts",
    bodyOf("v1", "Service", [1, [[8, [[1, 1_700_000_000]]]]], [2, [
      [1, [[1, "n"], [3, 80], [4, [[1, 0], [2, 8080]]]]],
      [1, [[1, "t"], [4, [[1, 1], [3, "http"]]]]],
    ]]),
    {
      kind: "Service",
      apiVersion: "v1",
      metadata: { creationTimestamp: "2023-11-14T22:13:20Z" },
      spec: { ports: [{ name: "n", port: 80, targetPort: 8080 }, { name: "t", targetPort: "http" }] },
    },
  ],
  ["times to the microsecond", bodyOf("coordination.k8s.io/v1", "Lease", [2, [[4, [[1, 1], [2, 5_000]]]]]), {
    kind: "Lease",
    apiVersion: "coordination.k8s.io/v1",
    spec: { renewTime: "1970-01-01T00:00:01.000005Z" },
  }],
  ["options, whatever their group", bodyOf("apps/v1", "DeleteOptions", [1, 0], [4, "Foreground"]), {
    kind: "DeleteOptions",
    apiVersion: "apps/v1",
    gracePeriodSeconds: 0,
    propagationPolicy: "Foreground",
  }],
  [
    "the schema of a CustomResourceDefinition",
    bodyOf("apiextensions.k8s.io/v1", "CustomResourceDefinition", [2, [[7, [[4, [[1, [
      [3, "#/a"],
      [8, [[1, '{"a":[1]}']]],
      [9, { double: 1.5 }],
      [20, [[1, '"x"']]],
      [24, [[1, [[5, "string"]]]]],
      [29, [[1, "list"], [2, [[24, [[2, [[5, "a"]]], [2, [[5, "b"]]]]]]]]],
      [30, [[1, 1], [2, [[5, "object"]]]]],
      [32, [[1, "k"], [2, [[2, "x"], [2, "y"]]]]],
      [32, [[1, "s"], [2, [[1, [[5, "z"]]]]]]],
      [33, [[1, 1]]],
      [36, [[1, "true"]]],
      [38, 1],
      [41, "name"],
      [44, [[1, "self > 0"], [2, "positive"]]],
    ]]]]]]]]),
    {
      kind: "CustomResourceDefinition",
      apiVersion: "apiextensions.k8s.io/v1",
      spec: {
        versions: [{
          schema: {
            openAPIV3Schema: {
              $ref: "#/a",
              default: { a: [1] },
              maximum: 1.5,
              enum: ["x"],
              items: { type: "string" },
              properties: { list: { items: [{ type: "a" }, { type: "b" }] } },
              additionalProperties: { type: "object" },
              dependencies: { k: ["x", "y"], s: { type: "z" } },
              additionalItems: true,
              example: true,
              "x-kubernetes-preserve-unknown-fields": true,
              "x-kubernetes-list-map-keys": ["name"],
              "x-kubernetes-validations": [{ rule: "self > 0", message: "positive" }],
            },
          },
        }],
      },
    },
  ],
  [
    "the fields that protobuf writes with other letters than JSON",
    bodyOf("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", [2, [[1, "w"]]]),
    {
      kind: "MutatingWebhookConfiguration",
      apiVersion: "admissionregistration.k8s.io/v1",
      webhooks: [{ name: "w" }],
    },
  ],
  [
    "an integer beyond 2^53",
    bodyOf("v1", "Pod", [2, [[14, [[2, 9007199254740993n]]]]]),
    { kind: "Pod", apiVersion: "v1", spec: { securityContext: { runAsUser: 9007199254740993n } } },
  ],
  ["an unknown field in each wire type", bodyOf("v1", "ConfigMap", [99, 1], [98, "x"], [97, { double: 1 }]), {
    kind: "ConfigMap",
    apiVersion: "v1",
  }],
];

for (const [what, body, json] of bodies) {
  test(`protobuf with ${what} is decoded to the equivalent JSON`, () =>
    assertEquals<unknown>(decodeProtobuf(body), json));
}

test("the fields of a nested struct are in the outer object", () => {
  const handler: TestField = [1, [[2, [[1, "/healthz"], [2, [[1, 0], [2, 80]]]]]]]; // Probe.handler, HTTPGetAction
  const body = bodyOf("v1", "Pod", [2, [[2, [[1, "c"], [10, [handler, [2, 5]]]]]]]);
  assertEquals<unknown>(decodeProtobuf(body)["spec"], {
    containers: [{ name: "c", livenessProbe: { httpGet: { path: "/healthz", port: 80 }, initialDelaySeconds: 5 } }],
  });
});

/** The Status of a rejected body. */
function statusErrorOf(body: Uint8Array): StatusError["status"] {
  const error = assertThrows(() => decodeProtobuf(body));
  if (error instanceof StatusError) return error.status;
  throw error;
}

/** A CustomResourceDefinition whose schema has this many levels. */
function deepSchema(levels: number): Uint8Array {
  let schema: Uint8Array = wire([5, "object"]);
  for (let level = 0; level < levels; level++) schema = wire([28, schema]);
  return bodyOf("apiextensions.k8s.io/v1", "CustomResourceDefinition", [2, [[7, [[4, [[1, schema]]]]]]]);
}

const damaged: readonly (readonly [what: string, body: Uint8Array])[] = [
  ["an empty body", new Uint8Array()],
  ["JSON", new TextEncoder().encode("{}")],
  ["a length beyond the end", Uint8Array.from([...magic, 0x0a, 0x7f, 1])],
  ["a number without end", Uint8Array.from([...magic, ...Array(12).fill(0xff)])],
  ["a wire type that there is not", Uint8Array.from([...magic, 0x0f])],
  ["a text that is not UTF-8", bodyOf("v1", "ConfigMap", [1, [[1, Uint8Array.of(0xff, 0xfe)]]])],
  ["a time beyond all calendars", bodyOf("v1", "ConfigMap", [1, [[8, [[1, 2 ** 60]]]]])],
  ["a schema of too many levels", deepSchema(1_001)],
  ["JSON within that is none", bodyOf("apps/v1", "ControllerRevision", name, [2, [[1, "{"]]])],
];

for (const [what, body] of damaged) {
  test(`${what} instead of protobuf is a 400`, () => {
    assertEquals(statusErrorOf(body).code, 400);
  });
}

test("protobuf of a custom resource gets 415 with the accepted types", () => {
  const { code, reason } = statusErrorOf(bodyOf("example.com/v1", "Foo", name));
  assertEquals([code, reason], [415, "UnsupportedMediaType"]);
});

test("a schema of 900 levels is decoded", () => {
  let levels = 0;
  for (let part: unknown = decodeProtobuf(deepSchema(900)); isObject(part); part = Object.values(part).at(-1)) levels++;
  assertEquals(levels > 900, true);
});

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Invariant: for any truncated or changed body, the result is an object or a StatusError. */
test("damaged bodies cause no other error than a StatusError", () => {
  for (const [, body] of bodies) {
    for (let at = 0; at < body.length; at++) {
      for (const damage of [body.subarray(0, at), body.with(at, 0xff), body.with(at, 0x00), body.with(at, 0x7f)]) {
        try {
          decodeProtobuf(damage);
        } catch (error) {
          if (!(error instanceof StatusError)) throw error;
        }
      }
    }
  }
});

test("a body in protobuf is stored like JSON, and the response is in protobuf for a client that accepts both", async () => {
  const { server } = kubernetesApi();
  using _ending = server;
  const response = await server.fetch(
    new Request("http://in.memory/api/v1/namespaces/default/configmaps", {
      method: "POST",
      headers: { "content-type": protobufType, accept: `${protobufType},application/json` },
      body: bodyOf("v1", "ConfigMap", name, [2, [[1, "k"], [2, "v"]]]),
    }),
  );
  assertEquals([response.status, response.headers.get("content-type")], [201, protobufType]);
  const { metadata, data } = decodeProtobuf(new Uint8Array(await response.arrayBuffer()));
  assertEquals([Object(metadata).name, data], ["a", { k: "v" }]);
});

/** As client-go writes a minimal definition, with its zero values. */
const definition = bodyOf("apiextensions.k8s.io/v1", "CustomResourceDefinition", [1, [[1, "foos.example.com"]]], [2, [
  [1, "example.com"],
  [3, [[1, "foos"], [2, ""], [4, "Foo"], [5, ""]]],
  [4, "Namespaced"],
  [7, [[1, "v1"], [2, 1], [3, 1], [7, 0], [4, [[1, [
    [4, ""],
    [5, "object"],
    [29, [[1, "tags"], [2, [[5, "array"], [24, [[1, [[5, "string"], [6, ""], [37, 0]]]]]]]]],
  ]]]]]],
  [10, 0],
]]);

test("a CustomResourceDefinition in protobuf is stored without its zero values", async () => {
  const { server } = kubernetesApi();
  using _ending = server;
  const response = await server.fetch(
    new Request("http://in.memory/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      method: "POST",
      headers: { "content-type": protobufType, accept: "application/json" },
      body: Uint8Array.from(definition),
    }),
  );
  const { spec } = await response.json();
  assertEquals([response.status, spec.versions], [201, [{
    name: "v1",
    served: true,
    storage: true,
    schema: {
      openAPIV3Schema: { type: "object", properties: { tags: { type: "array", items: { type: "string" } } } },
    },
  }]]);
});
