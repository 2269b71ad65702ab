/**
 * Waits for sockets, files and cryptography by letting the event loop turn: no sleeping, no deadline in
 * milliseconds. A VirtualClock does not move meanwhile.
 */
import { setImmediate } from "node:timers/promises";
import { drain } from "../src/async/mod.ts";

/** Turns of the event loop after which a wait fails: many, since on a busy machine other threads get few turns of their own. */
const patience = 1_000_000;

/** Waits until `condition` holds. @param what of the error: "the second answer" */
export async function until(condition: () => boolean, what: string): Promise<void> {
  for (let turn = 0; turn < patience; turn++) {
    if (condition()) return;
    await drain();
    await setImmediate(); // on Deno connections get no turn between two messages of a MessageChannel
  }
  throw new Error(`Cannot go on: ${what} did not happen`);
}
