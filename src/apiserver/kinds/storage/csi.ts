/**
 * The kinds of CSI drivers: CSIDriver, CSINode, CSIStorageCapacity, VolumeAttributesClass. The texts are those of
 * pkg/apis/storage/validation of Kubernetes 1.36.
 */
import {
  type Draft,
  isSameJson,
  type Json,
  type JsonObject,
  labelKeyErrors,
  read,
  utf8Length,
} from "../../model/mod.ts";
import { checkDriverName, nodeSelectorWarnings } from "../pods/mod.ts";
import {
  ageCell,
  booleanCell,
  checkAmount,
  checkImmutable,
  checkNotNegative,
  checkSelector,
  countCell,
  createdAtCell,
  type DefaultsByType,
  fieldIsImmutable,
  FieldPath,
  joinedCell,
  type KindRules,
  nameCell,
  Problems,
  type Row,
  rowOf,
  shownSelector,
  subdomainErrors,
  textCell,
} from "../rules/mod.ts";
import {
  draftAt,
  findNumber,
  findObject,
  has,
  metadataOf,
  numberAt,
  objectAt,
  objectsAt,
  setIfAbsent,
  textAt,
  textMapAt,
  textsAt,
  valuesAt,
} from "../types/mod.ts";
import { checkParameters, checkProvisioner } from "./storage_classes.ts";

const specPath = FieldPath.of("spec");
const groupPolicies = ["File", "None", "ReadWriteOnceWithFSType"];
const lifecycleModes = ["Persistent", "Ephemeral"];
const minTokenSeconds = 600;
const maxTokenSeconds = 2 ** 32;
const minUpdatePeriodSeconds = 10;
const maxNodeIdBytes = 256;

const tokensInSecretsRecommended =
  "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of " +
  "tokens in volume attributes";

/** CSIDriver. A new one has no generation; each change of its spec increments it. */
export const csiDriverRules: KindRules = {
  depth: "full",
  allowsUnconditionalUpdate: false,
  prepareForCreate: (draft) => delete draftAt(draft, "spec")["preventPodSchedulingIfMissing"],
  prepareForUpdate(draft, old) {
    const before = numberAt(metadataOf(old), "generation");
    if (!has(objectAt(old, "spec"), "preventPodSchedulingIfMissing")) {
      delete draftAt(draft, "spec")["preventPodSchedulingIfMissing"];
    }
    if (!isSameJson(specOf(draft), specOf(old))) draftAt(draft, "metadata")["generation"] = before + 1;
  },
  validate: (driver, problems) => checkDriver(objectAt(driver, "spec"), problems),
  validateUpdate(driver, old, problems) {
    const [spec, before] = [objectAt(driver, "spec"), objectAt(old, "spec")];
    checkDriver(spec, problems);
    checkImmutable(spec, before, "attachRequired", specPath.child("attachedRequired"), problems);
    checkImmutable(spec, before, "volumeLifecycleModes", specPath.child("volumeLifecycleModes"), problems);
  },
  warnings(driver, old) {
    const spec = objectAt(driver, "spec");
    const requests = objectsAt(spec, "tokenRequests");
    const isOld = old !== undefined && isSameJson(requests, objectsAt(objectAt(old, "spec"), "tokenRequests"));
    const isUnset = requests.length > 0 && !has(spec, "serviceAccountTokenInSecrets");
    return isUnset && !isOld ? [tokensInSecretsRecommended] : [];
  },
};

function specOf(object: JsonObject) {
  return read(object, "spec") ?? null;
}

