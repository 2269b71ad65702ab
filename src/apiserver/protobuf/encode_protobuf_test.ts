import { assert, assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { kubernetesApi } from "../kubernetes_api.ts";
import { type JsonObject, StatusError } from "../model/mod.ts";
import { decodeProtobuf, protobufType } from "./decode_protobuf.ts";
import { encodeList, encodeProtobuf, watchFrame } from "./envelope.ts";
import { encodeMessage } from "./encode_protobuf.ts";
import { type TestField, wire } from "./testing/proto_wire.ts";

/** The whole object, as Go writes it: with empty contentEncoding and contentType. */
function whole(apiVersion: string, kind: string, ...fields: readonly TestField[]): Uint8Array {
  const unknown = wire([1, [[1, apiVersion], [2, kind]]], [2, wire(...fields)], [3, ""], [4, ""]);
  return Uint8Array.from([0x6b, 0x38, 0x73, 0x00, ...unknown]);
}

/** The metadata of an object with a name, and the zero values of all fields that are no pointers. */
const named: readonly TestField[] = [[1, "a"], [2, ""], [3, ""], [4, ""], [5, ""], [6, ""], [7, 0], [8, []]];

const cases: readonly (readonly [what: string, object: JsonObject, bytes: Uint8Array])[] = [
  [
    "keys of maps in the order of their bytes, and empty bytes",
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a" },
      data: { "\u{1f600}": "", "\uffee": "x", b: "2", a: "é" },
      binaryData: { k: "" },
      immutable: false,
    },
    whole(
      "v1",
      "ConfigMap",
      [1, named],
      [2, [[1, "a"], [2, "é"]]],
      [2, [[1, "b"], [2, "2"]]],
      [2, [[1, "\uffee"], [2, "x"]]],
      [2, [[1, "\u{1f600}"], [2, ""]]],
      [3, [[1, "k"], [2, new Uint8Array()]]],
      [4, 0],
    ),
  ],
  [
    "times before 1970, microseconds, and pointers that are zero",
    {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "a", deletionTimestamp: "1969-12-31T23:59:59Z" },
      spec: { leaseDurationSeconds: 0, renewTime: "2024-01-02T03:04:05.000070Z" },
    },
    whole(
      "coordination.k8s.io/v1",
      "Lease",
      [1, [...named, [9, [[1, -1], [2, 0]]]]],
      [2, [[2, 0], [4, [[1, 1704164645], [2, 70000]]]]],
    ),
  ],
  [
    "a negative number, a number above 2^53, and an IntOrString",
    {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name: "a", generation: 9223372036854775807n },
      spec: { minAvailable: -1, maxUnavailable: "10%" },
    },
    whole(
      "policy/v1",
      "PodDisruptionBudget",
      [1, [...named.slice(0, 6), [7, 9223372036854775807n], [8, []]]],
      [2, [[1, [[1, 0], [2, -1], [3, ""]]], [3, [[1, 1], [2, 0], [3, "10%"]]]]],
      [3, [[1, 0], [3, 0], [4, 0], [5, 0], [6, 0]]],
    ),
  ],
  [
    "JSON inside of an object",
    {
      apiVersion: "apps/v1",
      kind: "ControllerRevision",
      metadata: { name: "a" },
      data: { b: [1, "<é>"] },
      revision: 3,
    },
    whole("apps/v1", "ControllerRevision", [1, named], [2, [[1, '{"b":[1,"<é>"]}']]], [3, 3]),
  ],
  [
    "a Status, whose type is in meta/v1",
    { apiVersion: "v1", kind: "Status", metadata: {}, status: "Failure", message: "no", code: 404 },
    whole("v1", "Status", [1, [[1, ""], [2, ""], [3, ""]]], [2, "Failure"], [3, "no"], [4, ""], [6, 404]),
  ],
  [
    "a list that is a message of its own",
    {
      kind: "APIResourceList",
      groupVersion: "v1",
      resources: [{ name: "a", namespaced: true, kind: "A", verbs: ["get"] }],
    },
    whole("", "APIResourceList", [1, "v1"], [2, [
      [1, "a"],
      [2, 1],
      [3, "A"],
      [4, [[1, "get"]]],
      [6, ""],
      [8, ""],
      [9, ""],
      [10, ""],
    ]]),
  ],
];

for (const [what, object, bytes] of cases) {
  test(`${what} are encoded as Go does`, () => assertEquals([...encodeProtobuf(object)], [...bytes]));
}

