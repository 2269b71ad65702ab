import { assertEquals, test } from "../../../tests/testing.ts";
import { VirtualClock } from "../../async/mod.ts";
import { Client } from "../../client/mod.ts";
import type { ServeHandler } from "../../runtime/mod.ts";
import { accessReview } from "./access_review.ts";

const connection = { remoteAddress: "10.1.2.3", isTls: true };

interface ReviewedHandler {
  readonly clock: VirtualClock;
  /** Plural and spec of each review that reached the API server. */
  readonly reviews: (readonly [string, Readonly<Record<string, unknown>>])[];
  readonly state: { users: Map<string, unknown>; allowed: boolean; isDown: boolean };
  get(token?: string, scheme?: string): Promise<number>;
}

function createHandler(): ReviewedHandler {
  const clock = new VirtualClock();
  const reviews: [string, Record<string, unknown>][] = [];
  const prometheus = {
    username: "prometheus",
    uid: "1",
    groups: ["monitoring"],
    extra: { "example.dev/scopes": ["read"] },
  };
  const state = { users: new Map<string, unknown>([["good", prometheus]]), allowed: true, isDown: false };
  const client = new Client(async (request) => {
    const { spec } = await request.json();
    const plural = new URL(request.url).pathname.split("/").at(-1) ?? "";
    reviews.push([plural, spec]);
    if (state.isDown) return new Response("down", { status: 500 });
    if (plural === "subjectaccessreviews") {
      return Response.json({ status: { allowed: state.allowed } }, { status: 201 });
    }
    const user = state.users.get(spec.token);
    return Response.json({ status: user === undefined ? {} : { authenticated: true, user } }, { status: 201 });
  });
  const inner: ServeHandler = () => new Response("metrics");
  const handler = accessReview(inner, { client, clock });
  const get = async (token?: string, scheme = "Bearer") => {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `${scheme} ${token}` };
    return (await handler(new Request("https://localhost/metrics", { headers }), connection)).status;
  };
  return { clock, reviews, state, get };
}

test("[security 11] an authenticated and authorized client passes, after one review of each kind", async () => {
  const { reviews, get } = createHandler();
  assertEquals(await get("good"), 200);
  assertEquals(reviews[0], ["tokenreviews", { token: "good" }]);
  assertEquals(reviews[1]?.[1], {
    user: "prometheus",
    uid: "1",
    groups: ["monitoring"],
    extra: { "example.dev/scopes": ["read"] },
    nonResourceAttributes: { path: "/metrics", verb: "get" },
  });
});

test("[security 11] without a token, with an unknown token or as an anonymous user, the response is 401", async () => {
  const { state, reviews, get } = createHandler();
  assertEquals(await get(), 401);
  assertEquals(await get("good", "Basic"), 401);
  assertEquals(await get("two words"), 401);
  assertEquals(await get("x".repeat(20_000)), 401);
  assertEquals(reviews.length, 0);
  assertEquals(await get("bad"), 401);
  state.users.set("anonymous", { username: "system:anonymous", groups: ["system:unauthenticated"] });
  assertEquals(await get("anonymous"), 401);
  assertEquals(reviews.every(([plural]) => plural === "tokenreviews"), true);
});

test("[security 11] an unauthorized client gets 403, and a client that cannot be reviewed gets 500", async () => {
  const { state, get } = createHandler();
  state.allowed = false;
  assertEquals(await get("good"), 403);
  const broken = createHandler();
  broken.state.isDown = true;
  assertEquals(await broken.get("good"), 500);
  broken.state.isDown = false;
  assertEquals(await broken.get("good"), 200);
});

test("[security 11] a token is cached for a minute, an allowing review for five minutes, a denying one for half a minute", async () => {
  const { clock, state, reviews, get } = createHandler();
  const takeReviews = () => reviews.splice(0).map(([plural]) => plural);
  await Promise.all([get("good"), get("good"), get("good")]);
  assertEquals(takeReviews(), ["tokenreviews", "subjectaccessreviews"]);
  await clock.advance(59_999);
  await get("good");
  assertEquals(takeReviews(), []);
  await clock.advance(1);
  await get("good");
  assertEquals(takeReviews(), ["tokenreviews"]);
  state.allowed = false;
  await clock.advance(239_999);
  assertEquals(await get("good"), 200);
  await clock.advance(1);
  assertEquals(await get("good"), 403);
  takeReviews();
  state.allowed = true;
  await clock.advance(29_999);
  assertEquals([await get("good"), takeReviews()], [403, []]);
  await clock.advance(1);
  assertEquals([await get("good"), takeReviews()], [200, ["subjectaccessreviews"]]);
});
