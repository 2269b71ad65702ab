/** Tests of what `run` does while it cannot begin: at a terminal, and in a Pod. */
import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { seededRandom, VirtualClock } from "../../async/mod.ts";
import type { Transport } from "../../client/mod.ts";
import { MetricsRegistry } from "../../observe/mod.ts";
import { CommandError, exitCode } from "../command/mod.ts";
import { FakeServer, statusResponse } from "../testing/fake_server.ts";
import { connectionTo, emptyList, podController } from "../testing/test_kinds.ts";
import { awaitRunnable } from "./await_runnable.ts";

/** How long it may take, and how it ended. */
interface Ending {
  readonly afterMs: number;
  readonly error: unknown;
}

/** Runs it until it ends, at most for two hours. */
async function endOf(
  transport: (clock: VirtualClock) => Transport,
  options: { readonly isInCluster: boolean; readonly once?: boolean; readonly connectTimeout?: number },
): Promise<Ending | undefined> {
  const { isInCluster, once = false, connectTimeout } = options;
  const clock = new VirtualClock();
  const session = {
    processEnvironment: { clock, random: seededRandom(1) },
    metrics: new MetricsRegistry(),
    operator: { name: "op", controllers: [podController] },
  };
  // Only the parts of a plan that it reads.
  const plan = { controllers: [podController], namespaces: [], flags: { once, connectTimeout }, session };
  const stop = new AbortController();
  const startedAt = clock.monotonic();
  const connection = { ...connectionTo(transport(clock)), isInCluster };
  let ending: Ending | undefined;
  const running = Reflect.apply(awaitRunnable, undefined, [connection, plan, stop.signal]) as Promise<void>;
  const end = (error?: unknown) => ending ??= { afterMs: clock.monotonic() - startedAt, error };
  const ended = running.then(() => end(), end);
  for (let step = 0; step < 720 && ending === undefined; step++) await clock.advance(10_000);
  stop.abort();
  await ended;
  return ending?.error === stop.signal.reason ? undefined : ending;
}

const refuse: Transport = () => Promise.reject(Object.assign(new Error("refused"), { code: "ECONNREFUSED" }));

/** A server that is away for some time, and then answers with `starting` for a while. */
function awayFor(ms: number, startingMs = 0, starting = () => statusResponse(403, "Forbidden", "not yet ready")) {
  return (clock: VirtualClock): Transport => {
    const server = new FakeServer({ "GET /api/v1/pods": emptyList });
    const returnsAt = clock.monotonic() + ms;
    return (request) => {
      const now = clock.monotonic();
      if (now < returnsAt) return refuse(request);
      return now < returnsAt + startingMs ? Promise.resolve(starting()) : server.transport(request);
    };
  };
}

test("[84, 114] in a Pod, run waits for a server without limit and goes on within 5 s of its return", async () => {
  for (const outageMs of [40_000, 3_600_000]) {
    const ending = await endOf(awayFor(outageMs), { isInCluster: true });
    assertEquals(ending?.error, undefined);
    assert(ending !== undefined && ending.afterMs <= outageMs + 10_000, `${ending?.afterMs}`);
  }
});

test("[114] in a Pod, refusals of a server that is starting are not the end, permanent ones are after 15 s", async () => {
  const starting = await endOf(awayFor(5_000, 10_000), { isInCluster: true });
  assertEquals(starting?.error, undefined);
  const forbidden = await endOf(awayFor(0, Infinity), { isInCluster: true });
  assert(forbidden?.error instanceof CommandError && forbidden.error.code === exitCode.permission);
  assert(forbidden.afterMs >= 15_000 && forbidden.afterMs <= 30_000, `${forbidden.afterMs}`);
});

test("[84, 114] at a terminal, with --once and with --connect-timeout, the wait has a limit", async () => {
  const cases = [
    [{ isInCluster: false }, 30_000],
    [{ isInCluster: true, once: true }, 30_000],
    [{ isInCluster: true, connectTimeout: 5_000 }, 5_000],
  ] as const;
  for (const [options, limitMs] of cases) {
    const ending = await endOf(() => refuse, options);
    assert(ending?.error instanceof CommandError && ending.error.code === exitCode.unreachable);
    assert(ending.afterMs <= limitMs + 10_000, `${ending.afterMs}`);
  }
});
