/** What is sent again, when, and what is not. */
import { seededRandom, VirtualClock } from "../async/mod.ts";
import { assert, assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { RecordingLogger } from "./_access_test_data.ts";
import { type Attempt, sendWithRetries } from "./_retry.ts";
import { Throttle } from "./_throttle.ts";
import { ApiError } from "./api_error.ts";
import { retryOnConflict } from "./retry_on_conflict.ts";

const never = new AbortController().signal;

type Outcome = Response | Error;

class Server {
  readonly sentAt: number[] = [];
  readonly #outcomes: Outcome[];
  readonly #clock: VirtualClock;

  constructor(clock: VirtualClock, outcomes: readonly Outcome[]) {
    this.#clock = clock;
    this.#outcomes = [...outcomes];
  }

  send(): Promise<Response> {
    this.sentAt.push(this.#clock.monotonic());
    const outcome = this.#outcomes.length > 1 ? this.#outcomes.shift() : this.#outcomes[0];
    return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome?.clone() ?? new Response());
  }
}

interface Result {
  readonly sentAt: readonly number[];
  readonly status: number | undefined;
  readonly error: unknown;
}

/** Sends until it is over, letting the time pass that is waited for. */
async function send(outcomes: readonly Outcome[], attempt: Partial<Attempt> = {}, maxTries = 10): Promise<Result> {
  const clock = new VirtualClock();
  const server = new Server(clock, outcomes);
  let result: Result | undefined;
  sendWithRetries(
    { method: "GET", contentType: null, signal: never, send: () => server.send(), ...attempt },
    { maxTries, clock, random: seededRandom(1), logger: new RecordingLogger() },
  ).then(
    (response) => result = { sentAt: server.sentAt, status: response.status, error: undefined },
    (error) => result = { sentAt: server.sentAt, status: undefined, error },
  );
  for (let step = 0; result === undefined && step < 100; step++) await clock.advance(clock.nextTimerInMs ?? 0);
  assert(result !== undefined && clock.pendingTimers === 0);
  return result;
}

const answer = (status: number, retryAfter?: string) =>
  new Response("x", { status, headers: retryAfter === undefined ? {} : { "retry-after": retryAfter } });
const reset = Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
const refused = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });

test("[74] Retry-After of 429 and 5xx is waited for, and never undercut", async () => {
  const { sentAt, status } = await send([answer(429, "2"), answer(503, "1"), answer(500, "0"), answer(200)]);
  assertEquals([sentAt, status], [[0, 2000, 3000, 3000], 200]);
});

test("[74] without Retry-After, and for other answers, nothing is repeated", async () => {
  for (
    const response of [answer(429), answer(503), answer(500), answer(404, "1"), answer(302, "1"), answer(200, "1")]
  ) {
    const { sentAt, status } = await send([response, answer(201)]);
    assertEquals([sentAt.length, status], [1, response.status]);
  }
});

test("[1] a version the server does not have yet is not waited for: whoever lists knows better", async () => {
  const body = JSON.stringify({ kind: "Status", details: { causes: [{ reason: "ResourceVersionTooLarge" }] } });
  const early = () => new Response(body, { status: 504, headers: { "retry-after": "1", "content-length": "1" } });
  let calls = 0;
  const { status } = await send([], {
    send: () => {
      calls++;
      return Promise.resolve(early());
    },
  });
  assertEquals([calls, status], [1, 504]);
  assertEquals((await send([answer(504, "1"), answer(200)])).sentAt, [0, 1000]);
});

test("[74] after ten tries the last answer is handed on", async () => {
  const { sentAt, status } = await send([answer(429, "1")]);
  assertEquals([sentAt.length, status], [10, 429]);
  assertEquals((await send([answer(429, "1")], {}, 3)).sentAt.length, 3);
});

test("[security 21] a Retry-After of years is capped at five minutes", async () => {
  const { sentAt } = await send([answer(429, "1000000000"), answer(200)]);
  assertEquals(sentAt, [0, 300_000]);
});

