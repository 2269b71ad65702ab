/** Tests of retries: which requests are sent again, and when. */
import { seededRandom, VirtualClock } from "../async/mod.ts";
import { assert, assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { ApiError } from "./api_error.ts";
import { type RetryableRequest, retryOnConflict, sendWithRetries } from "./retry.ts";
import { RecordingLogger } from "./testing/cluster_access.ts";

const never = new AbortController().signal;

type Outcome = Response | Error;

/** A server with scripted outcomes; the last one repeats. */
class ScriptedServer {
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

/** Sends a request and advances the clock until there is a result. */
async function send(
  outcomes: readonly Outcome[],
  request: Partial<RetryableRequest> = {},
  maxAttempts = 10,
  onRetry?: (code: string) => void,
): Promise<Result> {
  const clock = new VirtualClock();
  const server = new ScriptedServer(clock, outcomes);
  let result: Result | undefined;
  sendWithRetries(
    { method: "GET", contentType: null, signal: never, send: () => server.send(), ...request },
    { maxAttempts, clock, random: seededRandom(1), logger: new RecordingLogger(), onRetry },
  ).then(
    (response) => result = { sentAt: server.sentAt, status: response.status, error: undefined },
    (error) => result = { sentAt: server.sentAt, status: undefined, error },
  );
  for (let step = 0; result === undefined && step < 100; step++) await clock.advance(clock.nextTimerInMs ?? 0);
  assert(result !== undefined && clock.pendingTimers === 0);
  return result;
}

const responseWith = (status: number, retryAfter?: string) =>
  new Response("x", { status, headers: retryAfter === undefined ? {} : { "retry-after": retryAfter } });
const reset = Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
const refused = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });

test("[74] the delay after 429 and 5xx is at least Retry-After", async () => {
  const { sentAt, status } = await send([
    responseWith(429, "2"),
    responseWith(503, "1"),
    responseWith(500, "0"),
    responseWith(200),
  ]);
  assertEquals([sentAt, status], [[0, 2000, 3000, 3000], 200]);
});

test("[74] nothing is repeated without Retry-After, or for other statuses", async () => {
  for (
    const response of [
      responseWith(429),
      responseWith(503),
      responseWith(500),
      responseWith(404, "1"),
      responseWith(302, "1"),
      responseWith(200, "1"),
    ]
  ) {
    const { sentAt, status } = await send([response, responseWith(201)]);
    assertEquals([sentAt.length, status], [1, response.status]);
  }
});

test("[1] the error for a version that the server does not have yet is returned at once", async () => {
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
  assertEquals((await send([responseWith(504, "1"), responseWith(200)])).sentAt, [0, 1000]);
});

test("[74] after ten attempts the last response is returned", async () => {
  const { sentAt, status } = await send([responseWith(429, "1")]);
  assertEquals([sentAt.length, status], [10, 429]);
  assertEquals((await send([responseWith(429, "1")], {}, 3)).sentAt.length, 3);
});

test("[124] each repetition is reported with the reason: the status of the response before, or <error>", async () => {
  const reset = Object.assign(new Error("reset"), { code: "ECONNRESET" });
  const codes: string[] = [];
  const report = (code: string) => void codes.push(code);
  const { status } = await send(
    [responseWith(429, "1"), reset, responseWith(503, "1"), responseWith(200)],
    {},
    10,
    report,
  );
  assertEquals([codes, status], [["429", "<error>", "503"], 200]);
  await send([responseWith(404)], {}, 10, report);
  assertEquals(codes.length, 3);
});

test("[security 21] a Retry-After of years counts as five minutes", async () => {
  const { sentAt } = await send([responseWith(429, "1000000000"), responseWith(200)]);
  assertEquals(sentAt, [0, 300_000]);
});

test("[74] the body of a response that is not returned is cancelled", async () => {
  let cancelled = 0;
  const first = () =>
    new Response(new ReadableStream({ cancel: () => void cancelled++ }), {
      status: 429,
      headers: { "retry-after": "0" },
    });
  let calls = 0;
  const { status } = await send([], { send: () => Promise.resolve(++calls === 1 ? first() : responseWith(200)) });
  assertEquals([status, cancelled], [200, 1]);
});

test("[74] a POST is repeated only after 429 and 503, which mean that the server did not start it", async () => {
  const repeats = async (request: Partial<RetryableRequest>, response: Response) =>
    (await send([response, responseWith(200)], request)).sentAt.length === 2;
  const patch = (contentType: string) => ({ method: "PATCH", contentType: `application/${contentType}` });
  const table: readonly (readonly [Partial<RetryableRequest>, on500: boolean])[] = [
    [{ method: "POST" }, false],
    [patch("json-patch+json"), false],
    [patch("strategic-merge-patch+json"), false],
    [patch("merge-patch+json"), true],
    [patch("apply-patch+yaml"), true],
    [{ method: "PUT" }, true],
    [{ method: "DELETE" }, true],
    [{ method: "GET" }, true],
  ];
  for (const [request, on500] of table) {
    assertEquals(await repeats(request, responseWith(429, "0")), true);
    assertEquals(await repeats(request, responseWith(503, "0")), true);
    for (const status of [500, 502, 504]) assertEquals(await repeats(request, responseWith(status, "0")), on500);
  }
});

test("[74] only a GET is retried after its connection broke, at once and then with a delay", async () => {
  const got = await send([reset, reset, responseWith(200)]);
  assertEquals([got.status, got.sentAt[1]], [200, 0]);
  assert((got.sentAt[2] ?? 0) >= 100);
  assertEquals((await send([reset])).sentAt.length, 3);
  for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
    const { sentAt, error } = await send([reset, responseWith(200)], { method });
    assertEquals([sentAt.length, error], [1, reset]);
  }
  const down = await send([refused, responseWith(200)]);
  assertEquals([down.sentAt.length, down.error], [1, refused]);
});

test("[17] an abort ends the wait before a retry", async () => {
  const controller = new AbortController();
  const clock = new VirtualClock();
  const server = new ScriptedServer(clock, [responseWith(429, "60")]);
  const request = { method: "GET", contentType: null, signal: controller.signal, send: () => server.send() };
  const sending = sendWithRetries(request, {
    maxAttempts: 10,
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

test("[75] retryOnConflict() makes five attempts for a conflict, and one for any other error", async () => {
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
