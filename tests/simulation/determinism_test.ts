/** Tests that a seed determines a run, on every runtime. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { runSchedule } from "../../src/simulation/mod.ts";
import { assert, assertEquals, assertNotEquals, test } from "../testing.ts";
import { findWorkload } from "./_controllers.ts";
import { digests } from "./_digest.ts";

test("equal seeds give equal traces, different seeds give different ones", async () => {
  const { controller, workload } = findWorkload("foo", "delete and create again");
  const options = { controllers: [controller], workload };
  const [first, second, other] = [
    await runSchedule({ ...options, seed: 7 }),
    await runSchedule({ ...options, seed: 7 }),
    await runSchedule({ ...options, seed: 8 }),
  ];
  assertEquals(first.trace.timeline(), second.trace.timeline());
  assertEquals(first.trace.digest(), second.trace.digest());
  assertNotEquals(first.trace.digest(), other.trace.digest());
});

test("a schedule has the same trace on Deno and on Bun", async () => {
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
  const { trace } = await runSchedule({ controllers: [controller], workload, plan });
  assertEquals(used, []);
  assert(trace.entries.some(({ detail }) => detail === "unreachable"));
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
