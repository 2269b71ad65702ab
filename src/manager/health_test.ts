import { assert, assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { drain, VirtualClock } from "../async/mod.ts";
import type { InformerStatus } from "../cache/mod.ts";
import { HealthChecks } from "./health.ts";
import { informerSync } from "./health_checks.ts";

const here = { remoteAddress: "127.0.0.1", isTls: false };
const elsewhere = { remoteAddress: "10.1.2.3", isTls: false };

async function ask(health: HealthChecks, path: string, connection = elsewhere): Promise<readonly [number, string]> {
  const response = await health.respond(new Request(`http://localhost${path}`), connection);
  return [response.status, await response.text()];
}

function someChecks(): HealthChecks {
  const health = new HealthChecks();
  health.add("ready", "webhook", () => Promise.resolve(undefined));
  health.add("ready", "informer-sync", () => "foos.example.dev: forbidden to list or watch");
  health.add("ready", "broken", () => {
    throw new Error("no\nsuch \u001b[31mthing");
  });
  health.add("live", "leader", () => undefined);
  return health;
}

test("endpoints can have other names, each for one kind of check", async () => {
  const health = new HealthChecks({ names: { live: ["alive"], ready: ["ready-to-go"] } });
  health.add("ready", "webhook", () => "no certificate");
  assertEquals([(await ask(health, "/alive"))[0], (await ask(health, "/ready-to-go"))[0]], [200, 500]);
  assertEquals([(await ask(health, "/healthz"))[0], health.isHealthPath("/readyz")], [404, false]);
  assertThrows(() => new HealthChecks({ names: { ready: ["healthz"] } }), /"healthz" is both live and ready/);
  assertThrows(() => new HealthChecks({ names: { live: ["a/b"] } }), /"a\/b" is no name/);
});

test("[security 11] a failed check is named to everybody, and explained to this machine only", async () => {
  const health = someChecks();
  assertEquals(await ask(health, "/readyz"), [
    500,
    "[-]broken failed: reason withheld\n[-]informer-sync failed: reason withheld\n[+]webhook ok\nreadyz check failed\n",
  ]);
  assertEquals(await ask(health, "/readyz", here), [
    500,
    "[-]broken failed: no such  [31mthing\n[-]informer-sync failed: foos.example.dev: forbidden to list or watch\n" +
    "[+]webhook ok\nreadyz check failed\n",
  ]);
  assertEquals(await ask(health, "/readyz/informer-sync"), [500, "internal server error: reason withheld\n"]);
  const unknown = await health.respond(new Request("http://localhost/readyz"));
  assert((await unknown.text()).includes("reason withheld"));
});

test("what is well is one word, unless more is asked for", async () => {
  const health = someChecks();
  assertEquals(await ask(health, "/livez"), [200, "ok"]);
  assertEquals(await ask(health, "/healthz"), [200, "ok"]);
  assertEquals(await ask(health, "/livez?verbose"), [200, "[+]leader ok\nlivez check passed\n"]);
  assertEquals(await ask(health, "/readyz/webhook"), [200, "ok"]);
  assertEquals(await ask(health, "/readyz?verbose&exclude=broken&exclude=informer-sync&exclude=x"), [
    200,
    "[+]broken excluded: ok\n[+]informer-sync excluded: ok\n[+]webhook ok\n" +
    'warn: some health checks cannot be excluded: no matches for "x"\nreadyz check passed\n',
  ]);
});

test("without checks a process that answers is well", async () => {
  assertEquals(await ask(new HealthChecks(), "/readyz?verbose"), [200, "[+]ping ok\nreadyz check passed\n"]);
  assertEquals(await ask(new HealthChecks(), "/healthz/ping"), [200, "ok"]);
});

test("paths and methods that mean nothing are refused", async () => {
  const health = someChecks();
  for (const path of ["/readyz/none", "/readyz/__proto__", "/livez/broken", "/readyz/webhook/x", "/constructor", "/"]) {
    assertEquals((await ask(health, path))[0], 404, path);
  }
  const post = await health.respond(new Request("http://localhost/readyz", { method: "POST" }));
  assertEquals([post.status, post.headers.get("allow")], [405, "GET, HEAD"]);
  const head = await health.respond(new Request("http://localhost/readyz", { method: "HEAD" }));
  assertEquals([head.status, await head.text(), head.headers.get("x-content-type-options")], [500, "", "nosniff"]);
});

test("a check that takes too long has failed, and is told to stop", async () => {
  const clock = new VirtualClock();
  const health = new HealthChecks({ clock, checkTimeoutMs: 1_000 });
  let signal: AbortSignal | undefined;
  health.add("ready", "slow", (given) => {
    signal = given;
    return new Promise(() => undefined);
  });
  const asking = ask(health, "/readyz", here);
  await drain();
  await clock.advance(1_000);
  assertEquals(await asking, [500, "[-]slow failed: no result after 1000 ms\nreadyz check failed\n"]);
  assertEquals([signal?.aborted, clock.pendingTimers], [true, 0]);
});

test("a check can be taken away, and a name stands for one check", async () => {
  const health = new HealthChecks();
  const added = health.add("ready", "a", () => "not yet");
  assertThrows(
    () => health.add("ready", "a", () => undefined),
    /Cannot add health check "a": there is one of that name/,
  );
  assertThrows(() => health.add("ready", "a/b", () => undefined), /bad name/);
  assertEquals((await ask(health, "/readyz"))[0], 500);
  added[Symbol.dispose]();
  assertEquals((await ask(health, "/readyz"))[0], 200);
});

test("[16] a cache that is not in step makes readyz red and names the resource", async () => {
  const synced: InformerStatus = {
    name: "foos.example.dev",
    hasSynced: true,
    reflector: { kind: "watching", sinceAt: 0 },
    quarantined: [],
    objects: 3,
  };
  const error = new Error("no RBAC");
  const reflector = { kind: "waiting", reason: "forbidden", error, attempts: 2, nextAttemptAt: 0 } as const;
  const forbidden: InformerStatus = { ...synced, name: "pods", hasSynced: false, reflector };
  const health = new HealthChecks();
  let statuses = [synced, forbidden];
  health.add("ready", "informer-sync", informerSync(() => statuses));
  assertEquals(await ask(health, "/readyz/informer-sync", here), [
    500,
    "internal server error: pods: forbidden to list or watch (no RBAC)\n",
  ]);
  statuses = [synced];
  assertEquals((await ask(health, "/readyz"))[0], 200);
});
