/** A CrdWork for tests: a process that is none and a cluster that is a function. */
import type { Transport } from "../../client/mod.ts";
import { connectionTo, websiteController } from "../fake_kinds_testing.ts";
import { FakeProcess, type FakeTerminal } from "../fake_process_testing.ts";
import { Session } from "../session.ts";
import type { CrdWork } from "./crd_work.ts";

/** Makes one, for version 1.2.3 of the program `controller`. */
export function crdWork(
  transport: Transport,
  terminal: FakeTerminal = {},
): { readonly work: CrdWork; readonly process: FakeProcess } {
  const process = new FakeProcess([], {}, terminal);
  const operator = { name: "controller", version: "1.2.3", controllers: [websiteController] };
  const session = new Session(operator, process);
  const { signal } = new AbortController();
  return { work: { connection: connectionTo(transport), session, signal }, process };
}

/** Lets the clock of `process` run until `promise` is settled. */
export async function settled<T>(promise: Promise<T>, process: FakeProcess): Promise<T> {
  let isSettled = false;
  const settle = () => void (isSettled = true);
  promise.then(settle, settle);
  for (let step = 0; step < 5_000 && !isSettled; step++) await process.clock.advance(100);
  return await promise;
}
