/** Of which kinds the owners are to be followed in a world of these controllers. */
import { builtin, type Resource, resourceId } from "../api/mod.ts";
import type { OperatorController } from "../manager/mod.ts";

/** The kinds whose objects own or are owned, as far as these controllers and the workloads go. */
export function collectedKinds(controllers: readonly OperatorController[]): readonly Resource[] {
  const declared = controllers.flatMap(({ watches }) => watches.map(({ resource }) => resource));
  const workloads = [
    builtin.Deployment,
    builtin.ReplicaSet,
    builtin.StatefulSet,
    builtin.DaemonSet,
    builtin.Job,
    builtin.Pod,
  ];
  const all: readonly Resource[] = [...declared, ...workloads, builtin.Service];
  return [...new Map(all.map((resource) => [resourceId(resource), resource])).values()];
}
