/**
 * How far and how fast a HorizontalPodAutoscaler may scale: limits, stabilization windows and the policies of its behavior,
 * as kube-controller-manager's podautoscaler/horizontal.go.
 */
import type { builtin, Infer } from "../api/mod.ts";

type Spec = Infer<typeof builtin.HorizontalPodAutoscaler>["spec"];
type ScalingRules = NonNullable<NonNullable<Spec["behavior"]>["scaleUp"]>;

/** Seconds for which the highest recommendation counts, without a behavior. */
export const downscaleWindowSeconds = 300;

/** Seconds that a policy or a window may look back at most. */
const maxSeconds = 3_600;

/** What happened to one autoscaler before. */
export interface ScalingHistory {
  recommendations: readonly { readonly replicas: number; readonly at: number }[];
  /** Changes of the target by the autoscaler: more than 0 for more replicas. */
  changes: readonly { readonly replicas: number; readonly at: number }[];
}

/** What to scale to. */
export interface NormalizedReplicas {
  readonly replicas: number;
  readonly stabilized: { readonly reason: string; readonly message: string };
  readonly limited: { readonly isLimited: boolean; readonly reason: string; readonly message: string };
}

/** What limits a number of replicas. */
type Limit = readonly [replicas: number, reason: string, message: string];

const ready = { reason: "ReadyForNewScale", message: "recommended size matches current size" };
const stabilizedUp = {
  reason: "ScaleUpStabilized",
  message: "recent recommendations were lower than current one, applying the lowest recent recommendation",
};
const stabilizedDown = {
  reason: "ScaleDownStabilized",
  message: "recent recommendations were higher than current one, applying the highest recent recommendation",
};

/** Notes a recommendation, and applies windows and limits to it. @param now milliseconds since 1970 */
export function normalizeReplicas(
  history: ScalingHistory,
  spec: Spec,
  { current, desired, now }: { readonly current: number; readonly desired: number; readonly now: number },
): NormalizedReplicas {
  const stable = stabilize(history, spec.behavior, { current, desired, now });
  history.recommendations = [
    ...history.recommendations.filter(({ at }) => at >= now - maxSeconds * 1000),
    { replicas: desired, at: now },
  ];
  const isUp = spec.behavior !== undefined && desired >= current;
  const [replicas, reason, message] = limit(history, spec, { current, desired: stable, now });
  return {
    replicas,
    stabilized: stable === desired ? ready : isUp ? stabilizedUp : stabilizedDown,
    limited: { isLimited: replicas !== stable, reason, message },
  };
}

/** Notes that the target was scaled. */
export function noteScaling(history: ScalingHistory, replicas: number, now: number): void {
  const recent = history.changes.filter(({ at }) => at >= now - maxSeconds * 1000);
  history.changes = [...recent, { replicas, at: now }];
}

interface Sizes {
  readonly current: number;
  readonly desired: number;
  readonly now: number;
}

/** The recommendation, but not above the lowest one of the window for more, nor below the highest of that for less. */
function stabilize({ recommendations }: ScalingHistory, behavior: Spec["behavior"], sizes: Sizes): number {
  const { current, desired, now } = sizes;
  const since = (seconds: number) =>
    recommendations.filter(({ at }) => at > now - seconds * 1000).map(({ replicas }) => replicas);
  const downSeconds = behavior?.scaleDown?.stabilizationWindowSeconds ?? downscaleWindowSeconds;
  const highest = Math.max(desired, ...since(downSeconds));
  if (behavior === undefined) return highest;
  const lowest = Math.min(desired, ...since(behavior.scaleUp?.stabilizationWindowSeconds ?? 0));
  return Math.min(Math.max(current, lowest), highest);
}

const inRange = ["DesiredWithinRange", "the desired count is within the acceptable range"] as const;
const tooFew = ["TooFewReplicas", "the desired replica count is less than the minimum replica count"] as const;
const tooMany = ["TooManyReplicas", "the desired replica count is more than the maximum replica count"] as const;
const tooFast = ["ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate"] as const;
const tooFastDown = [
  "ScaleDownLimit",
  "the desired replica count is decreasing faster than the maximum scale rate",
] as const;

function limit(history: ScalingHistory, spec: Spec, { current, desired, now }: Sizes): Limit {
  const { minReplicas = 1, maxReplicas, behavior } = spec;
  if (behavior === undefined) {
    const rate = Math.max(2 * current, 4);
    const most = Math.min(maxReplicas, rate);
    if (desired < minReplicas) return [minReplicas, ...tooFew];
    if (desired > most) return [most, ...(maxReplicas > rate ? tooFast : tooMany)];
  } else if (desired > current) {
    const rate = Math.max(current, rateLimit(history, behavior.scaleUp, { current, direction: 1, now }));
    const most = Math.min(maxReplicas, rate);
    if (desired > most) return [most, ...(maxReplicas > rate ? tooFast : tooMany)];
  } else if (desired < current) {
    const rate = Math.min(current, rateLimit(history, behavior.scaleDown, { current, direction: -1, now }));
    const least = Math.max(minReplicas, rate);
    if (desired < least) return [least, ...(minReplicas < rate ? tooFastDown : tooFew)];
  }
  return [desired, ...inRange];
}

/** The number of replicas that the policies allow now. @param direction 1 for more, -1 for less */
function rateLimit(
  { changes }: ScalingHistory,
  { selectPolicy, policies = [] }: ScalingRules = {},
  { current, direction, now }: { readonly current: number; readonly direction: 1 | -1; readonly now: number },
): number {
  if (selectPolicy === "Disabled") return current;
  const proposals = policies.map(({ type, value, periodSeconds }) => {
    const recent = changes.filter(({ at }) => at > now - periodSeconds * 1000);
    const before = current - recent.reduce((sum, { replicas }) => sum + replicas, 0);
    if (type === "Pods") return before + direction * value;
    // Rounded up for more, because a small change might add nothing for ever.
    return direction > 0 ? Math.ceil(before * (1 + value / 100)) : Math.trunc(before * (1 - value / 100));
  });
  const takesHighest = (selectPolicy === "Min") === (direction < 0);
  return takesHighest ? Math.max(...proposals) : Math.min(...proposals);
}
