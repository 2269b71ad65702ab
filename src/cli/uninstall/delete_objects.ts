/**
 * deleteObjects(): deletes all objects of kinds, and waits until they are gone. Controllers that have finalizers must run
 * meanwhile, so nothing else is deleted before.
 *
 * Guarantees: objects that somebody creates meanwhile are deleted, too; after the time limit, the error says which finalizers
 * keep objects, and whose they are.
 */
import { keyOf, type KubeObject } from "../../api/mod.ts";
import { isConflict, isNotFound } from "../../client/mod.ts";
import {
  commandFailure,
  type CrdContext,
  definitionName,
  finalizingController,
  type InstalledDefinition,
  inventoryOf,
  leftText,
  storedKindOf,
  storedObjects,
  withPermissionAdvice,
} from "../crds/mod.ts";
import { formatDuration } from "../flags/mod.ts";
import { count } from "../output/mod.ts";

const pollMs = 500;

/** @param timeoutMs for all kinds together @throws CommandError when objects are left */
export async function deleteObjects(
  definitions: readonly InstalledDefinition[],
  timeoutMs: number,
  context: CrdContext,
): Promise<void> {
  const { session, signal } = context;
  const { clock } = session.processEnvironment;
  const deadline = clock.monotonic() + timeoutMs;
  // All kinds first: the objects of one may wait for those of another.
  for (const definition of definitions) await deleteOnce(definition, context);
  using progress = session.progress();
  for (const definition of definitions) {
    const { crd, inventory } = definition;
    for (let left = await deleteOnce(definition, context); left > 0; left = await deleteOnce(definition, context)) {
      if (clock.monotonic() >= deadline) throw await leftError(definition, timeoutMs, context);
      progress.report(`waiting until ${count(left, "object")} of ${definitionName(crd)} are gone`);
      await clock.sleep(pollMs, signal);
    }
    if (inventory.objects > 0) session.print(`${count(inventory.objects, "object")} of ${definitionName(crd)} deleted`);
  }
}

/** Deletes what is not being deleted. @returns how many objects there were */
async function deleteOnce({ crd }: InstalledDefinition, context: CrdContext): Promise<number> {
  const kind = storedKindOf(crd);
  if (kind === undefined) return 0;
  const { connection: { client }, signal } = context;
  const remove = async ({ metadata }: KubeObject) => {
    const { uid } = metadata;
    await client.delete(kind, keyOf({ metadata }), { preconditions: { uid }, signal });
  };
  let found = 0;
  for await (const page of storedObjects(context, kind, { metadataOnly: true })) {
    found += page.length;
    for (const object of page.filter(({ metadata }) => metadata.deletionTimestamp === undefined)) {
      try {
        await withPermissionAdvice({ resource: kind, verbs: ["list", "delete"] }, () => remove(object));
      } catch (error) {
        // It has gone, or is another object by now, which the next turn finds.
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
    }
  }
  return found;
}

async function leftError({ crd }: InstalledDefinition, timeoutMs: number, context: CrdContext): Promise<Error> {
  const { operator } = context.session;
  const inventory = await inventoryOf(crd, operator.controllers, context);
  const ours = finalizingController(inventory);
  const advice = ours === undefined
    ? "Let the owners of the finalizers remove them, then run it again"
    : `Run ${operator.name} run ${ours}, or see its log; then run it again`;
  return commandFailure(
    `Cannot delete the objects of ${definitionName(crd)}: after ${formatDuration(timeoutMs)} ${leftText(inventory)}; ` +
      "the controllers, their permissions and the definitions were not deleted",
    advice,
  );
}