function checkDriver(spec: JsonObject, problems: Problems): void {
  const policy = textAt(spec, "fsGroupPolicy");
  if (has(spec, "fsGroupPolicy") && !groupPolicies.includes(policy)) {
    problems.notSupported(specPath.child("fsGroupPolicy"), policy, groupPolicies);
  }
  const requests = objectsAt(spec, "tokenRequests");
  checkTokenRequests(requests, specPath.child("tokenRequests"), problems);
  for (const mode of textsAt(spec, "volumeLifecycleModes")) {
    if (!lifecycleModes.includes(mode)) {
      problems.notSupported(specPath.child("volumeLifecycleModes"), mode, lifecycleModes);
    }
  }
  const period = findNumber(spec, "nodeAllocatableUpdatePeriodSeconds");
  if (period !== undefined && period < minUpdatePeriodSeconds) {
    const why = `must be greater than or equal to ${minUpdatePeriodSeconds} seconds`;
    problems.invalid(specPath.child("nodeAllocatableUpdatePeriodSeconds"), period, why);
  }
  const inSecrets = read(spec, "serviceAccountTokenInSecrets") ?? null;
  if (inSecrets !== null && requests.length === 0) {
    const why = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
    problems.invalid(specPath.child("serviceAccountTokenInSecrets"), inSecrets, why);
  }
}

function checkTokenRequests(requests: readonly JsonObject[], path: FieldPath, problems: Problems): void {
  const audiences = new Set<string>();
  requests.forEach((request, index) => {
    const audience = textAt(request, "audience");
    if (audiences.has(audience)) return problems.duplicate(path.index(index).child("audience"), audience);
    audiences.add(audience);
    const seconds = findNumber(request, "expirationSeconds");
    const place = path.index(index).child("expirationSeconds");
    if (seconds === undefined) return;
    if (seconds < minTokenSeconds) problems.invalid(place, seconds, "may not specify a duration less than 10 minutes");
    if (seconds > maxTokenSeconds) {
      problems.invalid(place, seconds, "may not specify a duration larger than 2^32 seconds");
    }
  });
}

/** CSINode. */
export const csiNodeRules: KindRules = {
  depth: "full",
  allowsUnconditionalUpdate: false,
  validate: checkCsiNode,
  validateUpdate(node, old, problems) {
    checkCsiNode(node, problems);
    const drivers = objectsAt(objectAt(node, "spec"), "drivers").map(shownDriver);
    for (const before of objectsAt(objectAt(old, "spec"), "drivers").map(shownDriver)) {
      for (const driver of drivers) {
        if (driver["Name"] !== before["Name"] || isSameJson(driver, before)) continue;
        problems.invalidStruct(specPath.child("drivers"), driver, fieldIsImmutable);
      }
    }
  },
};

/** A driver in the form of the Go type, without what may be changed. */
function shownDriver(driver: JsonObject): JsonObject {
  const keys = textsAt(driver, "topologyKeys");
  return {
    Name: textAt(driver, "name"),
    NodeID: textAt(driver, "nodeID"),
    TopologyKeys: keys.length === 0 ? null : keys,
    Allocatable: null,
  };
}

function checkCsiNode(node: JsonObject, problems: Problems): void {
  const path = specPath.child("drivers");
  const names = new Set<string>();
  objectsAt(objectAt(node, "spec"), "drivers").forEach((driver, index) => {
    const place = path.index(index);
    const [name, id] = [textAt(driver, "name"), textAt(driver, "nodeID")];
    checkDriverName(name, place.child("name"), problems);
    if (id === "") problems.required(place.child("nodeID"));
    if (utf8Length(id) > maxNodeIdBytes) {
      problems.invalid(place.child("nodeID"), id, `must be ${maxNodeIdBytes} characters or less`);
    }
    checkNotNegative(objectAt(driver, "allocatable"), "count", place.child("allocatable"), problems);
    if (names.has(name)) problems.duplicate(place.child("name"), name);
    names.add(name);
    checkTopologyKeys(textsAt(driver, "topologyKeys"), place, problems);
  });
}

function checkTopologyKeys(keys: readonly string[], place: FieldPath, problems: Problems): void {
  keys.forEach((key, index) => {
    if (key === "") problems.required(place);
    if (keys.indexOf(key) < index) problems.duplicate(place, key);
    problems.invalidAll(place, key, labelKeyErrors(key));
  });
}

