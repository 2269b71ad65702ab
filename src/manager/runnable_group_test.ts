import { assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { type Life, type Runnable, RunnableGroup } from "./runnable_group.ts";

/** A Runnable that ends at the stop, and records its calls. */
function part(name: string, trace: string[], end: (life: Life) => Promise<void> = stopped): Runnable {
  return {
    name,
    prepare: () => {
      trace.push(`prepare ${name}`);
      return Promise.resolve();
    },
    run: async (life) => {
      trace.push(`run ${name}`);
      await end(life);
      trace.push(`end ${name}`);
    },
  };
}

function stopped({ stop }: Life): Promise<void> {
  return new Promise((resolve) => stop.addEventListener("abort", () => resolve(), { once: true }));
}

function group(onFailure: (error: Error) => void = () => {}) {
  const kill = new AbortController();
  return { kill, group: new RunnableGroup({ name: "others", kill: kill.signal, onFailure }) };
}

test("[58] members start in order, each prepared before it runs", async () => {
  const trace: string[] = [];
  const { group: others } = group();
  await others.add(part("a", trace));
  await others.add(part("b", trace));
  assertEquals(trace, []);
  await others.start();
  assertEquals(trace, ["prepare a", "run a", "prepare b", "run b"]);
  await others.stop();
});

test("[58] a Runnable added after the start is started immediately", async () => {
  const trace: string[] = [];
  const { group: others } = group();
  await others.start();
  await others.add(part("late", trace));
  assertEquals(trace, ["prepare late", "run late"]);
  await others.stop();
});

test("[58] add() rejects a member that was already added, and any member during the stop", async () => {
  const { group: others } = group();
  const member = part("a", []);
  await others.add(member);
  await assertRejects(() => others.add(member), /Cannot add "a": it was already added/);
  await others.start();
  await others.stop();
  await assertRejects(() => others.add(part("b", [])), /Cannot add "b": others is stopping/);
});

test("[59] a failure is reported when it happens, and again at the stop together with those of the stop", async () => {
  const failures: string[] = [];
  const { group: others } = group((error) => failures.push(error.message));
  await others.add(part("bad", [], () => Promise.reject(new Error("no luck"))));
  await others.add(part("late", [], async (life) => {
    await stopped(life);
    throw new Error("no luck at the end");
  }));
  await others.start();
  await Promise.resolve();
  const errors = await others.stop();
  assertEquals(failures, ["Cannot run bad: no luck"]);
  assertEquals(errors.map((error) => error.message), [
    "Cannot run bad: no luck",
    "Cannot run late: no luck at the end",
  ]);
});

test("[60] a Runnable that rejects because of the kill has not failed", async () => {
  const { group: others, kill } = group();
  await others.add(
    part("stuck", [], ({ kill }) => new Promise((_, reject) => kill.onabort = () => reject(kill.reason))),
  );
  await others.start();
  const stopping = others.stop();
  kill.abort();
  assertEquals(await stopping, []);
});

test("[62] all members have ended when stop() returns, also those added after the start", async () => {
  const trace: string[] = [];
  const { group: others } = group();
  await others.add(part("a", trace));
  await others.start();
  await others.add(part("b", trace));
  await others.stop();
  assertEquals(trace.filter((line) => line.startsWith("end")), ["end a", "end b"]);
});
