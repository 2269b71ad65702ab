import { VirtualClock } from "../../async/mod.ts";
import { assertEquals, assertMatch, assertStringIncludes, test } from "../../../tests/testing.ts";
import { type PlanAnswer, PlanAnswers, type PlanSource } from "./plan_answers.ts";
import { get, idleEndpoint } from "./testing/test_endpoint.ts";

const empty: PlanAnswer = {
  time: "2026-01-06T10:00:00.000Z",
  controllers: ["foo"],
  ...{ changes: [], failing: [], endless: [], warnings: [], keys: 0, leftOut: [], notes: [] },
};

/** A plan that ends when the test says so. */
function heldPlan() {
  const asked: { readonly maxKeys: number; readonly signal: AbortSignal }[] = [];
  const ends: PromiseWithResolvers<PlanAnswer>[] = [];
  const plan: PlanSource = (options) => {
    asked.push(options);
    const end = Promise.withResolvers<PlanAnswer>();
    ends.push(end);
    return end.promise;
  };
  const clock = new VirtualClock();
  return { answers: new PlanAnswers({ clock, plan }), clock, asked, ends };
}

function request(query = "", signal?: AbortSignal): Request {
  return new Request(`http://127.0.0.1:8082/debug/plan${query}`, { signal });
}

async function errorOf(response: Response): Promise<string> {
  return `${response.status} ${(await response.json()).error}`;
}

test("[138] a second plan is refused with 409 until the first one has ended", async () => {
  const { answers, asked, ends } = heldPlan();
  const first = answers.respond(request("?limit=7"));
  assertMatch(await errorOf(await answers.respond(request())), /^409 Another plan is being computed/);
  ends[0]?.resolve(empty);
  const response = await first;
  assertEquals([response.status, (await response.json()).controllers], [200, ["foo"]]);
  const next = answers.respond(request());
  ends[1]?.reject(new Error("Cannot plan: this user may not list foos"));
  assertEquals(await errorOf(await next), "503 Cannot plan: this user may not list foos");
  assertEquals(asked.map(({ maxKeys }) => maxKeys), [7, 500]);
});

test("[138] a plan ends with the client that asked, and another one may begin when it has ended", async () => {
  const { answers, asked, ends } = heldPlan();
  const leaving = new AbortController();
  const first = answers.respond(request("", leaving.signal));
  leaving.abort();
  assertEquals(asked[0]?.signal.aborted, true);
  assertEquals((await answers.respond(request())).status, 409);
  ends[0]?.reject(new Error("ended"));
  assertEquals((await first).status, 503);
  const next = answers.respond(request());
  ends[1]?.resolve(empty);
  assertEquals((await next).status, 200);
});

test("[138] a plan that takes too long is ended", async () => {
  const { answers, asked, ends, clock } = heldPlan();
  const answer = answers.respond(request());
  await clock.advance(120_000);
  assertEquals(asked[0]?.signal.aborted, true);
  ends[0]?.reject(asked[0]?.signal.reason);
  assertStringIncludes(await errorOf(await answer), "503 Cannot plan: it took more than 120 s");
});

test("[138] a limit that is no number of keys is refused, and asks for no plan", async () => {
  const { answers, asked } = heldPlan();
  for (const limit of ["0", "5001", "1.5", "many"]) {
    assertEquals((await answers.respond(request(`?limit=${limit}`))).status, 400, limit);
  }
  assertEquals(asked, []);
});

test("[security 29] /debug/plan needs the token, and a process without plans says so", async () => {
  const { handler } = idleEndpoint();
  assertEquals((await get(handler, "/debug/plan", { authorization: "Bearer another" })).status, 401);
  assertEquals((await get(handler, "/debug/plan")).status, 501);
  assertEquals((await (await get(handler, "/debug/source")).json()).canPlan, false);
});
