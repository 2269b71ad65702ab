/**
 * Conditions: the observations in the status of an object. As in the API conventions, `lastTransitionTime` is the time at
 * which `status` last changed, not the time of the last check.
 */
import type { Condition } from "./object.ts";

/** A condition as a controller observes it now: without its time, which {@link withCondition} determines. */
export type ConditionNow = Omit<Condition, "lastTransitionTime">;

/**
 * Finds the condition of a type.
 *
 * @param conditions The conditions of an object, usually `status.conditions`.
 * @param type The type in CamelCase, e.g. `Ready`.
 * @returns The condition; undefined if there is none of that type.
 *
 * @example
 * ```ts
 * import { findCondition, withCondition } from "@pintle/controller";
 *
 * const conditions = withCondition([], { type: "Ready", status: "False", reason: "NoPods", message: "" }, Date.now());
 * console.assert(findCondition(conditions, "Ready")?.reason === "NoPods");
 * console.assert(findCondition(undefined, "Ready") === undefined);
 * ```
 */
export function findCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/**
 * Checks that there is a condition of a type and that its status is "True".
 *
 * @param conditions The conditions of an object, usually `status.conditions`.
 * @param type The type in CamelCase, e.g. `Available`.
 *
 * @example
 * ```ts
 * import { isConditionTrue } from "@pintle/controller";
 *
 * const status = { conditions: [] };
 * console.assert(!isConditionTrue(status.conditions, "Available"));
 * ```
 */
export function isConditionTrue(
  conditions: readonly { readonly type: string; readonly status: string }[] | undefined,
  type: string,
): boolean {
  return conditions?.some((condition) => condition.type === type && condition.status === "True") ?? false;
}

/**
 * Adds a condition, or replaces the one of its type. `lastTransitionTime` changes only when `status` changes.
 *
 * @param conditions The conditions of an object, usually `status.conditions`.
 * @param now The condition as it is observed now.
 * @param at The time of the transition, if it is one, in milliseconds since the epoch.
 * @returns The same array when nothing changed, so that an unchanged status is not written.
 *
 * @example
 * ```ts
 * import { withCondition } from "@pintle/controller";
 *
 * const now = { type: "Ready", status: "True", reason: "AllPodsRun", message: "3 Pods are ready" } as const;
 * const first = withCondition(undefined, now, Date.UTC(2026, 0, 1));
 * const second = withCondition(first, { ...now, message: "4 Pods are ready" }, Date.UTC(2026, 0, 2));
 * console.assert(second[0]?.lastTransitionTime === "2026-01-01T00:00:00Z");
 * console.assert(withCondition(first, now, Date.UTC(2026, 0, 2)) === first);
 * ```
 */
export function withCondition(
  conditions: readonly Condition[] | undefined,
  now: ConditionNow,
  at: number,
): readonly Condition[] {
  const existing = conditions ?? [];
  const before = findCondition(existing, now.type);
  if (before === undefined) return [...existing, { ...now, lastTransitionTime: timeOf(at) }];
  const lastTransitionTime = before.status === now.status ? before.lastTransitionTime : timeOf(at);
  if (isSame(before, { ...now, lastTransitionTime })) return existing;
  return existing.map((condition) => condition === before ? { ...now, lastTransitionTime } : condition);
}

function isSame(left: Condition, right: Condition): boolean {
  return left.status === right.status && left.reason === right.reason && left.message === right.message &&
    left.observedGeneration === right.observedGeneration && left.lastTransitionTime === right.lastTransitionTime;
}

/** metav1.Time: RFC 3339 in whole seconds. */
function timeOf(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, "Z");
}
