/** Tests of the process itself: signals, environment, facts. */
import process from "node:process";
import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { spawn } from "./child_process.ts";
import { environment, homeDirectory, onSignal, processFacts } from "./process.ts";

test("onSignal() calls back for its signals until it is disposed", async () => {
  // On Deno a listener does not keep the process alive until the signal arrives.
  const alive = setInterval(() => {}, 60_000);
  using _alive = { [Symbol.dispose]: () => clearInterval(alive) };
  const seen: string[] = [];
  let onHeard: () => void = () => {};
  const subscription = onSignal(["SIGHUP", "SIGUSR2"], (signal) => {
    seen.push(signal);
    onHeard();
  });
  // Otherwise the signal ends the process after the first subscription.
  using _guard = onSignal(["SIGUSR2"], () => onHeard());
  for (const signal of ["HUP", "USR2"]) {
    const once = new Promise<void>((resolve) => onHeard = resolve);
    await spawn(["/bin/kill", `-${signal}`, String(process.pid)]);
    await once;
  }
  assertEquals(seen, ["SIGHUP", "SIGUSR2"]);
  subscription[Symbol.dispose]();
  const once = new Promise<void>((resolve) => onHeard = resolve);
  await spawn(["/bin/kill", "-USR2", String(process.pid)]);
  await once;
  assertEquals(seen.length, 2);
});

test("environment() returns a copy without a prototype", () => {
  const copy = environment();
  assertEquals(copy.PATH, process.env.PATH);
  assertEquals(Object.getPrototypeOf(copy), null);
});

test("homeDirectory() returns $HOME, or the folder of the system without it", () => {
  assertEquals(homeDirectory({ HOME: "/home/jane" }), "/home/jane");
  assert(homeDirectory({}) !== "");
});

test("processFacts() returns the facts of the system", () => {
  const { pid, os, arch, hostname } = processFacts();
  assertEquals(pid, process.pid);
  assert(/^(linux|darwin|windows)$/.test(os) && /^(amd64|arm64)$/.test(arch) && hostname !== "");
});
