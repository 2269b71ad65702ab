/** Tests of requests whose responses are malformed, endless, late or hostile, of aborts and of warnings. */
import { builtin } from "../api/mod.ts";
import { drain, VirtualClock } from "../async/mod.ts";
import { assert, assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { Client } from "./client.ts";
import { statusOf, warningTexts } from "./requester.ts";
import { RecordingLogger } from "./testing/cluster_access.ts";
import { configMap, testClient } from "./testing/test_client.ts";
import { UnreachableError } from "./unreachable_error.ts";

const { ConfigMap } = builtin;

test("[81] unexpected responses are typed errors", async () => {
  const cases: readonly (readonly [Response, RegExp])[] = [
    [
      new Response("<html><h1>502 Bad Gateway</h1></html>", { status: 502 }),
      /^Cannot get ConfigMap "ns\/a": 502 Bad Gateway \(502\)$/,
    ],
    [new Response('{"kind":"ConfigMap","metadata":{', { status: 200 }), /its response cannot be used: /],
    [new Response("<html>login</html>", { status: 200 }), /its response cannot be used: /],
    [new Response("[]", { status: 200 }), /its response cannot be used: the response is not a JSON object$/],
    [new Response("{}", { status: 200 }), /its response cannot be used: the response is not a v1 ConfigMap$/],
    [
      new Response(null, { status: 302, headers: { location: "https://elsewhere" } }),
      /redirects are not followed/,
    ],
  ];
  for (const [response, pattern] of cases) {
    await assertRejects(() => testClient(() => response.clone()).client.get(ConfigMap, "ns/a"), pattern);
  }
});

test("[95] a response with a depth of 100,000 levels is an error, not a crash", async () => {
  const deep = '{"kind":"ConfigMap","x":' + "[".repeat(100_000) + "]".repeat(100_000) + "}";
  await assertRejects(
    () => testClient(() => new Response(deep)).client.get(ConfigMap, "ns/a"),
    /nests deeper than 512 levels$/,
  );
});

test("[94, security 16] keys and names that are properties of Object in JavaScript survive a round trip", async () => {
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

/** An endless body that counts the bytes that were read. */
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

test("[security 21, 81] endless responses are cancelled at the limit, and endless errors at 64 KiB", async () => {
  const large = endless();
  const options = { maxBodyBytes: 1_000_000 };
  await assertRejects(
    () => testClient(() => new Response(large.body), options).client.get(ConfigMap, "ns/a"),
    /larger than 1000000 bytes$/,
  );
  await large.cancelled;
  assert(large.taken() <= 1_000_000 + 2 * 65_536);
  const error = endless();
  await assertRejects(
    () => testClient(() => new Response(error.body, { status: 500 })).client.get(ConfigMap, "ns/a"),
    /500 InternalError/,
  );
  await error.cancelled;
  assert(error.taken() <= 3 * 65_536);
  const announced = testClient(() => new Response("{}", { headers: { "content-length": "99999999999" } }), options);
  await assertRejects(() => announced.client.get(ConfigMap, "ns/a"), /larger than 1000000 bytes$/);
});

test("[81] a body shorter than its content-length is an error", async () => {
  const { client } = testClient(() => new Response('{"kind":"ConfigMap"}', { headers: { "content-length": "100" } }));
  const error = await assertRejects(
    () => client.get(ConfigMap, "ns/a"),
    /the response broke off after 20 of 100 bytes$/,
  );
  assert(error instanceof UnreachableError);
});

test("a response that stops in the middle is given up after the stall timeout", async () => {
  const clock = new VirtualClock();
  let send: (text: string) => void = () => {};
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => void (send = (text) => controller.enqueue(new TextEncoder().encode(text))),
  });
  const { client } = testClient(() => new Response(body), { clock, stallTimeoutMs: 1000 });
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

test("a request timeout includes the body and does not apply to watches", async () => {
  const clock = new VirtualClock();
  const hang = (request: Request) =>
    new Promise<Response>((_, reject) => request.signal.addEventListener("abort", () => reject(request.signal.reason)));
  const client = new Client(hang, { clock, requestTimeoutMs: 5000 });
  const reading = client.get(ConfigMap, "ns/a");
  const failed = assertRejects(() => reading, /^Cannot get ConfigMap "ns\/a": no response in time$/);
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

test("[17] an abort rejects with the reason of the signal", async () => {
  const { client, sent } = testClient(() => Response.json(configMap()));
  const reason = new Error("stop");
  assertEquals(await assertRejects(() => client.get(ConfigMap, "ns/a", { signal: AbortSignal.abort(reason) })), reason);
  assertEquals(sent.length, 0);
});

test("a request follows the signal of its caller only until its response is read", async () => {
  const requests: Request[] = [];
  const client = new Client((request) => {
    requests.push(request);
    return requests.length < 3 ? Promise.resolve(Response.json(configMap())) : new Promise<Response>(() => {});
  });
  const caller = new AbortController();
  const { signal } = caller;
  for (let count = 0; count < 2; count++) await client.get(ConfigMap, "ns/a", { signal });
  const failed = assertRejects(() => client.get(ConfigMap, "ns/a", { signal }));
  await drain();
  const reason = new Error("stop");
  caller.abort(reason);
  assertEquals(await failed, reason);
  assertEquals(requests.map((request) => request.signal.reason), [undefined, undefined, reason]);
});

test("each warning of the server is logged once", async () => {
  const logger = new RecordingLogger();
  const headers = { warning: '299 - "v1 Endpoints is deprecated"' };
  const { client } = testClient(() => Response.json(configMap(), { headers }), { logger });
  await client.get(ConfigMap, "ns/a");
  await client.get(ConfigMap, "ns/a");
  assertEquals(logger.records.map(({ fields }) => fields), [{ warning: "v1 Endpoints is deprecated" }]);
});

test("[81] statusOf() makes a Status from a page of HTML, a part of a Status and an empty body", () => {
  const page = "<html><head><style>b{}</style></head><body><h1>502 Bad Gateway</h1>\n<p>nginx</p></body></html>";
  assertEquals(statusOf(page, 502).message, "502 Bad Gateway nginx");
  assertEquals(statusOf('{"kind":"Status","code":40', 404).reason, "NotFound");
  assertEquals(statusOf("", 503), {
    kind: "Status",
    status: "Failure",
    code: 503,
    reason: "ServiceUnavailable",
    message: "the response has no text",
  });
  assertEquals(statusOf('{"kind":"Status","reason":"Conflict"}', 409).code, 409);
  assert((statusOf("x".repeat(100_000), 500).message ?? "").length <= 512);
  assert((statusOf("<".repeat(60_000), 500).message ?? "").length <= 512);
});

test("warningTexts() returns the texts with code 299", () => {
  const header = '299 - "apps/v1beta1 Deployment is deprecated", 299 - "unknown field \\"spec.x\\"", 199 - "cache"';
  assertEquals(warningTexts(header), ["apps/v1beta1 Deployment is deprecated", 'unknown field "spec.x"']);
  assertEquals(warningTexts('299 - "never ends'), []);
});
