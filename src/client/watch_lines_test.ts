/** Tests of watchLines(): any chunks, any end, no event lost silently. */
import fc from "fast-check";
import { InvalidResponseError, type KubeObject, type WatchEvent } from "../api/mod.ts";
import { assert, assertEquals, assertMatch, assertRejects, test } from "../../tests/testing.ts";
import { UnreachableError } from "./unreachable_error.ts";
import { watchLines, type WatchLinesOptions } from "./watch_lines.ts";

const never = new AbortController().signal;
const encoder = new TextEncoder();

interface Body {
  readonly stream: ReadableStream<Uint8Array>;
  readonly cancelled: Promise<unknown>;
}

/** A body of these chunks that ends as `ending` says. */
function bodyOf(chunks: readonly Uint8Array[], ending: "close" | "hang" | Error = "close"): Body {
  const { promise: cancelled, resolve } = Promise.withResolvers<unknown>();
  let next = 0;
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = chunks[next++];
      if (chunk !== undefined) controller.enqueue(chunk);
      else if (ending === "close") controller.close();
      else if (ending instanceof Error) controller.error(ending);
    },
    cancel: (reason) => resolve(reason),
  }, { highWaterMark: 0 });
  return { stream, cancelled };
}

async function eventsOf(
  chunks: readonly Uint8Array[],
  options: Partial<WatchLinesOptions> = {},
): Promise<WatchEvent<KubeObject>[]> {
  const events: WatchEvent<KubeObject>[] = [];
  const batches = watchLines<KubeObject>(bodyOf(chunks).stream, never, { action: "watch Foo", ...options });
  for await (const batch of batches) events.push(...batch);
  return events;
}

function line(name: string, extra: object = {}): string {
  return JSON.stringify({ type: "ADDED", object: { apiVersion: "v1", kind: "Foo", metadata: { name, ...extra } } });
}

function cut(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const borders = [0, ...[...at].sort((left, right) => left - right), bytes.length];
  return borders.slice(1).map((end, index) => bytes.subarray(borders[index], end));
}

test("[14] chunks may end anywhere: in a character, in a line break, after every byte", async () => {
  const names = ["a", "größe", "日本語", "😀", '"\\\n'];
  const text = names.map((name, index) => line(name) + (index % 2 === 0 ? "\n" : "\r\n")).join("");
  const bytes = encoder.encode(text);
  const expected = await eventsOf([bytes]);
  assertEquals(expected.map((event) => event.type === "ADDED" && event.object.metadata.name), names);
  assertEquals(await eventsOf([...bytes].map((byte) => Uint8Array.of(byte))), expected);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 12 }), async (at) => {
      assertEquals(await eventsOf(cut(bytes, at)), expected);
    }),
    { numRuns: 200 },
  );
});

test("[14] a line of 10 MiB in small chunks is parsed in linear time", async () => {
  const long = "x".repeat(10 * 1024 * 1024);
  const bytes = encoder.encode(`${line("before")}\n${line(long)}\n${line("after")}\n`);
  const chunks: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; start += 1000) chunks.push(bytes.subarray(start, start + 1000));
  const events = await eventsOf(chunks);
  assertEquals(events.map((event) => event.type === "ADDED" && event.object.metadata.name?.length), [
    6,
    long.length,
    5,
  ]);
});

test("[14] a line above the limit is an error before it is completely in memory", async () => {
  const endless = bodyOf(Array<Uint8Array>(100).fill(encoder.encode("x".repeat(1000))), "hang");
  const batches = watchLines(endless.stream, never, { action: "watch Foo", maxLineLength: 10_000 });
  await assertRejects(() => batches.next(), /longer than 10000 characters/);
  await endless.cancelled;
});

test("[14] a stream that ends inside a line throws after the events before it", async () => {
  const whole = line("b");
  for (const length of [1, 10, whole.length - 1]) {
    const body = bodyOf([encoder.encode(`${line("a")}\n${whole.slice(0, length)}`)]);
    const batches = watchLines<KubeObject>(body.stream, never, { action: "watch Foo" });
    const first = await batches.next();
    assertEquals(first.done ? 0 : first.value.length, 1);
    const error = await assertRejects(() => batches.next(), /^Cannot watch Foo: the stream broke off inside a line/);
    assert(error instanceof UnreachableError);
  }
});

test("a complete last line without a line break is an event, and empty lines are skipped", async () => {
  const events = await eventsOf([encoder.encode(`\n\r\n${line("a")}\n\n${line("b")}`)]);
  assertEquals(events.length, 2);
});

