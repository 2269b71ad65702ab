/**
 * Attacks by a hostile API server on the client: answers and lists without end. A generator makes lists whose continue
 * tokens repeat after any number of pages, never end, or are huge.
 *
 * The rules: a list ends with an error after a bounded number of requests; a body or a line is cancelled at its limit,
 * with no more of it read than the limit and one chunk; the warnings of one answer are few.
 */
import { builtin, InvalidResponseError } from "../../src/api/mod.ts";
import { seededRandom } from "../../src/async/mod.ts";
import { Client } from "../../src/client/mod.ts";
import { assert, assertEquals, assertMatch, assertRejects, test } from "../testing.ts";

const { ConfigMap } = builtin;

/** A client whose server answers page `n` with the token of `tokenOf`. */
function listing(tokenOf: (page: number) => string): { readonly client: Client; readonly requests: () => number } {
  let requests = 0;
  const client = new Client(() => {
    const metadata = { resourceVersion: "1", continue: tokenOf(requests++) };
    return Promise.resolve(Response.json({ apiVersion: "v1", kind: "ConfigMapList", metadata, items: [] }));
  });
  return { client, requests: () => requests };
}

test("a list whose continue tokens repeat ends when the first one comes again", async () => {
  const random = seededRandom(21);
  for (let round = 0; round < 50; round++) {
    const before = Math.floor(random.next() * 20), cycle = 1 + Math.floor(random.next() * 20);
    const tokenOf = (page: number) => `t${page < before ? page : before + (page - before) % cycle}`;
    const { client, requests } = listing(tokenOf);
    const error = await assertRejects(() => client.listAll(ConfigMap));
    assertEquals(error.message, "Cannot read list: the server repeats a continue token");
    assertEquals(requests(), before + cycle + 1);
  }
});

test("a list without an end, or with a huge token, ends after a bounded number of pages", async () => {
  const endless = listing((page) => `t${page}`);
  assertMatch((await assertRejects(() => endless.client.listAll(ConfigMap))).message, /more than 10000 pages$/);
  assertEquals(endless.requests(), 10_001);
  const huge = listing((page) => `${page}${"x".repeat(1_000_000)}`);
  assertMatch((await assertRejects(() => huge.client.listAll(ConfigMap))).message, /longer than 4096 characters$/);
  assertEquals(huge.requests(), 1);
});

/** A body of `start` and then `filler` for ever, in chunks of `repeats` of them. */
function endlessBody(start: string, filler: string, repeats = 256 * 1024) {
  let sizeBytes = 0;
  let isCancelled = false;
  const chunk = new TextEncoder().encode(filler.repeat(repeats));
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const bytes = sizeBytes === 0 ? new TextEncoder().encode(start) : chunk.slice();
      sizeBytes += bytes.length;
      controller.enqueue(bytes);
    },
    cancel: () => void (isCancelled = true),
  }, { highWaterMark: 0 });
  return { body, sizeBytes: () => sizeBytes, isCancelled: () => isCancelled };
}

const mebibyte = 1024 * 1024;

test("an object without an end is cancelled at 16 MiB, for every verb that gets one", async () => {
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "a", name: "b" } } as const;
  const verbs: Readonly<Record<string, (client: Client) => Promise<unknown>>> = {
    get: (client) => client.get(ConfigMap, "a/b"),
    create: (client) => client.create(ConfigMap, object),
    apply: (client) => client.apply(ConfigMap, object, { fieldManager: "m" }),
    patch: (client) => client.patch(ConfigMap, "a/b", { kind: "merge", value: {} }),
    delete: (client) => client.delete(ConfigMap, "a/b"),
  };
  for (const [name, send] of Object.entries(verbs)) {
    const answer = endlessBody('{"kind":"ConfigMap","data":{"a":"', "x");
    const error = await assertRejects(() => send(new Client(() => Promise.resolve(new Response(answer.body)))));
    assertMatch(error.message, /the response is larger than 16777216 bytes$/);
    assert(answer.isCancelled() && answer.sizeBytes() <= 17 * mebibyte, `${name}: ${answer.sizeBytes()} bytes`);
  }
});

