/** Tests that a seed determines a run, on every runtime. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { digestOf, faultKinds, recordSchedule, runSchedule, stormsOf, timelineOf } from "../../src/simulation/mod.ts";
import { assert, assertEquals, assertNotEquals, test } from "../testing.ts";
import { findWorkload } from "./_controllers.ts";
import { digests, schedules } from "./_digest.ts";

test("equal seeds give equal recordings, different seeds give different ones", async () => {
  const { controller, workload } = findWorkload("foo", "delete and create again");
  const options = { controllers: [controller], workload };
  const [first, second, other] = [
    await recordSchedule({ ...options, seed: 7 }),
    await recordSchedule({ ...options, seed: 7 }),
    await recordSchedule({ ...options, seed: 8 }),
  ];
  assertEquals(first.entries, second.entries);
  assertEquals(timelineOf(first.entries), timelineOf(second.entries));
  assertEquals(digestOf(first.entries), digestOf(second.entries));
  assertNotEquals(digestOf(first.entries), digestOf(other.entries));
});

test("[137] a run that is recorded is the same run as one that is not", async () => {
  for (const [name, workloadName, replicas] of schedules) {
    const { controller, workload } = findWorkload(name, workloadName);
    const options = { controllers: [controller], workload, replicas };
    const { points, stepRevisions } = await runSchedule(options);
    const storm = stormsOf({ points, stepRevisions, replicas }, new Set(faultKinds));
    for (const seed of [1, 2, 3, 4]) {
      const how = { ...options, plan: storm(seed), seed };
      const { entries, ...recorded } = await recordSchedule(how);
      assert(entries.length > 0);
      assertEquals(await runSchedule(how), recorded, `${name} ${seed}`);
    }
  }
});

test("a schedule has the same recording on Deno and on Bun", async () => {
  const bun = new URL("../../tasks/bun.sh", import.meta.url).pathname;
  const other = "Bun" in globalThis ? ["deno", "run", "-A", "--no-check"] : ["sh", bun, "run"];
  const [command = "", ...args] = [...other, new URL("_digest.ts", import.meta.url).pathname];
  const { stdout } = await promisify(execFile)(command, args);
  assertEquals(stdout.trim().split("\n"), await digests() as string[]);
});

test("a schedule uses no clock, timer, random numbers or socket of the machine", async () => {
  const { controller, workload } = findWorkload("foo", "scale");
  await runSchedule({ controllers: [controller], workload }); // loads all modules
  const used: string[] = [];
  using _recording = recordCalls(used);
  const plan = { faults: [{ kind: "partition", write: 2, forMs: 20_000 }] } as const;
  const { entries } = await recordSchedule({ controllers: [controller], workload, plan });
  assertEquals(used, []);
  assert(entries.some((entry) => entry.kind === "note" && entry.detail === "unreachable"));
});

/** Records the calls of functions that a schedule must not call. */
function recordCalls(used: string[]): Disposable {
  const undo = [
    recordCallsOf(globalThis, "setTimeout", used),
    recordCallsOf(globalThis, "setInterval", used),
    recordCallsOf(globalThis, "fetch", used),
    recordCallsOf(Date, "now", used),
    recordCallsOf(Math, "random", used),
    recordCallsOf(performance, "now", used),
  ];
  return { [Symbol.dispose]: () => undo.forEach((one) => one()) };
}

function recordCallsOf(home: object, name: string, used: string[]): () => void {
  const original = Object.getOwnPropertyDescriptor(home, name) ??
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(home), name);
  const real: unknown = Reflect.get(home, name);
  const replacement = function (this: unknown, ...args: unknown[]): unknown {
    used.push(name);
    return typeof real === "function" ? Reflect.apply(real, home, args) : undefined;
  };
  Object.defineProperty(home, name, { value: replacement, configurable: true, writable: true });
  return () => {
    if (original !== undefined) Object.defineProperty(home, name, original);
  };
}