test("[13, 14] a line that is not an event is MALFORMED, and the stream continues", async () => {
  const lines = [
    line("a"),
    "not json",
    '{"type":"RENAMED","object":{}}',
    '{"type":"ADDED"}',
    '["ADDED"]',
    '{"type":"ADDED","object":null}',
    "null",
    line("b"),
  ];
  const events = await eventsOf([encoder.encode(lines.join("\n") + "\n")]);
  assertEquals(events.map(({ type }) => type), ["ADDED", ...Array<"MALFORMED">(6).fill("MALFORMED"), "ADDED"]);
  const causes = events.map((event) => event.type === "MALFORMED" ? event.cause : undefined);
  assert(causes[1] instanceof SyntaxError && causes[2] instanceof InvalidResponseError);
  const second = events[1];
  assertEquals(second?.type === "MALFORMED" && second.line, "not json");
});

test("bookmarks and errors are returned unchanged", async () => {
  const bookmark = { type: "BOOKMARK", object: { kind: "Foo", metadata: { resourceVersion: "5" } } };
  const error = { type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired" } };
  const events = await eventsOf([encoder.encode(`${JSON.stringify(bookmark)}\n${JSON.stringify(error)}\n`)]);
  assertEquals(JSON.stringify(events), JSON.stringify([bookmark, error]));
});

test("one read of the connection is one batch", async () => {
  const chunks = [`${line("a")}\n${line("b")}\n`, `${line("c")}\n`, line("d").slice(0, 9), `${line("d").slice(9)}\n`];
  const sizes: number[] = [];
  const body = bodyOf(chunks.map((chunk) => encoder.encode(chunk)));
  for await (const batch of watchLines(body.stream, never, { action: "watch Foo" })) sizes.push(batch.length);
  assertEquals(sizes, [2, 1, 1]);
});

test("managedFields are removed by default, and kept on request", async () => {
  const managedFields = [{ manager: "m", fieldsV1: { "f:spec": {} } }];
  const indented = JSON.stringify(JSON.parse(line("b", { managedFields })), undefined, 1).replaceAll("\n", " ");
  const chunk = encoder.encode(`${line("a", { managedFields })}\n${indented}\n`);
  const fieldsOf = (events: WatchEvent<KubeObject>[]) =>
    events.map((event) => event.type === "ADDED" && "managedFields" in event.object.metadata);
  assertEquals(fieldsOf(await eventsOf([chunk])), [false, false]);
  assertEquals(fieldsOf(await eventsOf([chunk], { dropManagedFields: false })), [true, true]);
});

test("[94] __proto__ and constructor are ordinary keys", async () => {
  const text = '{"type":"ADDED","object":{"kind":"Foo","metadata":{"name":"constructor"},"data":{"__proto__":"x"}}}\n';
  const [event] = await eventsOf([encoder.encode(text)]);
  assert(event?.type === "ADDED");
  assertEquals(JSON.stringify(event), text.trim());
  assertEquals(Reflect.get({}, "x"), undefined);
});

test("[95] a line with a depth of 100,000 levels is MALFORMED, not a crash", async () => {
  const deep = "[".repeat(100_000) + "]".repeat(100_000);
  const nested = '{"a":'.repeat(100_000) + "1" + "}".repeat(100_000);
  const inString = line("[{".repeat(100_000));
  const lines = [`{"type":"ADDED","object":{"spec":${deep}}}`, `{"type":"ADDED","object":${nested}}`, deep, inString];
  const events = await eventsOf([encoder.encode(lines.join("\n") + "\n")]);
  assertEquals(events.map(({ type }) => type), ["MALFORMED", "MALFORMED", "MALFORMED", "ADDED"]);
  const [first] = events;
  assertMatch(first?.type === "MALFORMED" ? String(first.cause) : "", /deeper than 512 levels/);
});

test("[90] leaving the loop cancels the body", async () => {
  const body = bodyOf([encoder.encode(`${line("a")}\n`)], "hang");
  for await (const _ of watchLines(body.stream, never, { action: "watch Foo" })) break;
  await body.cancelled;
});

test("[17] an abort ends a wait for bytes with the reason of the signal, and cancels the body", async () => {
  const controller = new AbortController();
  const body = bodyOf([], "hang");
  const batches = watchLines(body.stream, controller.signal, { action: "watch Foo" });
  const waiting = batches.next();
  const reason = new Error("stop");
  controller.abort(reason);
  assertEquals(await assertRejects(() => waiting), reason);
  await body.cancelled;
});

test("a stream that breaks is an UnreachableError with its cause", async () => {
  const cause = Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
  const body = bodyOf([encoder.encode(`${line("a")}\n`)], cause);
  const batches = watchLines(body.stream, never, { action: "watch Foo" });
  await batches.next();
  const error = await assertRejects(() => batches.next(), /^Cannot watch Foo: the connection was closed$/);
  assert(error instanceof UnreachableError);
  assertEquals([error.cause, error.reason], [cause, { kind: "unreachable", detail: "reset" }]);
});