test("[security 21] a page of a list without an end is cancelled at its limit, whatever it consists of", async () => {
  const list = '{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[';
  const pages: Readonly<Record<string, readonly [start: string, part: string, maxBytes: number, state: RegExp]>> = {
    "small items": [list, '{"metadata":{"name":"a"}},', 8 * mebibyte, /has more than 200000 items$/],
    "items without a value": [list, "1,", 2 * mebibyte, /has more than 200000 items$/],
    "one item": [`${list}{"a":"`, "x", 17 * mebibyte, /an item with more than 16777216 bytes$/],
    "one item of fields": [`${list}{"a":1`, ',"a":1', 17 * mebibyte, /an item with more than 16777216 bytes$/],
    "items of empty objects": [
      list,
      `[${"{},".repeat(999)}{}],`,
      7 * mebibyte,
      /more than 3000000 values, and more than one for 10 bytes$/,
    ],
    "white space in the items": [list, " ", 17 * mebibyte, /an item with more than 16777216 bytes$/],
    "white space before the list": [" ", " ", 17 * mebibyte, /more than 16777216 bytes beside its items$/],
    "white space behind the list": [`${list}]}`, "\n", 17 * mebibyte, /more than 16777216 bytes beside its items$/],
    "one text in the metadata": [
      '{"metadata":{"a":"',
      "x",
      17 * mebibyte,
      /more than 16777216 bytes beside its items$/,
    ],
    "fields beside the items": [`${list}]`, ',"a":1', 17 * mebibyte, /more than 16777216 bytes beside its items$/],
    "arrays of items": [`${list}]`, ',"items":[]', 17 * mebibyte, /more than 16777216 bytes beside its items$/],
    "depth": [`${list}`, "[", mebibyte, /nests deeper than 512 levels$/],
  };
  for (const [name, [start, part, maxBytes, state]] of Object.entries(pages)) {
    const answer = endlessBody(start, part, Math.ceil(256 * 1024 / part.length));
    const client = new Client(() => Promise.resolve(new Response(answer.body)));
    const error = await assertRejects(() => client.list(ConfigMap), state);
    assert(error instanceof InvalidResponseError && error.message.startsWith("Cannot list ConfigMap"), error.message);
    assert(answer.isCancelled() && answer.sizeBytes() <= maxBytes, `${name}: ${answer.sizeBytes()} bytes`);
  }
});

test("a line of a watch without an end is cancelled at 16 Mi characters", async () => {
  for (
    const start of ['{"type":"ADDED","object":{"a":"', " ", '{"type":"ADDED","object":{"metadata":{"managedFields":[']
  ) {
    const answer = endlessBody(start, "x");
    const client = new Client(() => Promise.resolve(new Response(answer.body)));
    const read = async () => {
      for await (const _ of client.watch(ConfigMap, { signal: new AbortController().signal }));
    };
    assertMatch((await assertRejects(read)).message, /a line is longer than 16777216 characters$/);
    assert(answer.isCancelled() && answer.sizeBytes() <= 17 * mebibyte, `${answer.sizeBytes()} bytes`);
  }
});

test("an answer with hundreds of kilobytes of warnings is logged briefly", async () => {
  const logged: unknown[] = [];
  const log = { debug() {}, info() {}, error() {}, warn: (_: string, fields: unknown) => void logged.push(fields) };
  const logger = Object.assign(log, { with: () => logger });
  const headers = [
    Array.from({ length: 20_000 }, (_, index) => `299 - "warning ${index}"`).join(", "),
    `299 - "`.repeat(50_000),
    `299 - "${"\\".repeat(400_000)}`,
  ];
  for (const warning of headers) {
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "a", name: "b" } };
    const client = new Client(() => Promise.resolve(Response.json(object, { headers: { warning } })), { logger });
    await client.get(ConfigMap, "a/b");
  }
  assert(JSON.stringify(logged).length < 32 * 1024, `${JSON.stringify(logged).length} characters`);
});
