import { assert, assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { shardHash } from "../../api/mod.ts";
import { configMaps, mergePatch, TestServer } from "../testing/test_server.ts";
import { parseShardSelector } from "./shard_selector.ts";

const low = "'0x0000000000000000'", middle = "'0x8000000000000000'", end = "'0x10000000000000000'";
const lowerHalf = `shardRange(object.metadata.uid, ${low}, ${middle})`;
const upperHalf = `shardRange(object.metadata.uid, ${middle}, ${end})`;

/** Messages of the real parser (apiserver v0.36.3, pkg/sharding/parser.go). */
const rejected: readonly (readonly [selector: string, message: string])[] = [
  [" ", "empty shard selector is not allowed; omit the parameter for unfiltered lists"],
  [`${lowerHalf} && ${upperHalf}`, `unsupported function "_&&_"; only shardRange() and || are allowed`],
  [
    `other(object.metadata.uid, ${low}, ${middle})`,
    `unsupported function "other"; only shardRange() and || are allowed`,
  ],
  ["true", "unexpected expression kind 5; expected shardRange() call or || operator"],
  [`shardRange(object.metadata.uid, ${low})`, "shardRange() requires exactly 3 arguments, got 2"],
  [
    `shardRange('uid', ${low}, ${middle})`,
    "shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind 5",
  ],
  [
    `shardRange(object.metadata.name, ${low}, ${middle})`,
    `unsupported field path "object.metadata.name"; supported: object.metadata.uid, object.metadata.namespace`,
  ],
  [`shardRange(object.metadata.uid, 0, ${middle})`, "hexStart must be a string literal, got int64"],
  [`shardRange(object.metadata.uid, '00', ${middle})`, `hexStart must have '0x' prefix, got "00"`],
  [`shardRange(object.metadata.uid, '0x', ${middle})`, "hexStart: hex value is required after '0x'"],
  [
    `shardRange(object.metadata.uid, '0x0', ${middle})`,
    `hexStart must be a 0x-prefixed 16-digit hex value, got "0x0" (did you mean "0x0000000000000000"?)`,
  ],
  [
    `shardRange(object.metadata.uid, ${low}, '0x800000000000000A')`,
    `hexEnd: invalid hex character "A" in "0x800000000000000A"`,
  ],
  [
    `shardRange(object.metadata.uid, ${low}, '0x20000000000000000')`,
    `hexEnd: 17-digit hex value must be '0x10000000000000000' (2^64), got "0x20000000000000000"`,
  ],
  [
    `shardRange(object.metadata.uid, ${low}, '0x100000000000000000')`,
    `hexEnd: hex value too long (18 chars, max 17): "100000000000000000"`,
  ],
  [
    `shardRange(object.metadata.uid, ${middle}, ${middle})`,
    "shard range start 0x8000000000000000 must be less than end 0x8000000000000000",
  ],
  [
    `${lowerHalf} || shardRange(object.metadata.namespace, ${low}, ${middle})`,
    `all shard ranges must use the same field, got "object.metadata.uid" and "object.metadata.namespace"`,
  ],
];

for (const [selector, message] of rejected) {
  test(`the shard selector ${selector} is rejected`, () => {
    const error = assertThrows(() => parseShardSelector(selector));
    assertEquals(error instanceof Error && error.message, message);
  });
}

test("a shard selector matches the objects whose hash is in one of its ranges", () => {
  const matches = (selector: string, uid: string) =>
    parseShardSelector(selector).matches({ object: { metadata: { uid } }, labels: {} });
  for (let index = 0; index < 100; index++) {
    const uid = `uid-${index}`;
    const isLow = shardHash(uid) < "8000000000000000";
    assertEquals([matches(lowerHalf, uid), matches(upperHalf, uid)], [isLow, !isLow]);
    assert(matches(`(${lowerHalf}) || ${upperHalf}`, uid));
  }
  assertEquals(parseShardSelector(` ( ${lowerHalf}||${upperHalf} ) `).text, `${lowerHalf} || ${upperHalf}`);
});

async function serverWithMaps(options?: ConstructorParameters<typeof TestServer>[0]): Promise<TestServer> {
  const server = new TestServer(options);
  for (let index = 0; index < 20; index++) {
    const metadata = { name: `map-${index}` };
    assertEquals((await server.send("POST", configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata })).code, 201);
  }
  return server;
}

interface ListedMap {
  readonly metadata: { readonly name: string; readonly uid: string };
}

const selected = `shardSelector=${encodeURIComponent(lowerHalf)}`;

test("with its gate, a server lists, watches and deletes only the objects of the shards, and says which", async () => {
  using server = await serverWithMaps({ features: ["ShardedListAndWatch"] });
  const all: readonly ListedMap[] = (await server.send("GET", configMaps)).body.items;
  const expected = all.filter(({ metadata: { uid } }) => shardHash(uid) < "8000000000000000");
  assert(expected.length > 0 && expected.length < all.length);
  const { body } = await server.send("GET", `${configMaps}?${selected}`);
  assertEquals([body.items, body.metadata.shardInfo], [expected, { selector: lowerHalf }]);
  const page = await server.send("GET", `${configMaps}?${selected}&limit=2`);
  assertEquals([page.body.items.length, page.body.metadata.shardInfo], [2, { selector: lowerHalf }]);
  const watch = await server.watch(`${configMaps}?watch=1&${selected}`);
  const names = expected.map(({ metadata: { name } }) => name);
  const shown = await watch.take(names.length);
  assertEquals(shown.map((event) => event.replace(/@.*/, "")), names.map((name) => `ADDED ${name}`));
  for (const { metadata: { name } } of all) {
    await server.send("PATCH", `${configMaps}/${name}`, { data: { a: "b" } }, mergePatch);
  }
  const changed = await watch.take(names.length);
  assertEquals(changed.map((event) => event.replace(/@.*/, "")).sort(), names.map((name) => `MODIFIED ${name}`).sort());
  await watch.cancel();
  await server.send("DELETE", `${configMaps}?${selected}`);
  const left: readonly ListedMap[] = (await server.send("GET", configMaps)).body.items;
  assertEquals(left.length, all.length - expected.length);
  assert(left.every(({ metadata: { uid } }) => shardHash(uid) >= "8000000000000000"));
});

test("with its gate, a server rejects a malformed shard selector", async () => {
  using server = await serverWithMaps({ features: ["ShardedListAndWatch"] });
  const { code, body } = await server.send("GET", `${configMaps}?shardSelector=true`);
  const why = "unexpected expression kind 5; expected shardRange() call or || operator";
  assertEquals([code, body.message], [500, `invalid shard selector: ${why}`]);
});

test("without its gate, a server ignores a shard selector", async () => {
  using server = await serverWithMaps();
  for (const selector of [selected, "shardSelector=true"]) {
    const { body } = await server.send("GET", `${configMaps}?${selector}`);
    assertEquals([body.items.length, body.metadata.shardInfo], [20, undefined]);
  }
});
