import { assert, assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { drain, VirtualClock } from "../../async/mod.ts";
import { HealthChecks } from "./health_checks.ts";

const here = { remoteAddress: "127.0.0.1", isTls: false };
const elsewhere = { remoteAddress: "10.1.2.3", isTls: false };

async function get(health: HealthChecks, path: string, connection = elsewhere): Promise<readonly [number, string]> {
  const response = await health.respond(new Request(`http://localhost${path}`), connection);
  return [response.status, await response.text()];
}

function someChecks(): HealthChecks {
  const health = new HealthChecks();
  health.add({ name: "webhook", probe: "ready", problem: () => Promise.resolve(undefined) });
  health.add({ name: "cache", probe: "ready", problem: () => "foos.example.dev: forbidden to list or watch" });
  const problem = () => {
    throw new Error("no\nsuch \u001b[31mthing");
  };
  health.add({ name: "broken", probe: "ready", problem });
  health.add({ name: "leader", probe: "live", problem: () => undefined });
  return health;
}

test("endpoints can have other names, each for one probe", async () => {
  const health = new HealthChecks({ names: { live: ["alive"], ready: ["ready-to-go"] } });
  health.add({ name: "webhook", probe: "ready", problem: () => "no certificate" });
  assertEquals([(await get(health, "/alive"))[0], (await get(health, "/ready-to-go"))[0]], [200, 500]);
  assertEquals([(await get(health, "/healthz"))[0], health.isHealthPath("/readyz")], [404, false]);
  assertThrows(() => new HealthChecks({ names: { ready: ["healthz"] } }), /"healthz" is both live and ready/);
  assertThrows(() => new HealthChecks({ names: { live: ["a/b"] } }), /the name of endpoint "a\/b" is invalid/);
});

test("[security 11] the name of a failed check is shown to all clients, the reason only to clients on this machine", async () => {
  const health = someChecks();
  assertEquals(await get(health, "/readyz"), [
    500,
    "[-]broken failed: reason withheld\n[-]cache failed: reason withheld\n[+]webhook ok\nreadyz check failed\n",
  ]);
  assertEquals(await get(health, "/readyz", here), [
    500,
    "[-]broken failed: no such thing\n[-]cache failed: foos.example.dev: forbidden to list or watch\n" +
    "[+]webhook ok\nreadyz check failed\n",
  ]);
  assertEquals(await get(health, "/readyz/cache"), [500, "internal server error: reason withheld\n"]);
  const unknown = await health.respond(new Request("http://localhost/readyz"));
  assert((await unknown.text()).includes("reason withheld"));
});

test("a passing probe responds with ok, and with all checks for ?verbose", async () => {
  const health = someChecks();
  assertEquals(await get(health, "/livez"), [200, "ok"]);
  assertEquals(await get(health, "/healthz"), [200, "ok"]);
  assertEquals(await get(health, "/livez?verbose"), [200, "[+]leader ok\nlivez check passed\n"]);
  assertEquals(await get(health, "/readyz/webhook"), [200, "ok"]);
  assertEquals(await get(health, "/readyz?verbose&exclude=broken&exclude=cache&exclude=x"), [
    200,
    "[+]broken excluded: ok\n[+]cache excluded: ok\n[+]webhook ok\n" +
    'warn: some health checks cannot be excluded: no matches for "x"\nreadyz check passed\n',
  ]);
});

test("a probe without checks passes", async () => {
  assertEquals(await get(new HealthChecks(), "/readyz?verbose"), [200, "[+]ping ok\nreadyz check passed\n"]);
  assertEquals(await get(new HealthChecks(), "/healthz/ping"), [200, "ok"]);
});

test("unknown paths and methods are rejected", async () => {
  const health = someChecks();
  for (const path of ["/readyz/none", "/readyz/__proto__", "/livez/broken", "/readyz/webhook/x", "/constructor", "/"]) {
    assertEquals((await get(health, path))[0], 404, path);
  }
  const post = await health.respond(new Request("http://localhost/readyz", { method: "POST" }));
  assertEquals([post.status, post.headers.get("allow")], [405, "GET, HEAD"]);
  const head = await health.respond(new Request("http://localhost/readyz", { method: "HEAD" }));
  assertEquals([head.status, await head.text(), head.headers.get("x-content-type-options")], [500, "", "nosniff"]);
});

test("a check that takes too long has failed, and its signal aborts", async () => {
  const clock = new VirtualClock();
  const health = new HealthChecks({ clock, checkTimeoutMs: 1_000 });
  let signal: AbortSignal | undefined;
  const problem = (given: AbortSignal) => {
    signal = given;
    return new Promise<undefined>(() => undefined);
  };
  health.add({ name: "slow", probe: "ready", problem });
  const response = get(health, "/readyz", here);
  await drain();
  await clock.advance(1_000);
  assertEquals(await response, [500, "[-]slow failed: no result after 1000 ms\nreadyz check failed\n"]);
  assertEquals([signal?.aborted, clock.pendingTimers], [true, 0]);
});

test("a check can be removed, and a name can be used once", async () => {
  const health = new HealthChecks();
  const added = health.add({ name: "a", probe: "ready", problem: () => "not yet" });
  assertThrows(
    () => health.add({ name: "a", probe: "ready", problem: () => undefined }),
    /Cannot add health check "a": a check with that name exists/,
  );
  assertThrows(() => health.add({ name: "a/b", probe: "ready", problem: () => undefined }), /the name is invalid/);
  assertEquals((await get(health, "/readyz"))[0], 500);
  added[Symbol.dispose]();
  assertEquals((await get(health, "/readyz"))[0], 200);
});
