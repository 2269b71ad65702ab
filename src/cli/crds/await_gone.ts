/** awaitGone(): waits until definitions that are being deleted are gone, with all their objects, and says what holds them. */
import { isNotFound } from "../../client/mod.ts";
import { CommandError } from "../command_error.ts";
import { formatDuration } from "../duration.ts";
import type { StoredCrd } from "../../schema/mod.ts";
import { count, type CrdWork, failedCommand, nameOf, readCrd } from "./crd_work.ts";
import { finalizerText, type Inventory, inventoryOf } from "./finalizers.ts";

const pollMs = 500;
/** Looks until the objects that are left are counted again. */
const looksPerCount = 4;

/**
 * Waits for the end of all of `crds`.
 *
 * @param options `timeoutMs` is for all of them together; `gone` is told of each.
 * @throws CommandError when the time is up; it says what holds which objects
 */
export async function awaitGone(
  crds: readonly StoredCrd[],
  options: { readonly timeoutMs: number; readonly gone?: (crd: StoredCrd) => void },
  work: CrdWork,
): Promise<void> {
  const { timeoutMs, gone } = options;
  const { session, signal } = work;
  const { clock } = session.surroundings;
  const deadline = clock.monotonic() + timeoutMs;
  using progress = session.progress();
  for (const [index, crd] of crds.entries()) {
    let inventory: Inventory | undefined;
    for (let look = 0; !(await isGone(crd, work)); look++) {
      const isLate = clock.monotonic() >= deadline;
      if (isLate || look % looksPerCount === 0) inventory = await left(crd, work);
      const state = stateOf(inventory);
      if (isLate) throw tooLate(crd, state, timeoutMs, inventory);
      progress.report(`waiting until ${nameOf(crd)} is gone (${index + 1} of ${crds.length}): ${state}`);
      await clock.sleep(pollMs, signal);
    }
    gone?.(crd);
  }
}

/** One that somebody made anew is not the one that was waited for. */
async function isGone(crd: StoredCrd, work: CrdWork): Promise<boolean> {
  const live = await readCrd(work, crd.metadata.name ?? "");
  return live === undefined || live.metadata.uid !== crd.metadata.uid;
}

/** Undefined when the kind cannot be listed, any more or by us: its end can be waited for all the same. */
async function left(crd: StoredCrd, work: CrdWork): Promise<Inventory | undefined> {
  try {
    return await inventoryOf(crd, work.session.operator.controllers, work);
  } catch (error) {
    if (isNotFound(error) || error instanceof CommandError) return undefined;
    throw error;
  }
}

function stateOf(inventory: Inventory | undefined): string {
  if (inventory === undefined || inventory.objects === 0) return "the server is cleaning up";
  const held = inventory.finalizers.map(finalizerText);
  return [`${count(inventory.objects, "object")} left`, ...held].join(", ");
}

function tooLate(crd: StoredCrd, state: string, timeoutMs: number, inventory: Inventory | undefined): Error {
  const ours = inventory?.finalizers.find(({ controller }) => controller !== undefined)?.controller;
  const advice = ours === undefined
    ? "Let who put the finalizers there take them off, or wait longer with --timeout"
    : `Run the controller ${ours} until they are gone, or wait longer with --timeout`;
  return failedCommand(`Cannot see ${nameOf(crd)} gone: after ${formatDuration(timeoutMs)} ${state}`, advice);
}
