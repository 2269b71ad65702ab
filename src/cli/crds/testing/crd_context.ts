/** A CrdContext for tests: a test process, and a cluster that a Transport simulates. */
import type { Transport } from "../../../client/mod.ts";
import { connectionTo, websiteController } from "../../testing/test_kinds.ts";
import { TestProcess, type TestTerminal } from "../../testing/test_process.ts";
import { Session } from "../../command/session.ts";
import type { CrdContext } from "../crd_context.ts";

/** Creates one for version 1.2.3 of the program `controller`. */
export function createCrdContext(
  transport: Transport,
  terminal: TestTerminal = {},
): { readonly context: CrdContext; readonly process: TestProcess } {
  const process = new TestProcess([], {}, terminal);
  const operator = { name: "controller", version: "1.2.3", controllers: [websiteController] };
  const session = new Session(operator, process);
  const { signal } = new AbortController();
  return { context: { connection: connectionTo(transport), session, signal }, process };
}

/** Advances the clock of `process` until `promise` is settled. */
export async function settled<T>(promise: Promise<T>, process: TestProcess): Promise<T> {
  let isSettled = false;
  const settle = () => void (isSettled = true);
  promise.then(settle, settle);
  while (!isSettled) await process.clock.advance(100);
  return await promise;
}
