import { assert, assertEquals, assertMatch, assertRejects, test } from "../../../tests/testing.ts";
import { seededRandom, VirtualClock } from "../../async/mod.ts";
import type { Transport } from "../../client/mod.ts";
import { createProcess, endOf, startCommandLine } from "../testing/run_command.ts";
import { connectionTo, podController } from "../testing/test_kinds.ts";
import { FakeServer, statusResponse } from "../testing/fake_server.ts";
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

test("waitForServer() returns the version of the server", async () => {
  const server = new FakeServer({});
  const version = await waitForServer(connectionTo(server.transport), { timeoutMs: 1_000, clock, random, signal });
  assertEquals(version, "v1.36.3");
});

test("[84] an unreachable server is retried until --connect-timeout, then the exit code is 5", async () => {
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

test("waitForServer() reaches a server that starts before the timeout", async () => {
  const server = new FakeServer({
    "GET /version": (_request, count) =>
      count < 4 ? statusResponse(503, "ServiceUnavailable", "starting") : Response.json({ gitVersion: "v1.2.3" }),
  });
  const { value } = await settled(
    waitForServer(connectionTo(server.transport), { timeoutMs: 30_000, clock, random, signal }),
    clock,
  );
  assertEquals([value, server.requests.length], ["v1.2.3", 4]);
});

test("[84] waitForServer() fails after the timeout when the server never responds", async () => {
  const silent: Transport = (request) =>
    new Promise((_, reject) => request.signal.addEventListener("abort", () => reject(request.signal.reason)));
  const { error, afterMs } = await settled(
    waitForServer(connectionTo(silent), { timeoutMs: 5_000, clock, random, signal }),
    clock,
  );
  assert(error instanceof CommandError && error.code === exitCode.unreachable);
  assertMatch(error.message, /no response within 5s/);
  assert(afterMs <= 5_100);
});

test("[84] permanent failures are not retried: credentials, certificates, a server that is not Kubernetes", async () => {
  const wrongCa = () => Promise.reject(Object.assign(new Error("self signed"), { code: "SELF_SIGNED_CERT_IN_CHAIN" }));
  const cases: readonly (readonly [Transport, number, RegExp, RegExp])[] = [
    [
      () => Promise.resolve(statusResponse(401, "Unauthorized", "Unauthorized")),
      4,
      /user "ann" are rejected/,
      /^Log in again$/,
    ],
    [wrongCa, 5, /signed by an unknown authority/, /certificate-authority/],
    [() => Promise.resolve(new Response("<h1>It works!</h1>")), 5, /not that of a Kubernetes API server/, /address/],
    [() => Promise.resolve(Response.json({ hello: "world" })), 5, /not that of a Kubernetes API server/, /address/],
    [() => Promise.resolve(statusResponse(404, "NotFound", "?")), 5, /it responds 404 NotFound/, /address/],
  ];
  for (const [respond, code, state, advice] of cases) {
    let tries = 0;
    const transport: Transport = (request) => {
      tries++;
      return respond(request);
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

test("a server whose version is not readable counts as reached", async () => {
  const server = new FakeServer({ "GET /version": () => statusResponse(403, "Forbidden", "no") });
  const version = await waitForServer(connectionTo(server.transport), { timeoutMs: 1_000, clock, random, signal });
  assertEquals(version, undefined);
});

test("an aborted signal ends the wait", async () => {
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

test("[84] a start against a server that refuses or never responds says so within 2 s, goes on, and says it once", async () => {
  const silent: Transport = (request) =>
    new Promise((_, reject) => request.signal.addEventListener("abort", () => reject(request.signal.reason)));
  const operator = { name: "op", version: "1.0.0", controllers: [podController] };
  const cases = [[refusedConnection, "the connection was refused"], [silent, "no response yet"]] as const;
  for (const [transport, state] of cases) {
    let requests = 0;
    const counted: Transport = (request) => {
      requests++;
      return transport(request);
    };
    const process = createProcess(["run", "--all", "--connect-timeout", "10s"], { transport: counted });
    const ending = startCommandLine(operator, process, counted);
    while (requests === 0) await process.clock.advance(0); // the command is still being loaded
    for (let step = 0; step < 100; step++) await process.clock.advance(20);
    const notice =
      /WARN +cli +still trying to reach the server +server=https:\/\/10\.0\.0\.1:6443 state="(.+)" timeout=10s\n/;
    assertEquals(notice.exec(process.err)?.[1], state, process.err);
    assertEquals(await endOf(ending, process, 20), exitCode.unreachable);
    assertEquals(process.err.split("still trying").length, 2, process.err);
  }
});
