/** awaitGone(): waits until definitions that are being deleted are gone, with all their objects, and says what holds them. */
/* MERGED crds/finalizers.ts
 * Objects that cannot go, because a finalizer holds them: those of our own controllers only they take off, so that a
 * definition that is deleted while none of them runs never goes.
 */
import { isNotFound } from "../../client/mod.ts";
import { CommandError } from "../command/mod.ts";
import { formatDuration } from "../flags/mod.ts";
import type { StoredCrd } from "../../schema/mod.ts";
import { count } from "../output/mod.ts";
import { commandFailure, type CrdContext, nameOf, readCrd, storedKindOf, storedObjects } from "./crd_context.ts";
import { keyOf, type KubeObject, resourceName } from "../../api/mod.ts";
import type { ControllerDefinition } from "../../controller/mod.ts";

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
  work: CrdContext,
): Promise<void> {
  const { timeoutMs, gone } = options;
  const { session, signal } = work;
  const { clock } = session.processEnvironment;
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
async function isGone(crd: StoredCrd, work: CrdContext): Promise<boolean> {
  const live = await readCrd(work, crd.metadata.name ?? "");
  return live === undefined || live.metadata.uid !== crd.metadata.uid;
}

/** Undefined when the kind cannot be listed, any more or by us: its end can be waited for all the same. */
async function left(crd: StoredCrd, work: CrdContext): Promise<Inventory | undefined> {
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
  return commandFailure(`Cannot see ${nameOf(crd)} gone: after ${formatDuration(timeoutMs)} ${state}`, advice);
}

/** How often a finalizer is on objects, and whose it is. */
interface FinalizerUse {
  readonly finalizer: string;
  /** The controller that takes it off; undefined when it is none of this program's. */
  readonly controller: string | undefined;
  readonly objects: number;
  /** The key of one of them. */
  readonly example: string;
}

/** What there is of a kind. */
export interface Inventory {
  readonly objects: number;
  readonly namespaces: number;
  /** Those that are being deleted. */
  readonly deleting: number;
  readonly finalizers: readonly FinalizerUse[];
}

/** Counts the objects of a kind, and what holds them. */
export async function inventoryOf(
  crd: StoredCrd,
  controllers: readonly ControllerDefinition[],
  work: CrdContext,
): Promise<Inventory> {
  const kind = storedKindOf(crd);
  const namespaces = new Set<string>();
  const uses = new Map<string, FinalizerUse>();
  let [objects, deleting] = [0, 0];
  if (kind === undefined) return { objects, namespaces: 0, deleting, finalizers: [] };
  using progress = work.session.progress();
  for await (const page of storedObjects(work, kind, { metadataOnly: true })) {
    for (const object of page) {
      const { namespace, deletionTimestamp } = object.metadata;
      if (namespace !== undefined) namespaces.add(namespace);
      if (deletionTimestamp !== undefined) deleting++;
      noteFinalizers(object, { crd, controllers, uses });
    }
    objects += page.length;
    progress.report(`counting ${resourceName(kind)}: ${count(objects, "object")}`);
  }
  return { objects, namespaces: namespaces.size, deleting, finalizers: [...uses.values()] };
}

/** `3 objects wait for the finalizer nodes.lailin.xyz/nodepool of the controller nodepool, e.g. blue`. */
export function finalizerText({ finalizer, controller, objects, example }: FinalizerUse): string {
  const whose = controller === undefined ? "" : ` of the controller ${controller}`;
  return `${count(objects, "object")} ${
    objects === 1 ? "has" : "have"
  } the finalizer ${finalizer}${whose}, e.g. ${example}`;
}

interface Notes {
  readonly crd: StoredCrd;
  readonly controllers: readonly ControllerDefinition[];
  readonly uses: Map<string, FinalizerUse>;
}

function noteFinalizers(object: KubeObject, { crd, controllers, uses }: Notes): void {
  for (const finalizer of object.metadata.finalizers ?? []) {
    const known = uses.get(finalizer);
    const controller = known === undefined ? ownerOf(finalizer, crd, controllers) : known.controller;
    const example = known?.example ?? keyOf(object);
    uses.set(finalizer, { finalizer, controller, objects: (known?.objects ?? 0) + 1, example });
  }
}

function ownerOf(
  finalizer: string,
  { spec: { group, names } }: StoredCrd,
  controllers: readonly ControllerDefinition[],
): string | undefined {
  return controllers.find(({ primary, finalizer: own }) =>
    own === finalizer && primary.group === group && primary.plural === names.plural
  )?.name;
}
