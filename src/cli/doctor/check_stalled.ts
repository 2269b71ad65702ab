/**
 * The check for objects that a controller does not retry: those with the condition `Stalled`, and for kinds without
 * conditions those with an Event about it. They do not keep the controllers from running, and nothing happens to them until
 * somebody changes them.
 *
 * Caveats: the API server keeps Events for an hour, and an object may have been reconciled since its Event.
 */
import { builtin, findCondition, keyOf, type KubeObject, type Resource, resourceName } from "../../api/mod.ts";
import { isForbidden, isNotFound } from "../../client/mod.ts";
import { allowsCondition, notRetryingReason, stalledCondition } from "../../controller/mod.ts";
import type { OperatorController } from "../../manager/mod.ts";
import { CommandError, exitCode } from "../command/mod.ts";
import { storedObjects } from "../crds/mod.ts";
import { count } from "../output/mod.ts";
import { type Check, type DoctorContext, type Finding, ok, unknown, warning } from "./check.ts";

/** An object that is not retried. */
interface StalledObject {
  readonly key: string;
  /** Why, in the words of the controller. */
  readonly message: string;
}

/** Returns one check for each controller whose kind has conditions, and one for each other that has reported such objects. */
export async function checkStalled(context: DoctorContext): Promise<readonly Check[]> {
  const checks: Check[] = [];
  for (const controller of context.controllers) {
    const { name } = controller;
    if (allowsCondition(controller.primary, stalledCondition)) {
      checks.push({ about: "stalled", subject: name, ...await checkConditions(controller, context) });
      continue;
    }
    const objects = await objectsOfEvents(controller, context);
    if (objects.length > 0) checks.push({ about: "stalled", subject: name, ...findingOf(controller, objects) });
  }
  return checks;
}

async function checkConditions(controller: OperatorController, context: DoctorContext): Promise<Finding> {
  const { primary } = controller;
  const kind: Resource<KubeObject> = { ...primary, _type: undefined };
  const stalled = new Map<string, StalledObject>();
  try {
    for (const namespace of namespacesOf(controller, context)) {
      for await (const page of storedObjects(context, kind, { namespace })) {
        for (const object of page) {
          const condition = stalledConditionOf(object);
          if (condition !== undefined) stalled.set(keyOf(object), { key: keyOf(object), message: condition });
        }
      }
    }
  } catch (error) {
    if (isNotFound(error)) return unknown(`the server does not know ${resourceName(primary)}`);
    if (error instanceof CommandError && error.code === exitCode.permission) {
      return unknown(`${resourceName(primary)} may not be read`);
    }
    throw error;
  }
  return findingOf(controller, [...stalled.values()]);
}

/** The namespaces to look at, each by itself; undefined is all, or that of a kind without namespaces. */
function namespacesOf(
  { primary }: OperatorController,
  { namespaces }: DoctorContext,
): readonly (string | undefined)[] {
  return primary.scope === "Cluster" || namespaces.length === 0 ? [undefined] : namespaces;
}

/** The message of the condition; undefined when the object is not stalled. */
function stalledConditionOf(object: KubeObject): string | undefined {
  const { status } = object as { readonly status?: { readonly conditions?: unknown } };
  const conditions = Array.isArray(status?.conditions) ? status.conditions : [];
  const condition = findCondition(conditions, stalledCondition);
  return condition?.status === "True" ? condition.message : undefined;
}

/** The objects in Events of the controller. None when Events may not be read: a kind without conditions has no other trace. */
async function objectsOfEvents(
  controller: OperatorController,
  context: DoctorContext,
): Promise<readonly StalledObject[]> {
  const { name, primary, options } = controller;
  const { connection, session, signal } = context;
  const { eventComponent = `${session.operator.name}/${name}`, droppedReason: reason = notRetryingReason } = options;
  const stalled = new Map<string, StalledObject>();
  try {
    const fieldSelector = `reason=${reason},type=Warning`;
    const pages = namespacesOf(controller, context).map((namespace) =>
      connection.client.listAll(builtin.Event, { namespace, fieldSelector, signal })
    );
    for (
      const { reportingController, regarding, note = "" } of (await Promise.all(pages)).flatMap(({ items }) => items)
    ) {
      if (reportingController !== eventComponent || regarding?.kind !== primary.kind) continue;
      const { namespace, name } = regarding;
      const key = keyOf({ metadata: { namespace: primary.scope === "Cluster" ? undefined : namespace, name } });
      stalled.set(key, { key, message: note });
    }
  } catch (error) {
    if (!isNotFound(error) && !isForbidden(error)) throw error;
  }
  return [...stalled.values()];
}

function findingOf({ primary }: OperatorController, objects: readonly StalledObject[]): Finding {
  const [example] = objects;
  if (example === undefined) return ok(`every object of ${resourceName(primary)} is retried`);
  const state = `${count(objects.length, "object")} of ${resourceName(primary)} ` +
    `${objects.length === 1 ? "is" : "are"} not retried: ${example.key}: ${example.message}`;
  return warning(state, "Change the object, or restart the controllers after the cause is gone");
}
