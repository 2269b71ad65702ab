import { assert, assertEquals, assertMatch, assertRejects, test } from "../../../tests/testing.ts";
import { seededRandom, VirtualClock } from "../../async/mod.ts";
import type { Transport } from "../../client/mod.ts";
import { connectionTo } from "../testing/test_kinds.ts";
import { failed, FakeServer } from "../testing/fake_server.ts";
import { CommandError, exitCode } from "../command/exit_code.ts";
import { waitForServer } from "./wait_for_server.ts";

const clock = new VirtualClock();
const random = seededRandom(7);
const { signal } = new AbortController();

/** Runs the clock until `promise` settles. */
async function settled<T>(
  promise: Promise<T>,
  clock: VirtualClock,
): Promise<{ error?: Error; value?: T; afterMs: number }> {
  const startedAt = clock.monotonic();
  let result: { error?: Error; value?: T } | undefined;
  promise.then((value) => result = { value }, (error: Error) => result = { error });
  for (let step = 0; result === undefined && step < 2_000; step++) await clock.advance(50);
  assert(result !== undefined, "it did not end");
  return { ...result, afterMs: clock.monotonic() - startedAt };
}

function refusedConnection(): Promise<Response> {
  return Promise.reject(Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }));
}

test("waitForServer() gives the version of a server that answers", async () => {
  const server = new FakeServer({});
  const version = await waitForServer(connectionTo(server.transport), { timeoutMs: 1_000, clock, random, signal });
  assertEquals(version, "v1.36.3");
});

test("[84] an unreachable server is tried until --connect-timeout, then it is exit code 5", async () => {
  let tries = 0;
  const transport: Transport = () => {
    tries++;
    return refusedConnection();
  };
  const { error, afterMs } = await settled(
    waitForServer(connectionTo(transport), { timeoutMs: 30_000, clock, random, signal }),
    clock,
  );
  assert(error instanceof CommandError && error.code === exitCode.unreachable);
  assertEquals(error.message, "Cannot reach the API server https://10.0.0.1:6443: the connection was refused");
  assertMatch(error.advice ?? "", /port/);
  assert(tries > 10 && afterMs > 25_000 && afterMs <= 30_100, `${tries} tries in ${afterMs} ms`);
});

test("a server that comes up within the time is reached", async () => {
  const server = new FakeServer({
    "GET /version": (_request, count) =>
      count < 4 ? failed(503, "ServiceUnavailable", "starting") : Response.json({ gitVersion: "v1.2.3" }),
  });
  const { value } = await settled(
    waitForServer(connectionTo(server.transport), { timeoutMs: 30_000, clock, random, signal }),
    clock,
  );
  assertEquals([value, server.requests.length], ["v1.2.3", 4]);
});

test("[84] a server that never answers is given up when the time is over", async () => {
  const silent: Transport = (request) =>
    new Promise((_, reject) => request.signal.addEventListener("abort", () => reject(request.signal.reason)));
  const { error, afterMs } = await settled(
    waitForServer(connectionTo(silent), { timeoutMs: 5_000, clock, random, signal }),
    clock,
  );
  assert(error instanceof CommandError && error.code === exitCode.unreachable);
  assertMatch(error.message, /no answer within 5s/);
  assert(afterMs <= 5_100);
});

test("[84] what time does not heal ends it at the first try: credentials, certificates, no Kubernetes", async () => {
  const wrongCa = () => Promise.reject(Object.assign(new Error("self signed"), { code: "SELF_SIGNED_CERT_IN_CHAIN" }));
  const cases: readonly (readonly [Transport, number, RegExp, RegExp])[] = [
    [() => Promise.resolve(failed(401, "Unauthorized", "Unauthorized")), 4, /user "ann" are refused/, /^Log in again$/],
    [wrongCa, 5, /signed by an unknown authority/, /certificate-authority/],
    [() => Promise.resolve(new Response("<h1>It works!</h1>")), 5, /not one of Kubernetes/, /address/],
    [() => Promise.resolve(Response.json({ hello: "world" })), 5, /not one of Kubernetes/, /address/],
    [() => Promise.resolve(failed(404, "NotFound", "?")), 5, /it answers 404 NotFound/, /address/],
  ];
  for (const [answer, code, state, advice] of cases) {
    let tries = 0;
    const transport: Transport = (request) => {
      tries++;
      return answer(request);
    };
    const error = await assertRejects(
      () => waitForServer(connectionTo(transport), { timeoutMs: 30_000, clock, random, signal }),
      state,
    );
    assert(error instanceof CommandError);
    assertEquals([error.code, tries], [code, 1]);
    assertMatch(error.advice ?? "", advice);
  }
});

test("a server that keeps its version to itself is there all the same", async () => {
  const server = new FakeServer({ "GET /version": () => failed(403, "Forbidden", "no") });
  const version = await waitForServer(connectionTo(server.transport), { timeoutMs: 1_000, clock, random, signal });
  assertEquals(version, undefined);
});

test("a signal ends the wait", async () => {
  const stop = new AbortController();
  const waiting = waitForServer(connectionTo(refusedConnection), {
    timeoutMs: 30_000,
    clock,
    random,
    signal: stop.signal,
  });
  await clock.advance(100);
  stop.abort(new DOMException("Ended by SIGTERM", "AbortError"));
  await assertRejects(() => waiting, /Ended by SIGTERM/);
});
