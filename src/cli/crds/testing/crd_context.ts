/** A CrdContext for tests: a process that is none and a cluster that is a function. */
import type { Transport } from "../../../client/mod.ts";
import { connectionTo, websiteController } from "../../testing/test_kinds.ts";
import { type FakeTerminal, TestProcess } from "../../testing/test_process.ts";
import { Session } from "../../command/session.ts";
import type { CrdContext } from "../crd_context.ts";

/** Makes one, for version 1.2.3 of the program `controller`. */
export function createCrdContext(
  transport: Transport,
  terminal: FakeTerminal = {},
): { readonly work: CrdContext; readonly process: TestProcess } {
  const process = new TestProcess([], {}, terminal);
  const operator = { name: "controller", version: "1.2.3", controllers: [websiteController] };
  const session = new Session(operator, process);
  const { signal } = new AbortController();
  return { work: { connection: connectionTo(transport), session, signal }, process };
}

/** Lets the clock of `process` run until `promise` is settled. */
export async function settled<T>(promise: Promise<T>, process: TestProcess): Promise<T> {
  let isSettled = false;
  const settle = () => void (isSettled = true);
  promise.then(settle, settle);
  for (let step = 0; step < 5_000 && !isSettled; step++) await process.clock.advance(100);
  return await promise;
}
