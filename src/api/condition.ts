/**
 * Conditions: the observations in the status of an object. As in the API conventions, `lastTransitionTime` is the time at
 * which `status` last changed, not the time of the last check.
 */
import type { Condition } from "./object.ts";

/** A condition without its time, which {@link withCondition} determines. */
export type ConditionNow = Omit<Condition, "lastTransitionTime">;

/** The condition of a type, if there is one. */
export function findCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** True when there is a condition of that type and it is "True". */
export function isConditionTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === "True";
}

/**
 * Adds the condition `now`, or replaces the one of its type.
 *
 * @param at Milliseconds since the epoch: the time of the transition, if it is one.
 * @returns The same array when nothing changed, so that an unchanged status is not written.
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
