/** StatefulSets and ControllerRevisions: rules, defaults and table rows. */
import { type Draft, isSameJson, type Json, type JsonObject, read } from "../../model/mod.ts";
import {
  checkClaimSpec,
  checkCollisions,
  checkLongRunning,
  checkPodAnnotations,
  checkPodTemplate,
  checkRequiredSelector,
  checkTemplateLabels,
  claimSpecWarnings,
  dropDisabledInTemplate,
  isValidSelector,
  templateWarnings,
} from "../pods/mod.ts";
import {
  ageCell,
  checkAnnotations,
  checkCounts,
  checkImmutable,
  checkLabels,
  checkNotMore,
  containerCells,
  type DefaultsByType,
  FieldPath,
  integerCell,
  type KindRules,
  labelErrors,
  labelName,
  nameCell,
  Problems,
  ratioCell,
  type Row,
  rowOf,
  shownSelector,
} from "../rules/mod.ts";
import {
  draftAt,
  draftsAt,
  findDraft,
  findObject,
  has,
  metadataOf,
  nameOf,
  numberAt,
  objectAt,
  objectsAt,
  setIfAbsent,
  setIfEmpty,
  textAt,
} from "../types/mod.ts";

const specPath = FieldPath.of("spec");
const statusPath = FieldPath.of("status");

const changeable = [
  "replicas",
  "template",
  "updateStrategy",
  "minReadySeconds",
  "ordinals",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
];

const forbiddenChange =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', " +
  "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

/** StatefulSet. */
export const statefulSetRules: KindRules = {
  depth: "full",
  validateName: labelName,
  generationFields: ["spec"],
  scale: { specReplicas: ".spec.replicas", statusReplicas: ".status.replicas", labelSelector: ".spec.selector" },
  prepareForCreate: (draft) => dropDisabledFields(draft, {}),
  prepareForUpdate: dropDisabledFields,
  validate(set, problems) {
    checkSpec(objectAt(set, "spec"), { isNew: true, checksTemplate: true }, problems);
  },
  validateUpdate(set, old, problems) {
    const [spec, before] = [objectAt(set, "spec"), objectAt(old, "spec")];
    const known = new Problems();
    checkSpec(before, { isNew: false, checksTemplate: true }, known);
    checkSpec(spec, { isNew: false, checksTemplate: known.count === 0 }, problems);
    if (!isSameJson(immutableFieldsOf(spec), immutableFieldsOf(before))) problems.forbidden(specPath, forbiddenChange);
  },
  validateStatus(set, old, problems) {
    const status = objectAt(set, "status");
    const counts = ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"];
    checkCounts(status, ["replicas", ...counts, "observedGeneration", "collisionCount"], statusPath, problems);
    checkNotMore(status, counts, "replicas", statusPath, problems, "status.replicas");
    checkNotMore(status, ["availableReplicas"], "readyReplicas", statusPath, problems, "status.readyReplicas");
    checkCollisions(status, objectAt(old, "status"), statusPath, problems);
  },
  warnings(set, old) {
    const spec = objectAt(set, "spec");
    const history = "a negative value retains all historical revisions; a value >= 0 is recommended";
    return [
      ...templateWarnings(set, old),
      ...objectsAt(spec, "volumeClaimTemplates").flatMap((claim, index) => {
        const place = specPath.child("volumeClaimTemplates").index(index);
        return claimSpecWarnings(objectAt(claim, "spec"), old === undefined ? place : place.child("Spec"));
      }),
      ...(numberAt(spec, "revisionHistoryLimit") < 0 ? [`spec.revisionHistoryLimit: ${history}`] : []),
    ];
  },
};

function dropDisabledFields(draft: Draft, old: JsonObject): void {
  dropDisabledInTemplate(draft, old);
  const rolling = findDraft(draftAt(draftAt(draft, "spec"), "updateStrategy"), "rollingUpdate");
  const before = objectAt(objectAt(objectAt(old, "spec"), "updateStrategy"), "rollingUpdate");
  // The feature gate is off in 1.36.
  if (rolling !== undefined && !has(before, "maxUnavailable")) delete rolling["maxUnavailable"];
}

function immutableFieldsOf(spec: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(spec).filter(([key]) => !changeable.includes(key)));
}

interface SpecOptions {
  /** True for a new object: fields that never change are checked only then. */
  readonly isNew: boolean;
  readonly checksTemplate: boolean;
}

function checkSpec(spec: JsonObject, options: SpecOptions, problems: Problems): void {
  const management = textAt(spec, "podManagementPolicy");
  if (management === "") problems.required(specPath.child("podManagementPolicy"));
  else if (management !== "OrderedReady" && management !== "Parallel") {
    problems.invalid(specPath.child("podManagementPolicy"), management, "must be 'OrderedReady' or 'Parallel'");
  }
  checkStrategy(objectAt(spec, "updateStrategy"), specPath.child("updateStrategy"), problems);
  const retention = objectAt(spec, "persistentVolumeClaimRetentionPolicy");
  for (const key of has(spec, "persistentVolumeClaimRetentionPolicy") ? ["whenDeleted", "whenScaled"] : []) {
    const place = specPath.child("persistentVolumeClaimRetentionPolicy", key);
    const value = textAt(retention, key);
    if (value !== "Retain" && value !== "Delete") problems.notSupported(place, value, ["Retain", "Delete"]);
  }
  if (options.isNew) {
    objectsAt(spec, "volumeClaimTemplates").forEach((claim, index) =>
      checkClaimSpec(
        objectAt(claim, "spec"),
        specPath.child("volumeClaimTemplates").index(index).child("spec"),
        problems,
      )
    );
  }
  checkCounts(spec, ["replicas", "minReadySeconds"], specPath, problems);
  checkCounts(objectAt(spec, "ordinals"), ["start"], specPath.child("ordinals"), problems);
  const service = textAt(spec, "serviceName");
  if (options.isNew && service !== "") {
    problems.invalidAll(specPath.child("serviceName"), service, labelErrors(service));
  }
  checkRequiredSelector(spec, "statefulset", specPath.child("selector"), problems);
  checkTemplate(spec, options, problems);
}

