/** Deployments, ReplicaSets and ReplicationControllers: rules, defaults and table rows. */
import { type Draft, draftOf, isSameJson, type Json, type JsonObject, read } from "../../model/mod.ts";
import {
  checkCollisions,
  checkLongRunningTemplate,
  checkRequiredSelector,
  checkTemplateLabels,
  dropDisabledInTemplate,
  isValidSelector,
  podNameWarnings,
  templateWarnings,
} from "../pods/mod.ts";
import {
  ageCell,
  checkCounts,
  checkNotMore,
  checkNotNegative,
  checkNumberOrPercent,
  checkPercent,
  containerCells,
  countOf,
  type DefaultsByType,
  fieldIsImmutable,
  FieldPath,
  integerCell,
  type KindRules,
  labelsCell,
  nameCell,
  type Problems,
  ratioCell,
  type Row,
  rowOf,
  selectorCell,
  selectorText,
  shownSelector,
} from "../rules/mod.ts";
import {
  draftAt,
  findDraft,
  findNumber,
  findObject,
  numberAt,
  objectAt,
  setIfAbsent,
  setIfEmpty,
  textAt,
} from "../types/mod.ts";

const specPath = FieldPath.of("spec");
const statusPath = FieldPath.of("status");

/** Deployment. */
export const deploymentRules: KindRules = {
  depth: "full",
  generationFields: ["spec"],
  annotationsIncrementGeneration: true,
  statusMetadata: "noLabels",
  scale: { specReplicas: ".spec.replicas", statusReplicas: ".status.replicas", labelSelector: ".spec.selector" },
  prepareForCreate: (draft) => dropDisabledInTemplate(draft),
  prepareForUpdate: dropDisabledInTemplate,
  validate: (deployment, problems) => checkDeploymentSpec(objectAt(deployment, "spec"), problems),
  validateUpdate(deployment, old, problems) {
    checkDeploymentSpec(objectAt(deployment, "spec"), problems);
    checkSelectorUnchanged(deployment, old, problems);
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

/** Checks that the selector has not changed: Pods that only the old selector matches would become orphans. */
export function checkSelectorUnchanged(object: JsonObject, old: JsonObject, problems: Problems): void {
  const [now, before] = [
    findObject(objectAt(object, "spec"), "selector"),
    findObject(objectAt(old, "spec"), "selector"),
  ];
  if (isSameJson(now ?? null, before ?? null)) return;
  if (now === undefined) problems.invalid(specPath.child("selector"), null, fieldIsImmutable);
  else problems.invalidStruct(specPath.child("selector"), shownSelector(now), fieldIsImmutable);
}

function checkDeploymentSpec(spec: JsonObject, problems: Problems): void {
  checkNotNegative(spec, "replicas", specPath, problems);
  checkRequiredSelector(spec, "deployment", specPath.child("selector"), problems);
  checkReplicaTemplate(spec, problems);
  checkStrategy(objectAt(spec, "strategy"), specPath.child("strategy"), problems);
  checkCounts(spec, ["minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"], specPath, problems);
  const deadline = findNumber(spec, "progressDeadlineSeconds");
  if (deadline !== undefined && deadline <= numberAt(spec, "minReadySeconds")) {
    problems.invalid(specPath.child("progressDeadlineSeconds"), deadline, "must be greater than minReadySeconds");
  }
}

function checkReplicaTemplate(spec: JsonObject, problems: Problems): void {
  const selector = findObject(spec, "selector");
  if (!isValidSelector(selector)) {
    return problems.invalidStruct(specPath.child("selector"), shownSelector(selector), "invalid label selector");
  }
  const template = objectAt(spec, "template");
  if (selector === undefined) {
    const labels = read(objectAt(template, "metadata"), "labels") ?? null;
    problems.invalid(
      specPath.child("template", "metadata", "labels"),
      labels,
      "`selector` does not match template `labels`",
    );
  } else checkTemplateLabels(template, selector, specPath.child("template"), problems);
  checkLongRunningTemplate(template, "ReplicaSet", specPath.child("template"), problems);
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

/** The limits of a rolling update in the form of the Go type. */
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
  checkCounts(spec, ["replicas", "minReadySeconds"], specPath, problems);
  // The real server says "deployment" here, too.
  checkRequiredSelector(spec, "deployment", specPath.child("selector"), problems);
  checkReplicaTemplate(spec, problems);
}

/** ReplicaSet. */
export const replicaSetRules: KindRules = {
  depth: "full",
  generationFields: ["spec"],
  scale: deploymentRules.scale,
  prepareForCreate: (draft) => dropDisabledInTemplate(draft),
  prepareForUpdate: dropDisabledInTemplate,
  validate: (set, problems) => checkReplicaSetSpec(objectAt(set, "spec"), problems),
  validateUpdate(set, old, problems) {
    checkReplicaSetSpec(objectAt(set, "spec"), problems);
    checkSelectorUnchanged(set, old, problems);
  },
  validateStatus: (set, _old, problems) => checkReplicaStatus(set, problems),
  warnings: deploymentRules.warnings,
};

/** ReplicationController. */
export const replicationControllerRules: KindRules = {
  depth: "full",
  generationFields: ["spec"],
  scale: deploymentRules.scale,
  deletion: { propagation: "Orphan" },
  fieldSelectors: new Map([["status.replicas", (object) => String(numberAt(objectAt(object, "status"), "replicas"))]]),
  prepareForCreate: (draft) => dropDisabledInTemplate(draft),
  prepareForUpdate: dropDisabledInTemplate,
  validate: (controller, problems) => checkControllerSpec(objectAt(controller, "spec"), problems),
  validateStatus: (controller, _old, problems) => checkReplicaStatus(controller, problems),
  warnings: deploymentRules.warnings,
};

function checkControllerSpec(spec: JsonObject, problems: Problems): void {
  checkCounts(spec, ["minReadySeconds", "replicas"], specPath, problems);
  const matchLabels = objectAt(spec, "selector");
  if (Object.keys(matchLabels).length === 0) problems.required(specPath.child("selector"));
  const template = findObject(spec, "template");
  if (template === undefined) return problems.required(specPath.child("template"));
  checkTemplateLabels(template, { matchLabels }, specPath.child("template"), problems);
  checkLongRunningTemplate(template, "ReplicationController", specPath.child("template"), problems);
}

/** The defaults of Deployments, ReplicaSets and ReplicationControllers. */
export const deploymentDefaults: DefaultsByType = {
  "apps/v1.Deployment": setDeploymentDefaults,
  "apps/v1.ReplicaSet": (draft) => setIfAbsent(draftAt(draft, "spec"), "replicas", 1),
  "core/v1.ReplicationController": setReplicationControllerDefaults,
};

function setDeploymentDefaults(draft: Draft): void {
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

function setReplicationControllerDefaults(draft: Draft): void {
  const spec = draftAt(draft, "spec");
  const template = findDraft(spec, "template");
  const labels = template === undefined ? undefined : findDraft(draftAt(template, "metadata"), "labels");
  if (labels === undefined) return;
  setIfAbsent(spec, "selector", draftOf(labels));
  setIfAbsent(draftAt(draft, "metadata"), "labels", draftOf(labels));
}

/** The cells of a Deployment. */
export const deploymentRow: Row = rowOf(
  nameCell,
  ratioCell("status.readyReplicas", "spec.replicas"),
  integerCell("status.updatedReplicas"),
  integerCell("status.availableReplicas"),
  ageCell,
  ...containerCells("spec.template"),
  deploymentSelector,
);

/** Shows an empty selector as "", unlike the other kinds. */
function deploymentSelector(object: JsonObject): Json {
  return selectorText(read(objectAt(object, "spec"), "selector")) ?? "<invalid>";
}

/** The cells of a ReplicaSet. */
export const replicaSetRow: Row = rowOf(
  nameCell,
  integerCell("spec.replicas"),
  integerCell("status.replicas"),
  integerCell("status.readyReplicas"),
  ageCell,
  ...containerCells("spec.template"),
  selectorCell("spec.selector"),
);

/** The cells of a ReplicationController. */
export const replicationControllerRow: Row = rowOf(
  nameCell,
  integerCell("spec.replicas"),
  integerCell("status.replicas"),
  integerCell("status.readyReplicas"),
  ageCell,
  ...containerCells("spec.template"),
  labelsCell("spec.selector"),
);
