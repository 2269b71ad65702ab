/** A condition of a Pod as the server itself writes it. */
import { type Draft, isDraft } from "../model/mod.ts";
import { part, timeText } from "./_change.ts";

/** What the condition says. */
export interface PodCondition {
  readonly type: string;
  readonly status: "True" | "False";
  readonly reason?: string;
  readonly message?: string;
}

/** Writes a condition into the status of a Pod, in the place of the one of its type. @param nowMs since 1970 */
export function setPodCondition(pod: Draft, condition: PodCondition, nowMs: number): void {
  const status = part(pod, "status");
  const conditions = Array.isArray(status.conditions) ? status.conditions : [];
  const at = conditions.findIndex((held) => isDraft(held) && held.type === condition.type);
  const held = conditions[at];
  const isSame = isDraft(held) && held.status === condition.status;
  const lastTransitionTime = isSame ? held.lastTransitionTime ?? null : timeText(nowMs);
  const next: Draft = { lastProbeTime: null, lastTransitionTime, ...condition };
  status.conditions = at < 0 ? [...conditions, next] : conditions.with(at, next);
}
