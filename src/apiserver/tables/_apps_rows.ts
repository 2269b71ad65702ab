/** The rows of workloads: apps and batch. */
import { numberAt, objectAt, objectsAt, textAt } from "../kinds/mod.ts";
import { humanDuration, type Json, type JsonObject, read } from "../model/mod.ts";
import {
  age,
  containers,
  count,
  integer,
  labels,
  name,
  ratio,
  row,
  type Rows,
  selector,
  since,
  text,
} from "./_cells.ts";
import { selectorText } from "./_selector_text.ts";
import { isConditionTrue, isDeleted } from "./_values.ts";

export const appsRows: Rows = {
  "controllerrevisions.apps": row(name, controllerName, integer("revision"), age),
  "daemonsets.apps": row(
    name,
    integer("status.desiredNumberScheduled"),
    integer("status.currentNumberScheduled"),
    integer("status.numberReady"),
    integer("status.updatedNumberScheduled"),
    integer("status.numberAvailable"),
    labels("spec.template.spec.nodeSelector"),
    age,
    ...containers("spec.template"),
    selector("spec.selector"),
  ),
  "deployments.apps": row(
    name,
    ratio("status.readyReplicas", "spec.replicas"),
    integer("status.updatedReplicas"),
    integer("status.availableReplicas"),
    age,
    ...containers("spec.template"),
    deploymentSelector,
  ),
  "replicasets.apps": row(
    name,
    integer("spec.replicas"),
    integer("status.replicas"),
    integer("status.readyReplicas"),
    age,
    ...containers("spec.template"),
    selector("spec.selector"),
  ),
  "statefulsets.apps": row(
    name,
    ratio("status.readyReplicas", "spec.replicas"),
    age,
    ...containers("spec.template"),
  ),
  "cronjobs.batch": row(
    name,
    text("spec.schedule"),
    text("spec.timeZone", "<none>"),
    suspended,
    count("status.active"),
    since("status.lastScheduleTime", "<none>"),
    age,
    ...containers("spec.jobTemplate.spec.template"),
    selector("spec.jobTemplate.spec.selector"),
  ),
  "jobs.batch": row(
    name,
    jobStatus,
    completions,
    jobDuration,
    age,
    ...containers("spec.template"),
    selector("spec.selector"),
  ),
};

/** Unlike the other kinds', an empty one is shown as nothing at all. */
function deploymentSelector(object: JsonObject): Json {
  return selectorText(read(objectAt(object, "spec"), "selector")) ?? "<invalid>";
}

/** `statefulset.apps/db`. */
function controllerName(object: JsonObject): Json {
  const owners = objectsAt(objectAt(object, "metadata"), "ownerReferences");
  const owner = owners.find((candidate) => read(candidate, "controller") === true);
  if (owner === undefined) return "<none>";
  const [group = "", version] = textAt(owner, "apiVersion").split("/");
  const kind = textAt(owner, "kind");
  const title = version === undefined ? kind : `${kind}.${group}`;
  return `${title.toLowerCase()}/${textAt(owner, "name")}`;
}

function suspended(object: JsonObject): Json {
  const value = read(objectAt(object, "spec"), "suspend");
  return value === true ? "True" : value === false ? "False" : "<unset>";
}

/** The first that holds, by the condition that says so. */
const jobStates = ["Complete", "Failed", "Terminating", "Suspended", "FailureTarget", "SuccessCriteriaMet"] as const;

function jobStatus(job: JsonObject): Json {
  const status = objectAt(job, "status");
  const state = jobStates.find((word) => word === "Terminating" ? isDeleted(job) : isConditionTrue(status, word));
  return state ?? "Running";
}

function completions(job: JsonObject): Json {
  const spec = objectAt(job, "spec");
  const succeeded = numberAt(objectAt(job, "status"), "succeeded");
  const wanted = read(spec, "completions");
  if (typeof wanted === "number") return `${succeeded}/${wanted}`;
  const parallelism = numberAt(spec, "parallelism");
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration(job: JsonObject, now: number): Json {
  const status = objectAt(job, "status");
  const [started, completed] = [textAt(status, "startTime"), textAt(status, "completionTime")];
  if (started === "") return "";
  return humanDuration((completed === "" ? now : Date.parse(completed)) - Date.parse(started));
}
