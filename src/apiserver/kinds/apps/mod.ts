/** The kinds of the group apps. */
import type { KindGroup } from "../rules/mod.ts";
import { daemonSetDefaults, daemonSetRow, daemonSetRules } from "./daemon_sets.ts";
import {
  deploymentDefaults,
  deploymentRow,
  deploymentRules,
  replicaSetRow,
  replicaSetRules,
  replicationControllerRow,
  replicationControllerRules,
} from "./deployments.ts";
import {
  controllerRevisionRow,
  controllerRevisionRules,
  statefulSetDefaults,
  statefulSetRow,
  statefulSetRules,
} from "./stateful_sets.ts";

/** The kinds of the group apps, and ReplicationControllers, whose rules are those of ReplicaSets. */
export const appsKinds: KindGroup = {
  rules: {
    "Deployment.apps": deploymentRules,
    "ReplicaSet.apps": replicaSetRules,
    "ReplicationController.": replicationControllerRules,
    "StatefulSet.apps": statefulSetRules,
    "ControllerRevision.apps": controllerRevisionRules,
    "DaemonSet.apps": daemonSetRules,
  },
  defaults: { ...deploymentDefaults, ...statefulSetDefaults, ...daemonSetDefaults },
  rows: {
    "deployments.apps": deploymentRow,
    "replicasets.apps": replicaSetRow,
    replicationcontrollers: replicationControllerRow,
    "statefulsets.apps": statefulSetRow,
    "controllerrevisions.apps": controllerRevisionRow,
    "daemonsets.apps": daemonSetRow,
  },
};
