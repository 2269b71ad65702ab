/** planOf(): the document of a plan whose controllers have come to rest, and what it does not know. */
import type { OperatorController } from "../../manager/mod.ts";
import type { Plan } from "./plan_document.ts";
import { endlessProblem, plannedChanges, type PlannedProblem } from "./plan_result.ts";
import type { PlannedCluster } from "./planned_cluster.ts";
import type { Snapshot } from "./snapshot.ts";

/** What was planned. */
export interface PlannedParts {
  /** The program. */
  readonly operator: Plan["operator"];
  readonly controllers: readonly OperatorController[];
  readonly snapshot: Snapshot;
  /** Stored objects that new definitions refuse. @default none */
  readonly refused?: readonly PlannedProblem[];
  /** Includes what only the simulated cluster changes. @default false */
  readonly showsCluster?: boolean;
}

/** The document. */
export function planOf(
  cluster: PlannedCluster,
  { operator, controllers, snapshot, refused = [], showsCluster = false }: PlannedParts,
): Plan {
  const parked = cluster.parked().map(({ controller, key, reason: problem }) => ({ controller, key, problem }));
  const times = { from: snapshot.takenAt, to: cluster.clock.now() };
  return {
    apiVersion: "pintle.dev/v1alpha1",
    kind: "Plan",
    operator,
    controllers: controllers.map(({ name }) => name),
    time: new Date(snapshot.takenAt).toISOString(),
    changes: plannedChanges(cluster.journal, { times, showsCluster }),
    refused,
    endless: [...cluster.endless.map(endlessProblem), ...parked],
    failing: cluster.convergence.failures.map(({ controller, key, error: problem }) => ({ controller, key, problem })),
    warnings: cluster.warnings(),
  };
}

/** What a plan does not know, or does not do, in sentences. */
export function planLimits(
  { daemonErrors }: Pick<PlannedCluster, "daemonErrors">,
  { controllers, snapshot: { unreadable } }: Pick<PlannedParts, "controllers" | "snapshot">,
): readonly string[] {
  const others = controllers.filter(({ runnables = [] }) => runnables.length > 0).map(({ name }) => name);
  return [
    ...(unreadable.length === 0
      ? []
      : [`this user may not read ${unreadable.join(", ")}: the plan assumes the definitions of this program`]),
    ...(others.length === 0 ? [] : [`the plan does not run the further parts (runnables) of ${others.join(", ")}`]),
    ...[...daemonErrors].map(([name, error]) => `the plan lacks what the daemons of ${name} would do: ${error}`),
  ];
}
