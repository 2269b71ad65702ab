/** Tests that need a machine for kind. Where there can be none they are skipped, by name and with the reason. */
import { test } from "../testing.ts";
import { type MachineParts, machineParts } from "./machine.ts";

const outcome = await machineParts();

/** Registers a test that gets what a machine is made of. */
export function kindTest(name: string, fn: (parts: MachineParts) => Promise<void>): void {
  if (outcome.kind === "unavailable") return test.skip(name, outcome.reason);
  const { parts } = outcome;
  test(name, () => fn(parts));
}
