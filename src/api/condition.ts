/**
 * Conditions: how an object says, in its status, how it is. Follows the API conventions: `lastTransitionTime` is when
 * `status` last changed, not when somebody last looked.
 */
import type { Condition } from "./object.ts";

/** A condition as a controller states it; the time is worked out. */
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
 * The conditions with `now` among them.
 *
 * @param at Milliseconds since the epoch: the time of the transition, if it is one.
 * @returns The same array when nothing changed, so that an unchanged status is not written.
 */
export function withCondition(
  conditions: readonly Condition[] | undefined,
  now: ConditionNow,
  at: number,
): readonly Condition[] {
  const held = conditions ?? [];
  const before = findCondition(held, now.type);
  if (before === undefined) return [...held, { ...now, lastTransitionTime: timeOf(at) }];
  const lastTransitionTime = before.status === now.status ? before.lastTransitionTime : timeOf(at);
  if (isSame(before, { ...now, lastTransitionTime })) return held;
  return held.map((condition) => condition === before ? { ...now, lastTransitionTime } : condition);
}

function isSame(left: Condition, right: Condition): boolean {
  return left.status === right.status && left.reason === right.reason && left.message === right.message &&
    left.observedGeneration === right.observedGeneration && left.lastTransitionTime === right.lastTransitionTime;
}

/** metav1.Time: RFC 3339 in whole seconds. */
function timeOf(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, "Z");
}
