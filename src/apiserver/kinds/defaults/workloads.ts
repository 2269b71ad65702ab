/** Defaults of what makes Pods: Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs, CronJobs, autoscalers. */
import { type Draft, draftOf, type DraftValue } from "../../model/mod.ts";
import type { Defaulter } from "../filler.ts";
import { cpuUtilization, hasOtherMetrics } from "../rules/autoscaler_versions.ts";
import { draftAt, draftsAt, findDraft, has, setIfAbsent, setIfEmpty, textAt, valuesAt } from "../fields.ts";

const mostInt32 = 2_147_483_647;

function deployment(draft: Draft): void {
  const spec = draftAt(draft, "spec");
  setIfAbsent(spec, "replicas", 1);
  const strategy = draftAt(spec, "strategy");
  setIfEmpty(strategy, "type", "RollingUpdate");
  if (textAt(strategy, "type") === "RollingUpdate") {
    const rolling = draftAt(strategy, "rollingUpdate");
    setIfAbsent(rolling, "maxUnavailable", "25%");
    setIfAbsent(rolling, "maxSurge", "25%");
  }
  setIfAbsent(spec, "revisionHistoryLimit", 10);
  setIfAbsent(spec, "progressDeadlineSeconds", 600);
}

/** Where older clients look for the number of templates that a DaemonSet has had. */
const templateGeneration = "deprecated.daemonset.template.generation";

function daemonSet(draft: Draft): void {
  // The server's own type has a field for it, so every DaemonSet it has read carries the annotation.
  setIfAbsent(draftAt(draftAt(draft, "metadata"), "annotations"), templateGeneration, "0");
  const spec = draftAt(draft, "spec");
  const strategy = draftAt(spec, "updateStrategy");
  setIfEmpty(strategy, "type", "RollingUpdate");
  if (textAt(strategy, "type") === "RollingUpdate") {
    const rolling = draftAt(strategy, "rollingUpdate");
    setIfAbsent(rolling, "maxUnavailable", 1);
    setIfAbsent(rolling, "maxSurge", 0);
  }
  setIfAbsent(spec, "revisionHistoryLimit", 10);
}

function statefulSet(draft: Draft): void {
  const spec = draftAt(draft, "spec");
  setIfEmpty(spec, "podManagementPolicy", "OrderedReady");
  const strategy = draftAt(spec, "updateStrategy");
  if (textAt(strategy, "type") === "") {
    strategy["type"] = "RollingUpdate";
    setIfAbsent(strategy, "rollingUpdate", {});
  }
  const rolling = findDraft(strategy, "rollingUpdate");
  if (textAt(strategy, "type") === "RollingUpdate" && rolling !== undefined) setIfAbsent(rolling, "partition", 0);
  const retention = draftAt(spec, "persistentVolumeClaimRetentionPolicy");
  setIfEmpty(retention, "whenDeleted", "Retain");
  setIfEmpty(retention, "whenScaled", "Retain");
  setIfAbsent(spec, "replicas", 1);
  setIfAbsent(spec, "revisionHistoryLimit", 10);
  for (const claim of draftsAt(spec, "volumeClaimTemplates")) {
    claim["apiVersion"] = "v1";
    claim["kind"] = "PersistentVolumeClaim";
  }
}

function replicationController(draft: Draft): void {
  const spec = draftAt(draft, "spec");
  const template = findDraft(spec, "template");
  const labels = template === undefined ? undefined : findDraft(draftAt(template, "metadata"), "labels");
  if (labels === undefined) return;
  setIfAbsent(spec, "selector", draftOf(labels));
  setIfAbsent(draftAt(draft, "metadata"), "labels", draftOf(labels));
}

function job(draft: Draft): void {
  const spec = draftAt(draft, "spec");
  if (!has(spec, "completions") && !has(spec, "parallelism")) spec["completions"] = 1;
  setIfAbsent(spec, "parallelism", 1);
  setIfAbsent(spec, "backoffLimit", has(spec, "backoffLimitPerIndex") ? mostInt32 : 6);
  const labels = findDraft(draftAt(draftAt(spec, "template"), "metadata"), "labels");
  // The very same map, as in the server: the labels that the template gets later are those of the Job, too.
  if (labels !== undefined) setIfAbsent(draftAt(draft, "metadata"), "labels", labels);
  setIfAbsent(spec, "completionMode", "NonIndexed");
  setIfAbsent(spec, "suspend", false);
  setIfAbsent(spec, "podReplacementPolicy", has(spec, "podFailurePolicy") ? "Failed" : "TerminatingOrFailed");
  setIfAbsent(spec, "manualSelector", false);
}

function cronJob(draft: Draft): void {
  const spec = draftAt(draft, "spec");
  setIfEmpty(spec, "concurrencyPolicy", "Allow");
  setIfAbsent(spec, "suspend", false);
  setIfAbsent(spec, "successfulJobsHistoryLimit", 3);
  setIfAbsent(spec, "failedJobsHistoryLimit", 1);
}

function autoscaler(draft: Draft): void {
  const spec = draftAt(draft, "spec");
  setIfAbsent(spec, "minReplicas", 1);
  if (valuesAt(spec, "metrics").length === 0) {
    spec["metrics"] = [{
      type: "Resource",
      resource: { name: "cpu", target: { type: "Utilization", averageUtilization: cpuUtilization } },
    }];
  }
  const behavior = findDraft(spec, "behavior");
  if (behavior === undefined) return;
  scalingRules(behavior, "scaleUp", {
    stabilizationWindowSeconds: 0,
    policies: [{ type: "Pods", value: 4, periodSeconds: 15 }, { type: "Percent", value: 100, periodSeconds: 15 }],
  });
  scalingRules(behavior, "scaleDown", { policies: [{ type: "Percent", value: 100, periodSeconds: 15 }] });
}

function scalingRules(behavior: Draft, key: string, fallback: Readonly<Record<string, DraftValue>>): void {
  const rules = draftAt(behavior, key);
  setIfAbsent(rules, "selectPolicy", "Max");
  for (const [name, value] of Object.entries(fallback)) setIfAbsent(rules, name, value);
}

/** The defaulters of this file, by type. */
export const workloadDefaults: ReadonlyMap<string, Defaulter> = new Map<string, Defaulter>([
  ["apps/v1.Deployment", deployment],
  ["apps/v1.DaemonSet", daemonSet],
  ["apps/v1.StatefulSet", statefulSet],
  ["apps/v1.ReplicaSet", (draft) => setIfAbsent(draftAt(draft, "spec"), "replicas", 1)],
  ["core/v1.ReplicationController", replicationController],
  ["batch/v1.Job", job],
  ["batch/v1.CronJob", cronJob],
  ["batch/v1.PodFailurePolicyOnPodConditionsPattern", (draft) => setIfEmpty(draft, "status", "True")],
  ["autoscaling/v2.HorizontalPodAutoscaler", autoscaler],
  ["autoscaling/v1.HorizontalPodAutoscaler", (draft) => {
    const spec = draftAt(draft, "spec");
    setIfAbsent(spec, "minReplicas", 1);
    if (!hasOtherMetrics(draft)) setIfAbsent(spec, "targetCPUUtilizationPercentage", cpuUtilization);
  }],
]);
