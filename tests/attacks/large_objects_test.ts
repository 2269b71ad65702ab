/**
 * Attacks by number on the decoders of `dev`: JSON and protobuf bodies of very many small objects, nesting, long names, and
 * fields of very many managers.
 *
 * The rules: each body gets an answer of bounded size, the work of a large one is done in several turns of the event loop, and
 * the server reports no internal error.
 */
import { KubernetesTestServer } from "../../src/apiserver/testing/kubernetes_test_server.ts";
import { decodeProtobuf } from "../../src/apiserver/protobuf/mod.ts";
import { StatusError } from "../../src/apiserver/model/mod.ts";
import { seededRandom } from "../../src/async/mod.ts";
import { assert, assertEquals, assertStringIncludes, test } from "../testing.ts";

const random = seededRandom(14);
const below = (count: number) => Math.floor(random.next() * count);
const pick = <T>(values: readonly T[]): T => values[below(values.length)] as T;

const maps = "/api/v1/namespaces/default/configmaps";
const pods = "/api/v1/namespaces/default/pods";
const apply = { "content-type": "application/apply-patch+yaml" };

test("[95] a body with very many objects is refused, as JSON and as a patch", async () => {
  using server = new KubernetesTestServer();
  await server.create(maps, { metadata: { name: "a" } });
  for (const item of ["{}", "[]", '{"a":[]}']) {
    const list = Array(130_000).fill(item).join(",");
    const bodies: readonly (readonly [string, string, string, Readonly<Record<string, string>>])[] = [
      ["POST", pods, `{"metadata":{"name":"p"},"spec":{"containers":[${list}]}}`, {}],
      ["POST", maps, `{"metadata":{"name":"b","ownerReferences":[${list}]}}`, { "content-type": "application/yaml" }],
      ["PATCH", `${maps}/a`, `{"metadata":{"ownerReferences":[${list}]}}`, {
        "content-type": "application/merge-patch+json",
      }],
      ["PATCH", `${maps}/a?fieldManager=x`, `{"metadata":{"ownerReferences":[${list}]}}`, apply],
    ];
    for (const [method, path, body, headers] of bodies) {
      const answer = await server.send(method, path, body, headers);
      assertEquals(answer.code, 413, JSON.stringify(answer.body).slice(0, 200));
      assertStringIncludes(answer.body.message, "more than 120000 objects and lists");
    }
  }
  assertEquals(server.errors, []);
});

test("[95] a long name, key or value stands in a Status cut", async () => {
  using server = new KubernetesTestServer();
  const long = "x".repeat(2_000_000);
  const bodies = [
    { metadata: { name: long } },
    { metadata: { name: "a", labels: { [long]: "b" } } },
    { metadata: { name: "a", labels: { a: long } } },
    { metadata: { name: "a", finalizers: [long] } },
    { metadata: { name: "a", generateName: long } },
    { metadata: { name: "a" }, data: { [`${long}/`]: "" } },
  ];
  for (const body of bodies) {
    const answer = await server.send("POST", maps, body);
    assertEquals(answer.code, 422);
    const { length } = JSON.stringify(answer.body);
    assert(length < 1_200_000, `${length} characters for ${Object.keys(body.metadata).join()}`);
  }
});

test("a large body is handled in several turns of the event loop", async () => {
  using server = new KubernetesTestServer();
  const data = Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`k${index}`, "x"]));
  const turnsOf = async (work: Promise<unknown>) => {
    let [turns, isOver] = [0, false];
    const over = work.then(() => void (isOver = true));
    while (!isOver) {
      await new Promise((resolve) => setImmediate(resolve));
      turns++;
    }
    await over;
    return turns;
  };
  const small = await turnsOf(server.create(maps, { metadata: { name: "small" } }));
  assert(small < 3, `${small} turns`);
  const created = await turnsOf(server.create(maps, { metadata: { name: "a" }, data }));
  assert(created >= 3, `${created} turns`);
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data };
  const applied = await turnsOf(server.send("PATCH", `${maps}/a?fieldManager=x`, JSON.stringify(object), apply));
  assert(applied >= 3, `${applied} turns`);
});

/** fieldsV1 of random parts, of which few are valid. */
function fieldsOf(depth: number): unknown {
  const keys = [
    "f:data",
    "f:a",
    "f:",
    "k:{",
    'k:{"name":"a"}',
    "k:[]",
    "v:1",
    "v:",
    "i:0",
    "i:x",
    ".",
    "",
    "x",
    `f:${"y".repeat(50)}`,
  ];
  if (depth === 0) return pick<unknown>([{}, {}, {}, null, [], 1, "text"]);
  return Object.fromEntries(Array.from({ length: 1 + below(5) }, () => [pick(keys), fieldsOf(depth - 1)]));
}

