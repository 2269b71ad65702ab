/**
 * Attacks on the metrics by bogus tokens: each unknown token needs a TokenReview. A generator sends thousands of different
 * ones from several peers, and answers of the API server with odd shapes.
 *
 * The rules: few reviews run at once, and they start slowly; a right token is answered after few others, and one that was
 * reviewed is answered at once; an answer of an odd shape is an error of the server, status 500.
 */
import { seededRandom, VirtualClock } from "../../src/async/mod.ts";
import { Client } from "../../src/client/mod.ts";
import { logger } from "../../src/observe/mod.ts";
import { accessReview } from "../../src/manager/health/access_review.ts";
import { assert, assertEquals, test } from "../testing.ts";
import { until } from "../until.ts";

const random = seededRandom(14);
const below = (count: number) => Math.floor(random.next() * count);
const user = { username: "prometheus", groups: ["monitoring"] };

function reviewed(answer: (token: string) => unknown = (token) => token.startsWith("right") ? user : undefined) {
  const clock = new VirtualClock();
  const state = { running: 0, mostRunning: 0, tokenReviews: 0, reviewsOf: new Map<string, number>() };
  const client = new Client(async (request) => {
    const { spec } = await request.json();
    if (!request.url.endsWith("/tokenreviews")) return Response.json({ status: { allowed: true } }, { status: 201 });
    state.tokenReviews++;
    state.reviewsOf.set(spec.token, (state.reviewsOf.get(spec.token) ?? 0) + 1);
    state.mostRunning = Math.max(state.mostRunning, ++state.running);
    await clock.sleep(1, new AbortController().signal);
    state.running--;
    const found = answer(spec.token);
    return Response.json({ status: found === undefined ? {} : { authenticated: true, user: found } }, { status: 201 });
  });
  const handler = accessReview(() => new Response("metrics"), { client, clock, log: logger("test") });
  const get = async (token: string, remoteAddress: string) => {
    const request = new Request("https://localhost/metrics", { headers: { authorization: `Bearer ${token}` } });
    return (await handler(request, { remoteAddress, isTls: true })).status;
  };
  return { clock, state, get };
}

test("[security 11] thousands of bogus tokens are few reviews at once, and do not lock out a right one", async () => {
  const { clock, state, get } = reviewed();
  const statuses: number[] = [];
  const first = get("right-known", "10.0.0.1");
  await until(() => clock.advance(1) !== undefined && state.tokenReviews === 1 && state.running === 0, "a review");
  assertEquals(await first, 200);
  for (let count = 0; count < 3_000; count++) {
    void get(`bogus-${count}-${below(1e9)}`, `10.0.1.${below(3)}`).then((status) => statuses.push(status));
  }
  let good: number | undefined;
  void get("right-new", "10.0.0.2").then((status) => good = status);
  const startedAt = clock.monotonic();
  await until(() => clock.advance(1) !== undefined && good !== undefined, "the response to the right token");
  assertEquals(good, 200);
  assert(state.mostRunning <= 5, `${state.mostRunning} reviews at once`);
  const seconds = (clock.monotonic() - startedAt) / 1000;
  assert(state.tokenReviews <= 51 + 50 * seconds, `${state.tokenReviews} reviews in ${seconds} s`);
  assert(statuses.length < 200, `${statuses.length} bogus tokens were reviewed before`);
  assertEquals(await get("right-known", "10.0.1.0"), 200);
  assertEquals(state.reviewsOf.get("right-known"), 1, "a known token needs no review");
  await until(() => clock.advance(1_000) !== undefined && statuses.length === 3_000, "the other responses");
  assertEquals(new Set(statuses), new Set([401]));
});

test("bogus tokens do not displace the right ones from the cache", async () => {
  const { clock, state, get } = reviewed();
  const send = async (token: string) => {
    const response = get(token, "10.0.0.1");
    let isDone = false;
    void response.then(() => isDone = true);
    // Only as far as the next review may start, so that the result of the first one does not expire.
    await until(() => {
      const { nextTimerInMs = Infinity } = clock;
      if (!isDone && nextTimerInMs <= 20) void clock.advance(nextTimerInMs);
      return isDone;
    }, "a response");
    return await response;
  };
  assertEquals(await send("right"), 200);
  for (let count = 0; count < 1_500; count++) await send(`bogus-${count}`);
  assert(clock.monotonic() < 60_000, "the result of the first review has expired");
  assertEquals(await send("right"), 200);
  assertEquals(state.reviewsOf.get("right"), 1);
});

test("[security 11] an answer of an odd shape is an error of the server", async () => {
  const shapes: unknown[] = [1, "x", [], {}, { username: 1 }, { username: "" }, { username: "a", groups: 1 }];
  shapes.push({ username: "a", extra: { a: 1 } }, { groups: ["a"] }, true, { username: null }, [{ username: "a" }]);
  for (const shape of shapes) {
    const { clock, get } = reviewed(() => shape);
    let status: number | undefined;
    void get("token", "10.0.0.1").then((one) => status = one);
    await until(() => clock.advance(1) !== undefined && status !== undefined, "a response");
    assertEquals(status, 500, JSON.stringify(shape));
  }
});
