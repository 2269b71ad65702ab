/** How a plan is computed: from a snapshot of the cluster, in memory. `plan` prints it, a running process answers it. */
export { changedBetween, differencesOf, parsePlan, type Plan } from "./plan_document.ts";
export { changeDiff } from "./plan_diff.ts";
export { causeText, nameText, type PlannedAction, type PlannedChange, type PlannedProblem } from "./plan_result.ts";
export { answerPlanRequest, type PlanSubject } from "./plan_worker.ts";
export { PlannedCluster } from "./planned_cluster.ts";
export { planLimits, planOf } from "./planned_document.ts";
export { type PlannedKind, plannedKinds } from "./planned_kinds.ts";
export { requestPlan } from "./request_plan.ts";
export { localService } from "./restore_objects.ts";
export { type Snapshot, takeSnapshot } from "./snapshot.ts";