test("[95] managedFields of any content, depth and number are dropped or kept, and never an error of the server", async () => {
  using server = new KubernetesTestServer();
  for (let round = 0; round < 150; round++) {
    const entry = () => ({
      manager: pick(["a", "b", "", "m".repeat(200), `m${below(1_000)}`]),
      operation: pick(["Apply", "Update", "", "Other"]),
      apiVersion: pick(["v1", "apps/v1", "", "x/y/z"]),
      time: pick(["2020-01-01T00:00:00Z", "", "soon", null]),
      fieldsType: pick(["FieldsV1", "FieldsV2", ""]),
      fieldsV1: pick<() => unknown>([() => fieldsOf(below(6)), () => null, () => "text"])(),
    });
    const managedFields = Array.from({ length: pick([1, 3, 300]) }, entry);
    const name = `m${round}`;
    const answers = [
      await server.send("POST", maps, { metadata: { name, managedFields }, data: { a: "b" } }),
      await server.send("PATCH", `${maps}/${name}?fieldManager=z&force=true`, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name },
        data: { a: "c" },
      }, apply),
      await server.send("PUT", `${maps}/${name}`, { metadata: { name, managedFields }, data: { a: "d" } }),
    ];
    for (const { code, body } of answers) {
      assert([200, 201, 400, 404, 409, 422].includes(code), `${code} ${JSON.stringify(body).slice(0, 300)}`);
      assert(JSON.stringify(body).length < 400_000);
    }
  }
  assertEquals(server.errors, []);
});

test("[95] the conflicts of an apply are listed up to a limit", async () => {
  using server = new KubernetesTestServer();
  const objectOf = (value: string) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a" },
    data: Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`k${index}`, value])),
  });
  // Managers with the same value share their fields.
  for (let manager = 0; manager < 8; manager++) {
    const { code } = await server.send("PATCH", `${maps}/a?fieldManager=m${manager}`, objectOf("x"), apply);
    assert(code === 200 || code === 201);
  }
  const answer = await server.send("PATCH", `${maps}/a?fieldManager=other`, objectOf("y"), apply);
  assertEquals(answer.code, 409);
  assertStringIncludes(answer.body.message, "Apply failed with 40000 conflicts: ");
  assert(/\nand \d+ more$/.test(answer.body.message));
  assert(JSON.stringify(answer.body).length < 1_500_000);
  assertEquals(server.errors, []);
});

const bytesOf = (text: string) => [...new TextEncoder().encode(text)];

function varint(value: number): number[] {
  return value < 128 ? [value] : [value % 128 + 128, ...varint(Math.floor(value / 128))];
}

function field(number: number, content: readonly number[]): number[] {
  return [...varint(number * 8 + 2), ...varint(content.length), ...content];
}

/** A body with a message of a kind. */
function envelope(kind: string, raw: Uint8Array): Uint8Array {
  const head = [0x6b, 0x38, 0x73, 0, ...field(1, [...field(1, bytesOf("v1")), ...field(2, bytesOf(kind))])];
  return Uint8Array.from([...head, ...varint(18), ...varint(raw.length), ...raw]);
}

test("[95] a protobuf body of any bytes is an object or a StatusError", () => {
  const valid = Uint8Array.from([
    ...field(1, field(1, bytesOf("a"))),
    ...field(2, [...field(1, bytesOf("k")), ...field(2, bytesOf("v"))]),
  ]);
  const codes = new Set<number>();
  for (let round = 0; round < 3_000; round++) {
    const bytes = Uint8Array.from([...valid, ...Array.from({ length: below(20) }, () => below(256))]);
    for (let change = below(4); change > 0; change--) {
      bytes[below(bytes.length)] = pick([0, 1, 0x7f, 0x80, 0xff, below(256)]);
    }
    try {
      decodeProtobuf(envelope(pick(["ConfigMap", "Pod", "Secret", "Nothing"]), bytes));
      codes.add(200);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      codes.add(error.status.code);
    }
  }
  assertEquals([...codes].sort(), [200, 400, 415]);
});

test("[95] very many messages and deep JSON in a protobuf body are refused", () => {
  const refusalOf = (kind: string, raw: readonly number[]) => {
    try {
      decodeProtobuf(envelope(kind, Uint8Array.from(raw)));
      return 200;
    } catch (error) {
      if (error instanceof StatusError) return error.status.code;
      throw error;
    }
  };
  const containers = (count: number) => {
    const content = Array(count).fill(field(2, [])).flat();
    return [...varint(2 * 8 + 2), ...varint(content.length), ...content];
  };
  assertEquals([refusalOf("Pod", containers(100_000)), refusalOf("Pod", containers(130_000))], [200, 413]);
  const fields = (depth: number) =>
    field(1, field(17, field(7, field(1, bytesOf("[".repeat(depth) + "]".repeat(depth))))));
  assertEquals([refusalOf("ConfigMap", fields(900)), refusalOf("ConfigMap", fields(1_100))], [200, 400]);
});
