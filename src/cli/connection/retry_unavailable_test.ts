import { assertEquals, assertRejects, test } from "../../../tests/testing.ts";
import { drain, seededRandom, VirtualClock } from "../../async/mod.ts";
import { Client } from "../../client/mod.ts";
import { retryUnavailable } from "./retry_unavailable.ts";

/** A client of a server that is away or overloaded for some requests. */
function clientOf(
  clock: VirtualClock,
  ...responses: readonly (number | "away")[]
): { readonly client: Client; readonly left: unknown[] } {
  const left = [...responses];
  const client = new Client(() => {
    const next = left.shift() ?? 200;
    if (next === "away") return Promise.reject(new TypeError("connection refused"));
    const body = { kind: "Status", apiVersion: "v1", status: "Failure", code: next, message: `it is ${next}` };
    return Promise.resolve(Response.json(next === 200 ? { answer: 42 } : body, { status: next }));
  }, { clock });
  return { client, left };
}

test("[12] work is repeated until a server that is away or overloaded responds", async () => {
  const clock = new VirtualClock();
  const { client, left } = clientOf(clock, "away", 503, 500, 429);
  const options = { clock, random: seededRandom(1), signal: new AbortController().signal };
  const work = retryUnavailable("ask", () => client.raw("/answer"), options);
  await clock.advance(60_000);
  assertEquals([await work, left], ['{"answer":42}', []]);
});

test("[12] an error that a repetition would not change is thrown, and a stop ends the wait", async () => {
  const clock = new VirtualClock();
  const stop = new AbortController();
  const options = { clock, random: seededRandom(1), signal: stop.signal };
  const forbidden = clientOf(clock, 403).client;
  await assertRejects(() => retryUnavailable("ask", () => forbidden.raw("/answer"), options), /it is 403/);
  const { client } = clientOf(clock, "away", "away");
  const stopped = assertRejects(() => retryUnavailable("ask", () => client.raw("/answer"), options), /stopped/);
  await drain();
  stop.abort(new Error("stopped"));
  await stopped;
});