test("[74] the body of an answer that is not handed on is cancelled", async () => {
  let cancelled = 0;
  const first = () =>
    new Response(new ReadableStream({ cancel: () => void cancelled++ }), {
      status: 429,
      headers: { "retry-after": "0" },
    });
  let calls = 0;
  const { status } = await send([], { send: () => Promise.resolve(++calls === 1 ? first() : answer(200)) });
  assertEquals([status, cancelled], [200, 1]);
});

test("[74] a POST is repeated after 429 and 503 alone, with which the server says that it did not start", async () => {
  const repeats = async (attempt: Partial<Attempt>, response: Response) =>
    (await send([response, answer(200)], attempt)).sentAt.length === 2;
  const patch = (contentType: string) => ({ method: "PATCH", contentType: `application/${contentType}` });
  const table: readonly (readonly [Partial<Attempt>, on500: boolean])[] = [
    [{ method: "POST" }, false],
    [patch("json-patch+json"), false],
    [patch("strategic-merge-patch+json"), false],
    [patch("merge-patch+json"), true],
    [patch("apply-patch+yaml"), true],
    [{ method: "PUT" }, true],
    [{ method: "DELETE" }, true],
    [{ method: "GET" }, true],
  ];
  for (const [attempt, on500] of table) {
    assertEquals(await repeats(attempt, answer(429, "0")), true);
    assertEquals(await repeats(attempt, answer(503, "0")), true);
    for (const status of [500, 502, 504]) assertEquals(await repeats(attempt, answer(status, "0")), on500);
  }
});

test("[74] a connection that broke is retried for a GET only, at once and then later", async () => {
  const got = await send([reset, reset, answer(200)]);
  assertEquals([got.status, got.sentAt[1]], [200, 0]);
  assert((got.sentAt[2] ?? 0) >= 100);
  assertEquals((await send([reset])).sentAt.length, 3);
  for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
    const { sentAt, error } = await send([reset, answer(200)], { method });
    assertEquals([sentAt.length, error], [1, reset]);
  }
  const down = await send([refused, answer(200)]);
  assertEquals([down.sentAt.length, down.error], [1, refused]);
});

test("[17] an abort ends the wait for a retry", async () => {
  const controller = new AbortController();
  const clock = new VirtualClock();
  const server = new Server(clock, [answer(429, "60")]);
  const attempt = { method: "GET", contentType: null, signal: controller.signal, send: () => server.send() };
  const sending = sendWithRetries(attempt, {
    maxTries: 10,
    clock,
    random: seededRandom(1),
    logger: new RecordingLogger(),
  });
  await clock.advance(1000);
  const reason = new Error("stop");
  controller.abort(reason);
  assertEquals(await assertRejects(() => sending), reason);
  assertEquals(clock.pendingTimers, 0);
});

test("[75] a conflict is tried five times, anything else once", async () => {
  const failing = async (error: unknown, options: { attempts?: number } = {}) => {
    const clock = new VirtualClock();
    let calls = 0;
    const result = retryOnConflict(() => {
      calls++;
      return Promise.reject(error);
    }, { clock, random: seededRandom(1), ...options });
    const thrown = assertRejects(() => result);
    for (let step = 0; step < 10; step++) await clock.advance(11);
    assertEquals(await thrown, error);
    return calls;
  };
  const conflict = new ApiError({ code: 409, reason: "Conflict" }, { action: "update" });
  assertEquals(await failing(conflict), 5);
  assertEquals(await failing(conflict, { attempts: 2 }), 2);
  assertEquals(await failing(new ApiError({ code: 409, reason: "AlreadyExists" }, { action: "create" })), 1);
});

test("a throttle lets a burst pass, then so many a second, in order", async () => {
  const clock = new VirtualClock();
  const throttle = new Throttle({ qps: 10, burst: 3 }, clock);
  const passedAt: number[] = [];
  for (let count = 0; count < 6; count++) throttle.take(never).then(() => passedAt.push(clock.monotonic()));
  await clock.advance(1000);
  assertEquals(passedAt, [0, 0, 0, 100, 200, 300]);
  const aborted = throttle.take(AbortSignal.abort(new Error("stop")));
  await aborted.catch(() => {});
  await assertRejects(() => Promise.resolve().then(() => new Throttle({ qps: 0, burst: 1 }, clock)), /qps 0/);
});
