/** PodDisruptionBudgets: how many of their Pods may go at present, which is what evictions are judged by. */
import { builtin, type Condition, type Infer, keyOf, withCondition } from "../api/mod.ts";
import { controller, type ControllerDefinition, done } from "../controller/mod.ts";
import { isActive, isReady, selectorOf } from "./_pods.ts";

type Budget = Infer<typeof builtin.PodDisruptionBudget>;

/** A Pod concerns the budgets of its namespace. */
export function disruptionController(): ControllerDefinition {
  const known = new Set<string>();
  return controller("disruption-controller")
    .for(builtin.PodDisruptionBudget)
    .watches(builtin.Pod, {
      to: ({ metadata: { namespace } }) => [...known].filter((key) => key.startsWith(`${namespace}/`)),
    })
    .reconcile(async (ctx) => {
      const budget = ctx.object;
      known.add(keyOf(budget));
      const labelSelector = selectorOf(budget.spec.selector);
      const { namespace, generation } = budget.metadata;
      const pods = ctx.list(builtin.Pod, { namespace, labelSelector }).filter(isActive);
      const healthy = pods.filter(isReady).length;
      const desired = desiredHealthy(budget, pods.length);
      const allowed = Math.max(0, healthy - desired);
      await ctx.patchStatus({
        currentHealthy: healthy,
        desiredHealthy: desired,
        expectedPods: pods.length,
        disruptionsAllowed: allowed,
        observedGeneration: generation,
        // Pods that were evicted are ending, so nobody counts them above.
        disruptedPods: null,
        conditions: [...withCondition(conditionsOf(budget), permission(allowed, generation), ctx.clock.now())],
      });
      return done;
    });
}

/** The server checks its conditions; the published types leave out what it requires. */
function conditionsOf({ status }: Budget): readonly Condition[] {
  return (status?.conditions ?? []) as readonly Condition[];
}

/** Whether any Pod may go, as people and `kubectl wait` ask. */
function permission(allowed: number, observedGeneration: number | undefined) {
  const said = allowed > 0
    ? { status: "True", reason: "SufficientPods" } as const
    : { status: "False", reason: "InsufficientPods" } as const;
  return { type: "DisruptionAllowed", ...said, message: "", observedGeneration };
}

function desiredHealthy({ spec: { minAvailable, maxUnavailable } }: Budget, expected: number): number {
  if (maxUnavailable !== undefined) return Math.max(0, expected - share(maxUnavailable, expected));
  return minAvailable === undefined ? 0 : share(minAvailable, expected);
}

function share(value: string | number, of: number): number {
  if (typeof value === "number") return value;
  return Math.ceil((Number.parseFloat(value) || 0) * of / 100);
}
