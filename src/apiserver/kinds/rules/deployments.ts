/** Rules of what keeps a number of equal Pods running: Deployments, ReplicaSets, ReplicationControllers. */
import { type Draft, isSameJson, type JsonObject, read } from "../../model/mod.ts";
import { checkNotNegative, checkNumberOrPercent } from "../checks.ts";
import { draftAt, findDraft, findNumber, findObject, numberAt, objectAt, textAt } from "../fields.ts";
import { immutable } from "../formats.ts";
import type { KindRules } from "../kind_rules.ts";
import { dropDisabled } from "../pods/disabled_fields.ts";
import { FieldPath, type Problems } from "../problems.ts";
import {
  canSelect,
  checkCollisions,
  checkCounts,
  checkLastingTemplate,
  checkNotMore,
  checkOwnSelector,
  checkPercent,
  checkSelected,
  countOf,
  podNameWarnings,
  shownSelector,
  templateWarnings,
} from "./templates.ts";

const path = FieldPath.of("spec");
const statusPath = FieldPath.of("status");

/** Drops fields of the template whose features are off. */
export function dropDisabledInTemplate(draft: Draft, old: JsonObject = {}): void {
  const template = findDraft(draftAt(draft, "spec"), "template");
  if (template === undefined) return;
  dropDisabled(draftAt(template, "spec"), objectAt(objectAt(objectAt(old, "spec"), "template"), "spec"));
}

/** Deployment. */
export const deploymentRules: KindRules = {
  depth: "full",
  generation: ["spec"],
  countsAnnotations: true,
  statusMetadata: "noLabels",
  scale: { specReplicas: ".spec.replicas", statusReplicas: ".status.replicas", labelSelector: ".spec.selector" },
  prepareForCreate: (draft) => dropDisabledInTemplate(draft),
  prepareForUpdate: dropDisabledInTemplate,
  validate: (deployment, problems) => checkDeploymentSpec(objectAt(deployment, "spec"), problems),
  validateUpdate(deployment, old, problems) {
    checkDeploymentSpec(objectAt(deployment, "spec"), problems);
    checkSelectorKept(deployment, old, problems);
  },
  validateStatus(deployment, old, problems) {
    const status = objectAt(deployment, "status");
    const counts = ["updatedReplicas", "readyReplicas", "availableReplicas"];
    const others = ["observedGeneration", "replicas", "unavailableReplicas", "terminatingReplicas", "collisionCount"];
    checkCounts(status, [...others, ...counts], statusPath, problems);
    checkNotMore(status, counts, "replicas", statusPath, problems, "status.replicas");
    checkNotMore(status, ["availableReplicas"], "readyReplicas", statusPath, problems);
    checkCollisions(status, objectAt(old, "status"), statusPath, problems);
  },
  warnings: (deployment, old) => [
    ...(old === undefined ? podNameWarnings(deployment) : []),
    ...templateWarnings(deployment, old),
  ],
};

/** A selector never changes: what it selected would be nobody's. */
export function checkSelectorKept(object: JsonObject, old: JsonObject, problems: Problems): void {
  const [now, before] = [
    findObject(objectAt(object, "spec"), "selector"),
    findObject(objectAt(old, "spec"), "selector"),
  ];
  if (isSameJson(now ?? null, before ?? null)) return;
  if (now === undefined) problems.invalid(path.child("selector"), null, immutable);
  else problems.invalidStruct(path.child("selector"), shownSelector(now), immutable);
}

function checkDeploymentSpec(spec: JsonObject, problems: Problems): void {
  checkNotNegative(spec, "replicas", path, problems);
  checkOwnSelector(spec, "deployment", path.child("selector"), problems);
  checkReplicaTemplate(spec, problems);
  checkStrategy(objectAt(spec, "strategy"), path.child("strategy"), problems);
  checkCounts(spec, ["minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"], path, problems);
  const deadline = findNumber(spec, "progressDeadlineSeconds");
  if (deadline !== undefined && deadline <= numberAt(spec, "minReadySeconds")) {
    problems.invalid(path.child("progressDeadlineSeconds"), deadline, "must be greater than minReadySeconds");
  }
}

function checkReplicaTemplate(spec: JsonObject, problems: Problems): void {
  const selector = findObject(spec, "selector");
  if (!canSelect(selector)) {
    return problems.invalidStruct(path.child("selector"), shownSelector(selector), "invalid label selector");
  }
  const template = objectAt(spec, "template");
  if (selector === undefined) {
    const labels = read(objectAt(template, "metadata"), "labels") ?? null;
    problems.invalid(
      path.child("template", "metadata", "labels"),
      labels,
      "`selector` does not match template `labels`",
    );
  } else checkSelected(template, selector, path.child("template"), problems);
  checkLastingTemplate(template, "ReplicaSet", path.child("template"), problems);
}

