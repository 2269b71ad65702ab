/**
 * Stalled objects: a key that failed and is not retried leaves a trace on its object, where a user looks: a Warning Event,
 * and the condition `Stalled` of kstatus (https://github.com/kubernetes-sigs/cli-utils, `pkg/kstatus`) where the kind has
 * conditions, so that `kubectl wait`, Argo CD and Flux see it, too.
 *
 * Guarantees: one write for each generation of the object, however often it fails; the condition goes with the first
 * reconcile that succeeds. A condition `Stalled` that something else has written is left alone.
 * Caveats: of several controllers of a kind, the first one that stalls writes the condition.
 */
import { type Condition, findCondition, type KubeObject } from "../api/mod.ts";
import { errorText } from "../observe/mod.ts";
import { changeConditions, type ConditionChange, hasCondition } from "./_own_condition.ts";
import type { ControllerDefinition } from "./controller_definition.ts";
import type { Toolbox } from "./toolbox.ts";

/**
 * The type of the condition of an object that a controller does not retry, because it failed with a TerminalError or more
 * often than `maxRetries`.
 *
 * @example
 * ```ts
 * import { controller, defineResource, isConditionTrue, stalledCondition, TerminalError, z } from "@pintle/controller";
 * import { World } from "@pintle/controller/testing";
 *
 * const Site = defineResource({
 *   ...{ group: "example.dev", version: "v1", kind: "Site", scope: "Namespaced" },
 *   spec: z.object({ host: z.string() }),
 *   status: z.object({ conditions: z.array(z.any()).optional() }),
 * });
 * const sites = controller("sites").for(Site).reconcile(() => Promise.reject(new TerminalError("Cannot use the host")));
 * await using world = await World.start({ controllers: [sites] });
 * await world.create(Site, { name: "a", spec: { host: "?" } });
 * await world.settled();
 * console.assert(isConditionTrue(world.get(Site, "default/a").status?.conditions, stalledCondition));
 * ```
 */
export const stalledCondition = "Stalled";

/** The reason of the condition, and of the Event without `droppedReason`. */
export const notRetryingReason = "NotRetrying";

/** The API server accepts up to 32,768 characters; nobody reads as many. */
const maxMessageCharacters = 1_000;

/** Records that the key of a request failed and is not retried. @param retries undefined for a TerminalError */
export async function reportStalled(
  definition: ControllerDefinition,
  toolbox: Toolbox,
  { error, retries }: { readonly error: unknown; readonly retries?: number },
): Promise<void> {
  const { primary, options: { recordsEvents = true, droppedReason: reason = notRetryingReason } } = definition;
  const object = toolbox.find(primary, toolbox.request.key);
  if (object === undefined) return;
  const text = errorText(error).slice(0, maxMessageCharacters);
  if (recordsEvents) {
    const state = retries === undefined ? "Not retried" : `Given up after ${retries} retries`;
    toolbox.event({
      regarding: object as KubeObject,
      type: "Warning",
      reason,
      note: `${state}, until something changes: ${text}`,
    });
  }
  if (!hasCondition(definition, stalledCondition)) return;
  const message = `${messageStart(definition)}: ${text}`;
  const { generation } = (object as KubeObject).metadata;
  await changeConditions(toolbox, { primary, object, type: stalledCondition }, (before): ConditionChange => {
    const current = findCondition(before, stalledCondition);
    const isReported = current?.status === "True" &&
      (!isOwn(definition, current) || current.observedGeneration === generation);
    return isReported ? { kind: "none" } : { kind: "set", reason: notRetryingReason, message };
  });
}

/** Removes the condition after a reconcile that succeeded. */
export async function clearStalled(definition: ControllerDefinition, toolbox: Toolbox): Promise<void> {
  const { primary } = definition;
  const object = toolbox.find(primary, toolbox.request.key);
  if (object === undefined) return;
  await changeConditions(toolbox, { primary, object, type: stalledCondition }, (before) => {
    const current = findCondition(before, stalledCondition);
    return { kind: current !== undefined && isOwn(definition, current) ? "remove" : "none" };
  });
}

/** True for a condition that this controller has written. */
function isOwn(definition: ControllerDefinition, { reason, message }: Condition): boolean {
  return reason === notRetryingReason && message.startsWith(messageStart(definition));
}

function messageStart({ name }: ControllerDefinition): string {
  return `the controller ${name} does not retry until something changes`;
}
