/**
 * awaitGone(): waits until definitions that are being deleted are gone, together with all their objects, and reports what
 * blocks the deletion: the finalizers of the objects.
 *
 * A controller removes its finalizers only while it runs: a definition that is deleted while its controller is stopped
 * stays until the controller runs again.
 */
import { isNotFound } from "../../client/mod.ts";
import { CommandError } from "../command/mod.ts";
import { formatDuration } from "../flags/mod.ts";
import type { StoredCrd } from "../../schema/mod.ts";
import { count } from "../output/mod.ts";
import {
  commandFailure,
  type CrdContext,
  definitionName,
  readCrd,
  storedKindOf,
  storedObjects,
} from "./crd_context.ts";
import { keyOf, type KubeObject, resourceName } from "../../api/mod.ts";
import type { ControllerDefinition } from "../../controller/mod.ts";

const pollMs = 500;
/** The remaining objects are counted in every fourth poll. */
const pollsPerCount = 4;

/**
 * Waits until all of `crds` are gone.
 *
 * @param options `timeoutMs` is for all of them together; `onGone` is called for each.
 * @throws CommandError after the timeout; its message names the remaining objects and their finalizers
 */
export async function awaitGone(
  crds: readonly StoredCrd[],
  options: { readonly timeoutMs: number; readonly onGone?: (crd: StoredCrd) => void },
  context: CrdContext,
): Promise<void> {
  const { timeoutMs, onGone } = options;
  const { session, signal } = context;
  const { clock } = session.processEnvironment;
  const deadline = clock.monotonic() + timeoutMs;
  using progress = session.progress();
  for (const [index, crd] of crds.entries()) {
    let inventory: Inventory | undefined;
    for (let poll = 0; !(await isGone(crd, context)); poll++) {
      const isLate = clock.monotonic() >= deadline;
      if (isLate || poll % pollsPerCount === 0) inventory = await remainingObjects(crd, context);
      const state = stateOf(inventory);
      if (isLate) throw timeoutError(crd, state, timeoutMs, inventory);
      progress.report(`waiting until ${definitionName(crd)} is gone (${index + 1} of ${crds.length}): ${state}`);
      await clock.sleep(pollMs, signal);
    }
    onGone?.(crd);
  }
}

/** A definition with another UID is a new one of the same name. */
async function isGone(crd: StoredCrd, context: CrdContext): Promise<boolean> {
  const live = await readCrd(context, crd.metadata.name ?? "");
  return live === undefined || live.metadata.uid !== crd.metadata.uid;
}

/** Returns undefined when the kind can no longer be listed, or not by this user: the wait goes on without a count. */
async function remainingObjects(crd: StoredCrd, context: CrdContext): Promise<Inventory | undefined> {
  try {
    return await inventoryOf(crd, context.session.operator.controllers, context);
  } catch (error) {
    if (isNotFound(error) || error instanceof CommandError) return undefined;
    throw error;
  }
}

function stateOf(inventory: Inventory | undefined): string {
  if (inventory === undefined || inventory.objects === 0) return "the server is cleaning up";
  return leftText(inventory);
}

/** `3 objects left, 2 objects have the finalizer …`. */
export function leftText({ objects, finalizers }: Inventory): string {
  return [`${count(objects, "object")} left`, ...finalizers.map(finalizerText)].join(", ");
}

/** The controller of this program that removes one of the finalizers, if there is one. */
export function finalizingController(inventory: Inventory | undefined): string | undefined {
  return inventory?.finalizers.find(({ controller }) => controller !== undefined)?.controller;
}

function timeoutError(crd: StoredCrd, state: string, timeoutMs: number, inventory: Inventory | undefined): Error {
  const ours = finalizingController(inventory);
  const advice = ours === undefined
    ? "Let the owners of the finalizers remove them, or wait longer with --timeout"
    : `Run the controller ${ours} until they are gone, or wait longer with --timeout`;
  return commandFailure(`Cannot delete ${definitionName(crd)}: after ${formatDuration(timeoutMs)} ${state}`, advice);
}

/** A finalizer, and how many objects have it. */
interface FinalizerUse {
  readonly finalizer: string;
  /** The controller of this program that removes it; undefined when there is none. */
  readonly controller: string | undefined;
  readonly objects: number;
  /** The key of one of them. */
  readonly example: string;
}

/** The objects of a kind, counted. */
export interface Inventory {
  readonly objects: number;
  readonly namespaces: number;
  /** Objects that are being deleted. */
  readonly deleting: number;
  readonly finalizers: readonly FinalizerUse[];
}

/** Counts the objects of a kind and their finalizers. */
export async function inventoryOf(
  crd: StoredCrd,
  controllers: readonly ControllerDefinition[],
  context: CrdContext,
): Promise<Inventory> {
  const kind = storedKindOf(crd);
  const namespaces = new Set<string>();
  const uses = new Map<string, FinalizerUse>();
  let [objects, deleting] = [0, 0];
  if (kind === undefined) return { objects, namespaces: 0, deleting, finalizers: [] };
  using progress = context.session.progress();
  for await (const page of storedObjects(context, kind, { metadataOnly: true })) {
    for (const object of page) {
      const { namespace, deletionTimestamp } = object.metadata;
      if (namespace !== undefined) namespaces.add(namespace);
      if (deletionTimestamp !== undefined) deleting++;
      countFinalizers(object, { crd, controllers, uses });
    }
    objects += page.length;
    progress.report(`counting ${resourceName(kind)}: ${count(objects, "object")}`);
  }
  return { objects, namespaces: namespaces.size, deleting, finalizers: [...uses.values()] };
}

/** `3 objects have the finalizer nodes.lailin.xyz/nodepool of the controller nodepool, for example blue`. */
export function finalizerText({ finalizer, controller, objects, example }: FinalizerUse): string {
  const ofController = controller === undefined ? "" : ` of the controller ${controller}`;
  return `${count(objects, "object")} ${
    objects === 1 ? "has" : "have"
  } the finalizer ${finalizer}${ofController}, for example ${example}`;
}

interface FinalizerCount {
  readonly crd: StoredCrd;
  readonly controllers: readonly ControllerDefinition[];
  readonly uses: Map<string, FinalizerUse>;
}

function countFinalizers(object: KubeObject, { crd, controllers, uses }: FinalizerCount): void {
  for (const finalizer of object.metadata.finalizers ?? []) {
    const known = uses.get(finalizer);
    const controller = known === undefined ? controllerOf(finalizer, crd, controllers) : known.controller;
    const example = known?.example ?? keyOf(object);
    uses.set(finalizer, { finalizer, controller, objects: (known?.objects ?? 0) + 1, example });
  }
}

function controllerOf(
  finalizer: string,
  { spec: { group, names } }: StoredCrd,
  controllers: readonly ControllerDefinition[],
): string | undefined {
  return controllers.find(({ primary, finalizer: own }) =>
    own === finalizer && primary.group === group && primary.plural === names.plural
  )?.name;
}