function checkStrategy(strategy: JsonObject, place: FieldPath, problems: Problems): void {
  const type = textAt(strategy, "type");
  const rolling = findObject(strategy, "rollingUpdate");
  const shown = rolling === undefined
    ? null
    : { Partition: numberAt(rolling, "partition"), MaxUnavailable: read(rolling, "maxUnavailable") ?? null };
  if (type === "") return problems.required(place);
  if (type === "OnDelete") {
    if (shown === null) return;
    return problems.invalidStruct(
      place.child("rollingUpdate"),
      shown,
      "only allowed for updateStrategy 'RollingUpdate'",
    );
  }
  if (type !== "RollingUpdate") {
    return problems.invalidStruct(place, { Type: type, RollingUpdate: shown }, "must be 'RollingUpdate' or 'OnDelete'");
  }
  if (rolling !== undefined) checkCounts(rolling, ["partition"], place.child("rollingUpdate"), problems);
}

function checkTemplate(spec: JsonObject, { checksTemplate }: SpecOptions, problems: Problems): void {
  const selector = findObject(spec, "selector");
  const place = specPath.child("template");
  const template = withVolumes(objectAt(spec, "template"), objectsAt(spec, "volumeClaimTemplates"));
  if (!isValidSelector(selector)) problems.invalidStruct(specPath.child("selector"), shownSelector(selector), "");
  else {
    if (selector === undefined) {
      const labels = read(metadataOf(template), "labels") ?? null;
      problems.invalid(place.child("metadata", "labels"), labels, "`selector` does not match template `labels`");
    } else checkTemplateLabels(template, selector, place, problems);
    if (checksTemplate) checkPodTemplate(template, place, problems);
    // The real server checks these twice.
    checkLabels(metadataOf(template), "labels", place.child("labels"), problems);
    checkAnnotations(metadataOf(template), "annotations", place.child("annotations"), problems);
    checkPodAnnotations(metadataOf(template), objectAt(template, "spec"), place.child("annotations"), problems);
  }
  checkLongRunning(template, "StatefulSet", place, problems);
}

/** The template with the volumes and without the host names that the controller replaces in each Pod. */
function withVolumes(template: JsonObject, claims: readonly JsonObject[]): JsonObject {
  const names = claims.map(nameOf);
  const { hostname: _hostname, subdomain: _subdomain, ...spec } = objectAt(template, "spec");
  if (claims.length === 0) return { ...template, spec };
  const made = names.map((name): JsonObject => ({ name, persistentVolumeClaim: { claimName: name } }));
  const others = objectsAt(spec, "volumes").filter((volume) => !names.includes(textAt(volume, "name")));
  return { ...template, spec: { ...spec, volumes: [...made, ...others] } };
}

/** ControllerRevision. */
export const controllerRevisionRules: KindRules = {
  depth: "full",
  validate(revision, problems) {
    checkRevision(revision, problems);
    const data = read(revision, "data") ?? null;
    const place = FieldPath.of("data");
    if (data === null) problems.required(place, "data is mandatory");
    else if (typeof data !== "object" || Array.isArray(data)) {
      problems.required(place, "data must be a valid JSON object");
    }
  },
  validateUpdate(revision, old, problems) {
    checkRevision(revision, problems);
    checkImmutable(revision, old, "data", FieldPath.of("data"), problems);
  },
};

function checkRevision(revision: JsonObject, problems: Problems): void {
  checkCounts(revision, ["revision"], FieldPath.root, problems);
}

/** The defaults of StatefulSets. */
export const statefulSetDefaults: DefaultsByType = { "apps/v1.StatefulSet": setStatefulSetDefaults };

function setStatefulSetDefaults(draft: Draft): void {
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

/** The cells of a StatefulSet. */
export const statefulSetRow: Row = rowOf(
  nameCell,
  ratioCell("status.readyReplicas", "spec.replicas"),
  ageCell,
  ...containerCells("spec.template"),
);

/** The cells of a ControllerRevision. */
export const controllerRevisionRow: Row = rowOf(nameCell, controllerName, integerCell("revision"), ageCell);

/** The controller owner, e.g. `statefulset.apps/db`. */
function controllerName(object: JsonObject): Json {
  const owners = objectsAt(objectAt(object, "metadata"), "ownerReferences");
  const owner = owners.find((candidate) => read(candidate, "controller") === true);
  if (owner === undefined) return "<none>";
  const [group = "", version] = textAt(owner, "apiVersion").split("/");
  const kind = textAt(owner, "kind");
  const title = version === undefined ? kind : `${kind}.${group}`;
  return `${title.toLowerCase()}/${textAt(owner, "name")}`;
}
