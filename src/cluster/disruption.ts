/** The disruption controller: writes into each PodDisruptionBudget how many of its Pods may be evicted now. */
import { builtin, type Condition, type Infer, keyOf, withCondition } from "../api/mod.ts";
import { controller, type ControllerDefinition, done } from "../controller/mod.ts";
import { isActive, isReady, selectorOf } from "./_pods.ts";
import { scaledValue } from "./_values.ts";

type Budget = Infer<typeof builtin.PodDisruptionBudget>;

/** Counts the Pods of PodDisruptionBudgets. A change of a Pod requeues the budgets of its namespace. */
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
        // Evicted Pods have a deletionTimestamp, so they are not counted above.
        disruptedPods: null,
        conditions: [...withCondition(conditionsOf(budget), allowedCondition(allowed, generation), ctx.clock.now())],
      });
      return done;
    });
}

/** The server validates conditions, so the fields that the published types leave optional are set. */
function conditionsOf({ status }: Budget): readonly Condition[] {
  return (status?.conditions ?? []) as readonly Condition[];
}

/** The condition that `kubectl wait` reads. */
function allowedCondition(allowed: number, observedGeneration: number | undefined) {
  const state = allowed > 0
    ? { status: "True", reason: "SufficientPods" } as const
    : { status: "False", reason: "InsufficientPods" } as const;
  return { type: "DisruptionAllowed", ...state, message: "", observedGeneration };
}

function desiredHealthy({ spec: { minAvailable, maxUnavailable } }: Budget, expected: number): number {
  if (maxUnavailable !== undefined) return Math.max(0, expected - scaledValue(maxUnavailable, expected, Math.ceil));
  return minAvailable === undefined ? 0 : scaledValue(minAvailable, expected, Math.ceil);
}