test("the lists of partial metadata of v1 and v1beta1 have different numbers", () => {
  const numbers = ["v1", "v1beta1"].map((version) => {
    const apiVersion = `meta.k8s.io/${version}`;
    const metadata = { resourceVersion: "7" };
    const list = encodeList(apiVersion, "PartialObjectMetadataList", metadata, [new Uint8Array([10, 0])]);
    const items = [{ metadata: {} }];
    const { length } = encodeProtobuf({ apiVersion, kind: "PartialObjectMetadataList", metadata, items });
    return [list.indexOf(0x37) < list.lastIndexOf(10), length > list.length];
  });
  assertEquals(numbers, [[true, true], [false, true]]);
});

test("a list of encoded items equals the list encoded at once", () => {
  const object = (name: string) => ({ metadata: { name }, data: { name } });
  const items = ["a", "b".repeat(300)].map(object);
  const metadata = { resourceVersion: "5", continue: "x", remainingItemCount: 2 };
  const parts = items.map((item) => encodeMessage("v1", "ConfigMap", item));
  const atOnce = encodeProtobuf({ apiVersion: "v1", kind: "ConfigMapList", metadata, items });
  assertEquals([...encodeList("v1", "ConfigMapList", metadata, parts)], [...atOnce]);
});

test("a frame has its length in four bytes, then the event with the whole object", () => {
  const object = encodeProtobuf({ apiVersion: "v1", kind: "Status", message: "é".repeat(200) });
  const event = wire([1, "ERROR"], [2, [[1, object]]]);
  const length = [0, 0, event.length >> 8, event.length & 0xff];
  assertEquals([...watchFrame("ERROR", object)], [...length, ...event]);
});

test("an object that grows the buffer many times is written whole", () => {
  const data = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`key-${index}`, "v".repeat(index)]));
  const decoded = decodeProtobuf(encodeProtobuf({ apiVersion: "v1", kind: "ConfigMap", data }));
  assertEquals<unknown>(decoded["data"], data);
});

test("a kind without a message is a 406", () => {
  const error = assertThrows(() => encodeProtobuf({ apiVersion: "example.com/v1", kind: "Foo" }));
  assert(error instanceof StatusError);
  assertEquals([error.status.code, error.status.reason], [406, "NotAcceptable"]);
});

const json = "application/json";

test("a watch in protobuf has the same events as one in JSON, with its bookmark and its error", async () => {
  const { server } = kubernetesApi();
  using _ending = server;
  const path = "http://in.memory/api/v1/namespaces/default/configmaps";
  for (const name of ["a", "b"]) {
    const body = JSON.stringify({ metadata: { name } });
    await server.fetch(new Request(path, { method: "POST", body, headers: { "content-type": json } }));
  }
  const initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  for (
    const [query, count] of [[initial, 3], [
      "resourceVersion=1000&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
      1,
    ]] as const
  ) {
    const [lines, frames] = await Promise.all([json, `${protobufType};stream=watch`].map(async (accept) => {
      const response = await server.fetch(new Request(`${path}?watch=true&${query}`, { headers: { accept } }));
      assertEquals(response.headers.get("content-type"), accept);
      return response.body?.getReader();
    }));
    const expected: number[] = [];
    const actual: number[] = [];
    let events = 0;
    while (events < count) {
      const text = new TextDecoder().decode((await lines?.read())?.value);
      for (const line of text.trimEnd().split("\n")) {
        const { type, object } = JSON.parse(line);
        expected.push(...watchFrame(type, encodeProtobuf(object)));
        events++;
      }
    }
    while (actual.length < expected.length) actual.push(...(await frames?.read())?.value ?? []);
    assertEquals(actual, expected);
    await lines?.cancel();
    await frames?.cancel();
  }
});

test("an object is read in protobuf after each write, and its metadata with a Table only in JSON", async () => {
  const { server } = kubernetesApi();
  using _ending = server;
  const path = "http://in.memory/api/v1/namespaces/default/configmaps";
  const send = async (url: string, method: string, accept: string, body?: unknown) => {
    const headers = { accept, "content-type": method === "PATCH" ? "application/merge-patch+json" : json };
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
    return await server.fetch(new Request(url, init));
  };
  await send(path, "POST", json, { metadata: { name: "a" }, data: { a: "1" } });
  for (const value of ["2", "3"]) {
    await send(`${path}/a`, "PATCH", json, { data: { a: value } });
    for (const url of [`${path}/a`, path]) {
      const response = await send(url, "GET", protobufType);
      assertEquals(response.headers.get("content-type"), protobufType);
      const bytes = new Uint8Array(await response.arrayBuffer());
      assertEquals([...bytes], [...encodeProtobuf(await (await send(url, "GET", json)).json())]);
    }
  }
  const metadata = await send(path, "GET", `${protobufType};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1`);
  assertEquals([metadata.status, metadata.headers.get("content-type")], [200, protobufType]);
  assertEquals((await send(path, "GET", `${protobufType};as=Table;g=meta.k8s.io;v=v1`)).status, 406);
});
