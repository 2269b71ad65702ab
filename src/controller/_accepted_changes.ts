/**
 * acceptsChange(): whether a change of a watched object counts. The predicate of the watch decides, except for changes that
 * the engine itself has to act on: a primary object that is paused or resumed, and one that is deleted while the controller
 * has a `deleted` function.
 */
import type { ControllerDefinition, WatchDefinition } from "./controller_definition.ts";
import { isPauseChange } from "./pause.ts";
import type { Change } from "./predicate.ts";

/** @throws what the predicate throws */
export function acceptsChange(
  { deleted }: Pick<ControllerDefinition, "deleted">,
  { role, when }: WatchDefinition,
  change: Change,
): boolean {
  if (when === undefined || when(change)) return true;
  return role === "for" && (isPauseChange(change) || (change.kind === "deleted" && deleted !== undefined));
}
