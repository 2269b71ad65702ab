/** Tests of the verbs for scripts that need no WebSocket: logs, changes, waits, and a client from the kubeconfig alone. */
import { assert, assertEquals, assertMatch, assertRejects, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { drain, seededRandom, VirtualClock } from "../async/mod.ts";
import { Client } from "./client.ts";
import { TemporaryFolder } from "./testing/temporary_folder.ts";
import { configMap, status } from "./testing/test_client.ts";
import { WaitError } from "./wait_for.ts";

const { ConfigMap } = builtin;
const encoder = new TextEncoder();

/** A body that sends these parts, and then ends or breaks. */
function bodyOf(parts: readonly (string | Uint8Array)[], isBroken = false): Response {
  const left = [...parts];
  return new Response(
    new ReadableStream({
      pull(controller) {
        const part = left.shift();
        if (part !== undefined) return controller.enqueue(typeof part === "string" ? encoder.encode(part) : part);
        if (isBroken) controller.error(Object.assign(new Error("reset"), { code: "ECONNRESET" }));
        else controller.close();
      },
    }),
  );
}

/** A client whose server answers one request after the other. */
function scripted(answers: readonly ((url: URL) => Response)[]): { client: Client; urls: URL[]; clock: VirtualClock } {
  const urls: URL[] = [];
  const left = [...answers];
  const clock = new VirtualClock();
  const client = new Client((request) => {
    const url = new URL(request.url);
    urls.push(url);
    const answer = left.shift();
    if (answer === undefined) throw new Error(`unexpected request ${url.pathname}${url.search}`);
    return Promise.resolve(answer(url));
  }, { clock });
  return { client, urls, clock };
}

/** Reads everything, and advances the clock meanwhile. */
async function all<T>(values: AsyncIterable<T>, clock: VirtualClock, most = Infinity): Promise<T[]> {
  const read: T[] = [];
  let isOver = false;
  const reading = (async () => {
    for await (const value of values) if (read.push(value) >= most) break;
  })().finally(() => isOver = true);
  reading.catch(() => {});
  for (let step = 0; step < 500 && !isOver; step++) await clock.advance(1_000);
  await reading;
  return read;
}

const pod = (state: object) => () => Response.json({ status: { containerStatuses: [{ name: "web", state }] } });
const random = seededRandom(1);

test("logs() yields lines, whatever the chunks are, and keeps empty ones", async () => {
  const bytes = encoder.encode("grün\n\nzwei\r\nende");
  const { client, urls, clock } = scripted([() => bodyOf([...bytes].map((byte) => new Uint8Array([byte])))]);
  const options = { container: "web", previous: true, sinceSeconds: 60, tailLines: 5, timestamps: true };
  assertEquals(await all(client.logs("shop/web-0", options), clock), ["grün", "", "zwei\r", "ende"]);
  assertEquals(
    `${urls[0]?.pathname}${urls[0]?.search}`,
    "/api/v1/namespaces/shop/pods/web-0/log?container=web&previous=true&timestamps=true&sinceSeconds=60&tailLines=5",
  );
});

test("a line that is longer than the limit comes in pieces, in bounded memory", async () => {
  const { client, clock } = scripted([() => bodyOf(["ab", "cdefg", "h\nxy\n"])]);
  assertEquals(await all(client.logs("shop/web-0", { maxLineLength: 3 }), clock), ["abc", "def", "gh", "xy"]);
});

test("[115] a followed log goes on after lost connections: no line is lost or repeated, also of one moment", async () => {
  const t = (second: number) => `2026-01-01T00:00:0${second}.5Z`;
  const { client, urls, clock } = scripted([
    () => bodyOf([`${t(1)} a\n${t(2)} b\n${t(2)} c\n${t(3)} half`], true),
    () => status(503, "ServiceUnavailable"),
    // From the last timestamp on: the half line was delivered to no one, it had no end.
    () => bodyOf([`${t(2)} b\n${t(2)} c\n${t(2)} d\n${t(3)} half a line\n`]),
    pod({ running: { startedAt: "x" } }),
    () => bodyOf([`${t(3)} half a line\n${t(4)} e\n${t(5)} cut o`]),
    pod({ running: { startedAt: "x" } }),
    () => bodyOf([`${t(4)} e\n${t(5)} cut off\n${t(6)} prompt> `]),
    pod({ terminated: { exitCode: 0 } }),
  ]);
  const lines = await all(client.logs("shop/web-0", { container: "web", follow: true, tailLines: 2, random }), clock);
  assertEquals(lines, ["a", "b", "c", "d", "half a line", "e", "cut off", "prompt> "]);
  const queries = urls.filter(({ pathname }) => pathname.endsWith("/log")).map(({ searchParams }) => [
    searchParams.get("tailLines"),
    searchParams.get("sinceTime"),
    searchParams.get("timestamps"),
  ]);
  assertEquals(queries, [["2", null, "true"], [null, t(2), "true"], [null, t(2), "true"], [null, t(3), "true"], [
    null,
    t(4),
    "true",
  ]]);
});

test("[115] a log that cannot be read is an error at once, and a Pod that is gone ends a followed one", async () => {
  const rejected = scripted([() => status(400, "BadRequest")]);
  await assertRejects(() => all(rejected.client.logs("shop/web-0", { follow: true }), rejected.clock), /BadRequest/);
  const gone = scripted([() => bodyOf(["2026-01-01T00:00:00Z a\n"]), () => status(404, "NotFound")]);
  assertEquals(await all(gone.client.logs("shop/web-0", { follow: true }), gone.clock), ["a"]);
  await assertRejects(() => gone.client.logs("shop/a", { follow: true, previous: true }).next(), /cannot be followed/);
});

test("[115] leaving a followed log ends its request", async () => {
  let hasEnded = false;
  const client = new Client((request) => {
    request.signal.addEventListener("abort", () => hasEnded = true);
    const cancel = () => void (hasEnded = true);
    const start = (controller: ReadableStreamDefaultController) =>
      controller.enqueue(encoder.encode("2026-01-01T00:00:00Z a\n"));
    return Promise.resolve(new Response(new ReadableStream({ start, cancel })));
  });
  for await (const line of client.logs("shop/web-0", { follow: true })) {
    assertEquals(line, "a");
    break;
  }
  await drain();
  assert(hasEnded);
});

const object = (name: string, version: string, fields: object = {}) => ({
  ...configMap(name),
  metadata: { name, namespace: "ns", uid: `uid-${name}`, resourceVersion: version, ...fields },
});
const list = (version: string, ...items: object[]) => () =>
  Response.json({ apiVersion: "v1", kind: "ConfigMapList", metadata: { resourceVersion: version }, items });
const watch = (...events: object[]) => () => bodyOf(events.map((event) => `${JSON.stringify(event)}\n`));
const expired = { type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired", message: "too old" } };

test("[115] changes() resumes at the last version, and after 410 a new list tells what happened in between", async () => {
  const { client, urls, clock } = scripted([
    list("5", object("a", "3"), object("b", "4")),
    watch(
      { type: "MODIFIED", object: object("a", "6") },
      { type: "BOOKMARK", object: { ...object("x", "9"), kind: "ConfigMap" } },
    ),
    () => status(503, "ServiceUnavailable"),
    watch({ type: "ADDED", object: object("c", "10") }, expired),
    list("20", object("c", "10"), object("b", "15"), object("d", "16", { uid: "uid-d" })),
    watch({ type: "DELETED", object: object("b", "21") }),
  ]);
  const seen = await all(client.changes(ConfigMap, { namespace: "ns", random }), clock, 8);
  assertEquals(seen.map(({ type, object }) => `${type} ${object.metadata.name} ${object.metadata.resourceVersion}`), [
    "ADDED a 3",
    "ADDED b 4",
    "MODIFIED a 6",
    "ADDED c 10",
    "DELETED a 6",
    "MODIFIED b 15",
    "ADDED d 16",
    "DELETED b 21",
  ]);
  const versions = urls.map(({ searchParams }) => searchParams.get("resourceVersion"));
  assertEquals(versions, [null, "5", "9", "9", null, "20"]);
});

test("[115] changes() throws what does not heal, and ends with its signal", async () => {
  const forbidden = scripted([() => status(403, "Forbidden")]);
  await assertRejects(() => all(forbidden.client.changes(ConfigMap), forbidden.clock), /Forbidden/);
  const stop = new AbortController();
  const { client, clock } = scripted([list("5"), () => (stop.abort(new Error("enough")), bodyOf([], true))]);
  await assertRejects(() => all(client.changes(ConfigMap, { signal: stop.signal, random }), clock), /^enough$/);
});

const withReady = (version: string, state: string, fields: object = {}) => ({
  ...object("a", version, fields),
  status: {
    conditions: [{ type: "Ready", status: state, reason: "NoPods", message: "0 of 3" }],
    observedGeneration: 2,
  },
});

test("[115] waitFor() waits for a condition of the present generation, for a predicate, and for an object that is not there", async () => {
  const events = [
    { type: "ADDED", object: withReady("6", "False", { generation: 2 }) },
    { type: "MODIFIED", object: withReady("7", "True", { generation: 3 }) },
    { type: "MODIFIED", object: withReady("8", "True", { generation: 2 }) },
  ];
  const ready = scripted([list("5"), watch(...events)]);
  assertEquals((await ready.client.waitFor(ConfigMap, "ns/a", "Ready"))?.metadata.resourceVersion, "8");
  assertEquals(ready.urls[0]?.searchParams.get("fieldSelector"), "metadata.name=a");
  const blue = scripted([list("5", { ...object("a", "4"), data: { color: "blue" } })]);
  const found = await blue.client.waitFor(ConfigMap, "ns/a", ({ data }) => data?.color === "blue");
  assertEquals(found?.data?.color, "blue");
});

test("[115] waitFor() of a deletion ends when the object is gone, also if it is gone already", async () => {
  const absent = scripted([list("5")]);
  assertEquals(await absent.client.waitFor(ConfigMap, "ns/a", "deleted"), undefined);
  const present = scripted([list("5", object("a", "4")), watch({ type: "DELETED", object: object("a", "6") })]);
  assertEquals((await present.client.waitFor(ConfigMap, "ns/a", "deleted"))?.metadata.name, "a");
  const between = scripted([list("5", object("a", "4")), watch(expired), list("9")]);
  const waiting = between.client.waitFor(ConfigMap, "ns/a", "deleted", { random });
  for (let step = 0; step < 5; step++) await between.clock.advance(1_000);
  assertEquals((await waiting)?.metadata.resourceVersion, "4");
});

test("[115] at its deadline waitFor() says what the object is like", async () => {
  const cases = [
    [list("5"), "Ready", /^Cannot wait for ConfigMap "ns\/a" to be Ready: it does not exist$/],
    [list("5", withReady("4", "False")), "Ready", /: Ready is False \(NoPods: 0 of 3\)$/],
    [list("5", object("a", "4")), "Ready", /: it has no condition Ready$/],
    [
      list("5", object("a", "4", { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["a.dev/x"] })),
      "deleted",
      /: it is being deleted since 2026-01-01T00:00:00Z, and its finalizers are left: a.dev\/x$/,
    ],
  ] as const;
  for (const [listed, condition, message] of cases) {
    const deadline = new AbortController();
    const open = () => {
      queueMicrotask(() => deadline.abort(new DOMException("too long", "TimeoutError")));
      return new Response(new ReadableStream());
    };
    const { client } = scripted([listed, open]);
    const options = { signal: deadline.signal, random };
    const error = await assertRejects(() => client.waitFor(ConfigMap, "ns/a", condition, options), message);
    assert(error instanceof WaitError && error.cause === deadline.signal.reason);
  }
});

test("[83] Client.fromKubeconfig() takes KUBECONFIG, else the file at home, and says what is missing", async () => {
  const config = (server: string) =>
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "c",
      contexts: [{ name: "c", context: { cluster: "c" } }],
      clusters: [{ name: "c", cluster: { server } }],
    });
  await using folder = await TemporaryFolder.with({
    "one": config("http://127.0.0.1:1"),
    ".kube/config": config("http://127.0.0.1:2"),
  });
  const home = folder.path;
  const serverOf = async (environment: Record<string, string>) => {
    using client = await Client.fromKubeconfig({ environment, home });
    return String((await assertRejects(() => client.raw("/version"))).message);
  };
  assertMatch(await serverOf({ KUBECONFIG: `${home}/one` }), /127\.0\.0\.1:1\b/);
  assertMatch(await serverOf({}), /127\.0\.0\.1:2\b/);
  const nowhere = () => Client.fromKubeconfig({ environment: {}, home: `${home}/nowhere` });
  await assertRejects(nowhere, /there is no kubeconfig .* and no service account of a Pod/);
});