/** CSIStorageCapacity. */
export const csiStorageCapacityRules: KindRules = {
  depth: "full",
  allowsUnconditionalUpdate: false,
  validate: (capacity, problems) => checkStorageCapacity(capacity, false, problems),
  validateUpdate(capacity, old, problems) {
    const [topology, before] = [findObject(capacity, "nodeTopology"), findObject(old, "nodeTopology")];
    const own = new Problems();
    checkSelector(before, FieldPath.root, own);
    checkStorageCapacity(capacity, own.count > 0, problems);
    const shown = (selector: JsonObject | undefined) => selector === undefined ? null : shownSelector(selector);
    if (!isSameJson(shown(topology), shown(before))) {
      problems.invalid(FieldPath.of("nodeTopology"), shown(topology), fieldIsImmutable);
    }
    checkImmutable(capacity, old, "storageClassName", FieldPath.of("storageClassName"), problems);
  },
  warnings: (capacity) => nodeSelectorWarnings(objectAt(capacity, "nodeTopology"), FieldPath.of("nodeTopology")),
};

function checkStorageCapacity(capacity: JsonObject, allowsInvalidValues: boolean, problems: Problems): void {
  const topology = findObject(capacity, "nodeTopology");
  checkSelector(topology, FieldPath.of("nodeTopology"), problems, allowsInvalidValues);
  const name = textAt(capacity, "storageClassName");
  problems.invalidAll(FieldPath.of("storageClassName"), name, subdomainErrors(name));
  if (has(capacity, "capacity")) checkAmount(textAt(capacity, "capacity"), FieldPath.of("capacity"), problems);
}

/** VolumeAttributesClass. */
export const volumeAttributesClassRules: KindRules = {
  depth: "full",
  validate: checkAttributesClass,
  validateUpdate(attributes, old, problems) {
    if (textAt(attributes, "driverName") !== textAt(old, "driverName")) {
      problems.forbidden(FieldPath.of("driverName"), "updates to driverName are forbidden.");
    }
    if (!isSameJson(read(attributes, "parameters") ?? null, read(old, "parameters") ?? null)) {
      problems.forbidden(FieldPath.of("parameters"), "updates to parameters are forbidden.");
    }
    checkAttributesClass(attributes, problems);
  },
};

function checkAttributesClass(attributes: JsonObject, problems: Problems): void {
  checkProvisioner(textAt(attributes, "driverName"), FieldPath.of("driverName"), problems);
  const parameters = textMapAt(attributes, "parameters");
  const path = FieldPath.of("parameters");
  checkParameters(parameters, path, problems);
  if (parameters.size === 0) problems.required(path, "must contain at least one key/value pair");
}

/** The defaults of CSIDrivers. */
export const csiDriverDefaults: DefaultsByType = { "storage/v1.CSIDriver": setCsiDriverDefaults };

function setCsiDriverDefaults(draft: Draft): void {
  const spec = draftAt(draft, "spec");
  setIfAbsent(spec, "attachRequired", true);
  setIfAbsent(spec, "podInfoOnMount", false);
  setIfAbsent(spec, "storageCapacity", false);
  setIfAbsent(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
  if (valuesAt(spec, "volumeLifecycleModes").length === 0) spec["volumeLifecycleModes"] = ["Persistent"];
  setIfAbsent(spec, "requiresRepublish", false);
  setIfAbsent(spec, "seLinuxMount", false);
}

/** The cells of a CSIDriver. */
export const csiDriverRow: Row = rowOf(
  nameCell,
  booleanCell("spec.attachRequired", true),
  booleanCell("spec.podInfoOnMount"),
  booleanCell("spec.storageCapacity"),
  tokenRequests,
  booleanCell("spec.requiresRepublish"),
  joinedCell("spec.volumeLifecycleModes", "<none>"),
  ageCell,
);

function tokenRequests(object: JsonObject): Json {
  const spec = objectAt(object, "spec");
  if (read(spec, "tokenRequests") === undefined) return "<unset>";
  return objectsAt(spec, "tokenRequests").map((request) => textAt(request, "audience")).join(",");
}

/** The cells of a CSINode. */
export const csiNodeRow: Row = rowOf(nameCell, countCell("spec.drivers"), ageCell);

/** The cells of a CSIStorageCapacity. */
export const csiStorageCapacityRow: Row = rowOf(nameCell, createdAtCell);

/** The cells of a VolumeAttributesClass. */
export const volumeAttributesClassRow: Row = rowOf(nameCell, textCell("driverName"), ageCell);