function checkStrategy(strategy: JsonObject, place: FieldPath, problems: Problems): void {
  const type = textAt(strategy, "type");
  const rolling = findObject(strategy, "rollingUpdate");
  const at = place.child("rollingUpdate");
  if (type === "Recreate") {
    if (rolling !== undefined) problems.forbidden(at, "may not be specified when strategy `type` is 'Recreate'");
  } else if (type !== "RollingUpdate") {
    const shown = rolling === undefined ? null : shownRolling(rolling);
    problems.notSupportedStruct(place, { Type: type, RollingUpdate: shown }, ["Recreate", "RollingUpdate"]);
  } else if (rolling === undefined) problems.required(at, "this should be defaulted and never be nil");
  else checkRolling(rolling, at, problems);
}

/** The limits of a rolling update as the server's own type shows them. */
export function shownRolling(rolling: JsonObject): JsonObject {
  return { MaxUnavailable: read(rolling, "maxUnavailable") ?? 0, MaxSurge: read(rolling, "maxSurge") ?? 0 };
}

function checkRolling(rolling: JsonObject, place: FieldPath, problems: Problems): void {
  for (const key of ["maxUnavailable", "maxSurge"]) {
    checkNumberOrPercent(read(rolling, key), place.child(key), problems);
  }
  if (countOf(rolling, "maxUnavailable") === 0 && countOf(rolling, "maxSurge") === 0) {
    problems.invalid(
      place.child("maxUnavailable"),
      read(rolling, "maxUnavailable") ?? 0,
      "may not be 0 when `maxSurge` is 0",
    );
  }
  checkPercent(rolling, "maxUnavailable", place, problems);
}

function checkReplicaStatus(object: JsonObject, problems: Problems): void {
  const status = objectAt(object, "status");
  const counts = ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"];
  checkCounts(status, ["replicas", ...counts, "observedGeneration", "terminatingReplicas"], statusPath, problems);
  checkNotMore(status, counts, "replicas", statusPath, problems, "status.replicas");
  checkNotMore(status, ["availableReplicas"], "readyReplicas", statusPath, problems);
}

function checkReplicaSetSpec(spec: JsonObject, problems: Problems): void {
  checkCounts(spec, ["replicas", "minReadySeconds"], path, problems);
  // The server says "deployment" here, too.
  checkOwnSelector(spec, "deployment", path.child("selector"), problems);
  checkReplicaTemplate(spec, problems);
}

/** ReplicaSet. */
export const replicaSetRules: KindRules = {
  depth: "full",
  generation: ["spec"],
  scale: deploymentRules.scale,
  prepareForCreate: (draft) => dropDisabledInTemplate(draft),
  prepareForUpdate: dropDisabledInTemplate,
  validate: (set, problems) => checkReplicaSetSpec(objectAt(set, "spec"), problems),
  validateUpdate(set, old, problems) {
    checkReplicaSetSpec(objectAt(set, "spec"), problems);
    checkSelectorKept(set, old, problems);
  },
  validateStatus: (set, _old, problems) => checkReplicaStatus(set, problems),
  warnings: deploymentRules.warnings,
};

/** ReplicationController. */
export const replicationControllerRules: KindRules = {
  depth: "full",
  generation: ["spec"],
  scale: deploymentRules.scale,
  deletion: { propagation: "Orphan" },
  selectable: new Map([["status.replicas", (object) => String(numberAt(objectAt(object, "status"), "replicas"))]]),
  prepareForCreate: (draft) => dropDisabledInTemplate(draft),
  prepareForUpdate: dropDisabledInTemplate,
  validate: (controller, problems) => checkControllerSpec(objectAt(controller, "spec"), problems),
  validateStatus: (controller, _old, problems) => checkReplicaStatus(controller, problems),
  warnings: deploymentRules.warnings,
};

function checkControllerSpec(spec: JsonObject, problems: Problems): void {
  checkCounts(spec, ["minReadySeconds", "replicas"], path, problems);
  const matchLabels = objectAt(spec, "selector");
  if (Object.keys(matchLabels).length === 0) problems.required(path.child("selector"));
  const template = findObject(spec, "template");
  if (template === undefined) return problems.required(path.child("template"));
  checkSelected(template, { matchLabels }, path.child("template"), problems);
  checkLastingTemplate(template, "ReplicationController", path.child("template"), problems);
}
