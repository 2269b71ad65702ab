/** What the Client does about answers that are wrong, endless, late or hostile, and about aborts. */
import { builtin } from "../api/mod.ts";
import { VirtualClock } from "../async/mod.ts";
import { assert, assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { RecordingLogger } from "./_access_test_data.ts";
import { Client } from "./client.ts";
import { UnreachableError } from "./unreachable_error.ts";
import { configMap, rig } from "./_client_test_data.ts";

const { ConfigMap } = builtin;

test("[81] answers that are not what they should be are typed errors", async () => {
  const cases: readonly (readonly [Response, RegExp])[] = [
    [
      new Response("<html><h1>502 Bad Gateway</h1></html>", { status: 502 }),
      /^Cannot get ConfigMap "ns\/a": 502 Bad Gateway \(502\)$/,
    ],
    [new Response('{"kind":"ConfigMap","metadata":{', { status: 200 }), /its answer cannot be read: /],
    [new Response("<html>login</html>", { status: 200 }), /its answer cannot be read: /],
    [new Response("[]", { status: 200 }), /its answer cannot be read: the answer is not a JSON object$/],
    [new Response("{}", { status: 200 }), /its answer cannot be read: the answer is no v1 ConfigMap$/],
    [
      new Response(null, { status: 302, headers: { location: "https://elsewhere" } }),
      /redirects to elsewhere, which is not followed/,
    ],
  ];
  for (const [response, pattern] of cases) {
    await assertRejects(() => rig(() => response.clone()).client.get(ConfigMap, "ns/a"), pattern);
  }
});

test("[95] an answer that nests 100,000 levels deep is an error, not a crash", async () => {
  const deep = '{"kind":"ConfigMap","x":' + "[".repeat(100_000) + "]".repeat(100_000) + "}";
  await assertRejects(
    () => rig(() => new Response(deep)).client.get(ConfigMap, "ns/a"),
    /nests deeper than 512 levels$/,
  );
});

test("[94, security 16] keys and names that are words of JavaScript survive a round trip", async () => {
  const text =
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"__proto__","namespace":"constructor","labels":{"toString":"x"}},"data":{"__proto__":"p","constructor":"c"}}';
  let put = "";
  const client = new Client(async (request) => {
    if (request.method === "PUT") put = await request.text();
    return new Response(text);
  });
  const object = await client.get(ConfigMap, "constructor/__proto__");
  await client.update(ConfigMap, object);
  assertEquals(put, text);
  assertEquals([Reflect.get({}, "p"), Object.getPrototypeOf(object.data ?? {}) === Object.prototype], [
    undefined,
    true,
  ]);
});

/** A body that never ends, and counts what was taken of it. */
function endless(): { body: ReadableStream<Uint8Array>; taken: () => number; cancelled: Promise<void> } {
  let taken = 0;
  const { promise: cancelled, resolve } = Promise.withResolvers<void>();
  const chunk = new Uint8Array(64 * 1024).fill(32);
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      taken += chunk.length;
      controller.enqueue(chunk);
    },
    cancel: () => resolve(),
  }, { highWaterMark: 0 });
  return { body, taken: () => taken, cancelled };
}

test("[security 21, 81] endless answers end at the limit, errors at 64 KiB, and both are cancelled", async () => {
  const large = endless();
  const options = { maxBodyBytes: 1_000_000 };
  await assertRejects(
    () => rig(() => new Response(large.body), options).client.get(ConfigMap, "ns/a"),
    /larger than 1000000 bytes$/,
  );
  await large.cancelled;
  assert(large.taken() <= 1_000_000 + 2 * 65_536);
  const error = endless();
  await assertRejects(
    () => rig(() => new Response(error.body, { status: 500 })).client.get(ConfigMap, "ns/a"),
    /500 InternalError/,
  );
  await error.cancelled;
  assert(error.taken() <= 3 * 65_536);
  const announced = rig(() => new Response("{}", { headers: { "content-length": "99999999999" } }), options);
  await assertRejects(() => announced.client.get(ConfigMap, "ns/a"), /larger than 1000000 bytes$/);
});

test("[81] a body shorter than its content-length is an error", async () => {
  const { client } = rig(() => new Response('{"kind":"ConfigMap"}', { headers: { "content-length": "100" } }));
  const error = await assertRejects(() => client.get(ConfigMap, "ns/a"), /the answer broke off after 20 of 100 bytes$/);
  assert(error instanceof UnreachableError);
});

test("an answer that stops in the middle is given up after the stall time, not before", async () => {
  const clock = new VirtualClock();
  let send: (text: string) => void = () => {};
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => void (send = (text) => controller.enqueue(new TextEncoder().encode(text))),
  });
  const { client } = rig(() => new Response(body), { clock, stallTimeoutMs: 1000 });
  const reading = client.get(ConfigMap, "ns/a");
  const failed = assertRejects(() => reading);
  for (let step = 0; step < 5; step++) {
    await clock.advance(900);
    send(" ");
  }
  await clock.advance(1000);
  const error = await failed;
  assert(error instanceof UnreachableError);
  assertEquals([error.reason.kind, error.reason.detail, clock.pendingTimers], ["timeout", "stalled", 0]);
});

test("a request timeout covers answer and body, and spares watches", async () => {
  const clock = new VirtualClock();
  const hang = (request: Request) =>
    new Promise<Response>((_, reject) => request.signal.addEventListener("abort", () => reject(request.signal.reason)));
  const client = new Client(hang, { clock, requestTimeoutMs: 5000 });
  const reading = client.get(ConfigMap, "ns/a");
  const failed = assertRejects(() => reading, /^Cannot get ConfigMap "ns\/a": no answer in time$/);
  await clock.advance(5000);
  assert(await failed instanceof UnreachableError);
  const controller = new AbortController();
  const watching = client.watch(ConfigMap, { signal: controller.signal }).next();
  await clock.advance(1_000_000);
  const reason = new Error("stop");
  controller.abort(reason);
  assertEquals(await assertRejects(() => watching), reason);
  assertEquals(clock.pendingTimers, 0);
});

test("[17] an abort rejects with the signal's reason", async () => {
  const { client, sent } = rig(() => Response.json(configMap()));
  const reason = new Error("stop");
  assertEquals(await assertRejects(() => client.get(ConfigMap, "ns/a", { signal: AbortSignal.abort(reason) })), reason);
  assertEquals(sent.length, 0);
});

test("the server's warnings are logged once each", async () => {
  const logger = new RecordingLogger();
  const headers = { warning: '299 - "v1 Endpoints is deprecated"' };
  const { client } = rig(() => Response.json(configMap(), { headers }), { logger });
  await client.get(ConfigMap, "ns/a");
  await client.get(ConfigMap, "ns/b");
  assertEquals(logger.records.map(({ fields }) => fields), [{ warning: "v1 Endpoints is deprecated" }]);
});

test("raw() sends what no verb says", async () => {
  const { client, sent } = rig(() => new Response("ok"));
  assertEquals(await client.raw("/readyz?verbose"), "ok");
  assertEquals([sent[0]?.path, sent[0]?.query], ["/readyz", { verbose: "" }]);
  await client.raw("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", { method: "POST", body: "{}" });
  assertEquals([sent[1]?.method, sent[1]?.contentType], ["POST", "application/json"]);
  await assertRejects(() => client.raw("version"), /does not start with "\/"$/);
});
