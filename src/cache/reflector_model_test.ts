/**
 * Model-based test of the reflector: random changes and faults of a server under a virtual clock. A failure prints
 * fast-check's seed and the shrunk sequence.
 *
 * Invariants: after the faults the cache equals the server; the notifications of a handler, replayed, give the same
 * state; no full state was requested without a reason; no timer and no watch remains.
 */
import fc from "fast-check";
import { assert, assertEquals, test } from "../../tests/testing.ts";
import { FakeApi, FakeApiError, type Thing, tooLarge } from "../../tests/fakes/list_watch.ts";
import { keyOf, type WatchEvent } from "../api/mod.ts";
import { seededRandom, VirtualClock } from "../async/mod.ts";
import { recorder } from "./testing/test_environment.ts";
import { Informer } from "./mod.ts";

const runs = 2_000;
const name = fc.constantFrom("a", "b", "c", "d");
const value = fc.nat({ max: 3 });

type Step =
  | { readonly kind: "put" | "delete"; readonly name: string; readonly value: number }
  | { readonly kind: "elsewhere" | "bookmark" | "compact" | "end" | "reset" | "poison" }
  | { readonly kind: "refuse"; readonly what: "list" | "watch"; readonly error: keyof typeof refusals }
  | { readonly kind: "error"; readonly code: 410 | 429 | 500 | 503 }
  | { readonly kind: "advance"; readonly ms: number };

const refusals = {
  expired: () => new FakeApiError(410, "Expired"),
  future: () => tooLarge(),
  throttled: () => new FakeApiError(429, "TooManyRequests", { retryAfterMs: 1_000 }),
  forbidden: () => new FakeApiError(403, "Forbidden"),
  unauthorized: () => new FakeApiError(401, "Unauthorized"),
  internal: () => new FakeApiError(500, "InternalError"),
  unavailable: () => new FakeApiError(503, "ServiceUnavailable"),
  unsupported: () => new FakeApiError(422, "Invalid"),
  missing: () => new FakeApiError(404, "NotFound"),
  refused: () => new TypeError("connection refused"),
};

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constantFrom("put" as const, "delete" as const), name, value }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom("elsewhere", "bookmark", "compact", "end", "reset", "poison" as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("refuse" as const),
      what: fc.constantFrom("list" as const, "watch" as const),
      error: fc.constantFrom(
        ...Object.keys(refusals).filter((key): key is keyof typeof refusals => Object.hasOwn(refusals, key)),
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("error" as const),
      code: fc.constantFrom(410 as const, 429 as const, 500 as const, 503 as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("advance" as const), ms: fc.constantFrom(0, 500, 3_000, 70_000) }),
  },
);

/** Applies a step to the server. @returns true when it is a fault that may cost a full state */
async function run(step: Step, api: FakeApi, clock: VirtualClock): Promise<boolean> {
  switch (step.kind) {
    case "put":
      api.put(step.name, { value: step.value });
      return false;
    case "delete":
      api.delete(step.name);
      return false;
    case "elsewhere":
      api.changeElsewhere();
      return false;
    case "bookmark":
      api.bookmark();
      return false;
    case "compact":
      api.compact();
      return true;
    case "end":
      api.endWatches();
      return false;
    case "reset":
      api.endWatches(new TypeError("connection reset"));
      return false;
    case "poison": {
      const line: WatchEvent<Thing> = {
        type: "MALFORMED",
        line: `{"name":"a","namespace":"default"`,
        cause: undefined,
      };
      api.send([line]);
      return false;
    }
    case "refuse":
      api.failNext(step.what, refusals[step.error]());
      return step.what === "list" ||
        !["throttled", "forbidden", "unauthorized", "unavailable", "refused"].includes(step.error);
    case "error":
      api.send([{ type: "ERROR", object: { code: step.code, reason: "" } }]);
      return step.code !== 429;
    case "advance":
      await clock.advance(step.ms);
      return false;
    default:
      return step satisfies never;
  }
}

/** The state that follows from the notifications; fails where one contradicts the previous ones. */
function replayed(received: readonly string[]): string[] {
  const state = new Map<string, string>();
  for (const line of received) {
    const [what = "", key = "", value = ""] = line.split(" ");
    assertEquals(state.has(key), what !== "+", line);
    if (what === "~") assertEquals(state.get(key), value.split(">")[0], line);
    if (what.startsWith("-")) state.delete(key);
    else state.set(key, value.split(">").at(-1) ?? "");
  }
  return [...state].map(([key, value]) => `${key} ${value}`).sort();
}

test(`[2][5][7][14][15][16][17][20][31] after the faults the cache equals the server, in ${runs} random sequences`, async () => {
  let steps = 0, waits = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 30, size: "max" }),
      fc.boolean(),
      fc.nat(),
      async (sequence, watchList, seed) => {
        const clock = new VirtualClock();
        const api = new FakeApi({ clock });
        const received: string[] = [];
        const informer = new Informer<Thing>({
          name: "things",
          listWatch: api,
          clock,
          random: seededRandom(seed),
          watchList,
          freeze: true,
        });
        informer.addHandler(recorder(received));
        const stop = new AbortController();
        const running = informer.run(stop.signal);
        let reasons = 1;
        for (const one of sequence) {
          if (await run(one, api, clock)) reasons++;
          const { reflector } = informer.status();
          if (reflector.kind === "waiting") waits++;
          steps++;
        }
        // A failed request costs a wait of at most a minute; two of them a relist.
        for (let minute = 0; minute < 40; minute++) {
          const { reflector } = informer.status();
          if (minute > 0 && reflector.kind === "watching") break;
          await clock.advance(61_000);
        }
        const served = [...api.objects()].map(([key, thing]) => `${key} ${thing.spec?.value}`).sort();
        assertEquals(
          [...informer.store.values()].map((thing) => `${keyOf(thing)} ${thing.spec?.value}`).sort(),
          served,
        );
        assertEquals(replayed(received), served);
        const full = api.lists().length + api.watches().filter((watch) => watch.sendInitialEvents).length;
        const retries =
          sequence.filter((one) =>
            one.kind === "refuse" || one.kind === "end" || one.kind === "reset" || one.kind === "poison"
          ).length;
        assert(full <= 2 * reasons + retries, `${full} full states for ${reasons} reasons and ${retries} retries`);
        stop.abort();
        await running;
        assertEquals([clock.pendingTimers, api.openWatches], [0, 0]);
      },
    ),
    { seed: 2026, numRuns: runs },
  );
  assert(steps > 5 * runs && waits > runs, `only ${steps} steps and ${waits} waits`);
});
