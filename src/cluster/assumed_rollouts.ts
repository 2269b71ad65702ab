/**
 * Rollouts that succeed at once: Deployments, StatefulSets and ReplicaSets get the status that they have when all their Pods
 * are ready, and no Pod is created. For those who read only the status, where the Pods of thousands of objects cost time.
 */
import { builtin } from "../api/mod.ts";
import { controller, type ControllerDefinition, done } from "../controller/mod.ts";
import { timeText } from "./_values.ts";

const options = { maxConcurrentReconciles: 5, recordsEvents: false } as const;

const replicaSetFields = ["replicas", "readyReplicas", "availableReplicas", "fullyLabeledReplicas"] as const;

/** They take the place of the controllers that create Pods, under the names of these. */
export const assumedRollouts: readonly ControllerDefinition[] = [
  controller("deployment-controller", options).for(builtin.Deployment, { writesStatus: true }).reconcile(
    async (ctx) => {
      const { spec, status } = ctx.object;
      if (spec.paused === true) return done;
      const conditions = [...status?.conditions ?? []];
      for (const condition of deploymentConditions) {
        const at = conditions.findIndex(({ type }) => type === condition.type);
        const before = conditions[at];
        if (before?.status === condition.status && before.reason === condition.reason) continue;
        const now = timeText(ctx.clock.now());
        const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : now;
        conditions.splice(at < 0 ? conditions.length : at, 1, {
          ...condition,
          lastTransitionTime,
          lastUpdateTime: now,
        });
      }
      const counts = countsOf(ctx.object, ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas"]);
      await ctx.patchStatus({ ...counts, unavailableReplicas: null, conditions });
      return done;
    },
  ),
  controller("replicaset-controller", options).for(builtin.ReplicaSet, { writesStatus: true }).reconcile(
    async (ctx) => {
      await ctx.patchStatus(countsOf(ctx.object, replicaSetFields));
      return done;
    },
  ),
  controller("replicationcontroller-controller", options).for(builtin.ReplicationController, { writesStatus: true })
    .reconcile(
      async (ctx) => {
        await ctx.patchStatus(countsOf(ctx.object, replicaSetFields));
        return done;
      },
    ),
  controller("statefulset-controller", options).for(builtin.StatefulSet, { writesStatus: true }).reconcile(
    async (ctx) => {
      const fields = ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "currentReplicas"] as const;
      await ctx.patchStatus(countsOf(ctx.object, fields));
      return done;
    },
  ),
];

const deploymentConditions = [
  {
    type: "Available",
    status: "True",
    reason: "MinimumReplicasAvailable",
    message: "Deployment has minimum availability.",
  },
  {
    type: "Progressing",
    status: "True",
    reason: "NewReplicaSetAvailable",
    message: "The rollout is assumed to be complete.",
  },
] as const;

/** The counts of an object whose Pods are all ready; null, as absent, for 0. */
function countsOf<Field extends string>(
  { metadata: { generation }, spec }: {
    readonly metadata: { readonly generation?: number };
    readonly spec?: { readonly replicas?: number };
  },
  fields: readonly Field[],
): { readonly observedGeneration?: number } & Readonly<Record<Field, number>> {
  const { replicas = 1 } = spec ?? {};
  const counts = Object.fromEntries(fields.map((field) => [field, replicas])) as Record<Field, number>;
  return { observedGeneration: generation, ...counts };
}
