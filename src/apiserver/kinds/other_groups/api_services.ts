/**
 * APIServices: rules, defaults and table row. The texts are those of pkg/apis/apiregistration/validation of kube-aggregator
 * 0.36.
 */
import type { Draft, Json, JsonObject, WriteContext } from "../../model/mod.ts";
import {
  ageCell,
  conditionOf,
  type DefaultsByType,
  FieldPath,
  type KindRules,
  label1035Errors,
  nameCell,
  pathSegmentName,
  portErrors,
  type Problems,
  type Row,
  rowOf,
  subdomainErrors,
} from "../rules/mod.ts";
import {
  base64Bytes,
  booleanAt,
  findObject,
  formatTime,
  has,
  nameOf,
  numberAt,
  objectAt,
  objectsAt,
  setIfAbsent,
  textAt,
} from "../types/mod.ts";

const specPath = FieldPath.of("spec");
const maxGroupPriority = 20_000;
const maxVersionPriority = 1_000;
const conditionStatuses = ["True", "False", "Unknown"];

/** APIService. */
export const apiServiceRules: KindRules = {
  depth: "full",
  allowsPlainFinalizers: true,
  statusMetadata: "none",
  allowsUnconditionalUpdate: false,
  validateName: pathSegmentName,
  prepareForCreate: setAvailable,
  validate: checkApiService,
  validateStatus(service, _old, problems) {
    objectsAt(objectAt(service, "status"), "conditions").forEach((condition, index) => {
      const status = textAt(condition, "status");
      const place = FieldPath.of("status", "conditions").index(index).child("status");
      if (!conditionStatuses.includes(status)) problems.notSupported(place, status, conditionStatuses);
    });
  },
};

/** An APIService without a Service names a group of the API server itself. */
function setAvailable(draft: Draft, { now }: WriteContext): void {
  if (has(objectAt(draft, "spec"), "service")) return;
  const condition = {
    type: "Available",
    status: "True",
    lastTransitionTime: formatTime(now),
    reason: "Local",
    message: "Local APIServices are always available",
  };
  draft["status"] = { conditions: [condition] };
}

function checkApiService(object: JsonObject, problems: Problems): void {
  const spec = objectAt(object, "spec");
  const [group, version] = [textAt(spec, "group"), textAt(spec, "version")];
  const [name, requiredName] = [nameOf(object), `${version}.${group}`];
  if (name !== requiredName && pathSegmentName(name, false).length === 0) {
    const why = `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(requiredName)}`;
    problems.invalid(FieldPath.of("metadata", "name"), name, why);
  }
  if (group === "" && version !== "v1") {
    problems.required(specPath.child("group"), "only v1 may have an empty group and it better be legacy kube");
  }
  if (group !== "") problems.invalidAll(specPath.child("group"), group, subdomainErrors(group));
  problems.invalidAll(specPath.child("version"), version, label1035Errors(version));
  checkPriority(spec, "groupPriorityMinimum", maxGroupPriority, problems);
  checkPriority(spec, "versionPriority", maxVersionPriority, problems);
  checkTarget(spec, problems);
}

function checkPriority(spec: JsonObject, key: string, max: number, problems: Problems): void {
  const priority = numberAt(spec, key);
  if (priority > 0 && priority <= max) return;
  problems.invalid(specPath.child(key), priority, `must be positive and less than ${max}`);
}

function checkTarget(spec: JsonObject, problems: Problems): void {
  const service = findObject(spec, "service");
  const bundleBytes = base64Bytes(textAt(spec, "caBundle"));
  const isInsecure = booleanAt(spec, "insecureSkipTLSVerify");
  const insecurePath = specPath.child("insecureSkipTLSVerify");
  if (service === undefined) {
    if (bundleBytes > 0) {
      problems.invalid(specPath.child("caBundle"), `${bundleBytes} bytes`, "local APIServices may not have a caBundle");
    }
    if (isInsecure) problems.invalid(insecurePath, true, "local APIServices may not have insecureSkipTLSVerify");
    return;
  }
  const path = specPath.child("service");
  for (const key of ["namespace", "name"]) if (textAt(service, key) === "") problems.required(path.child(key));
  const port = numberAt(service, "port");
  const errors = portErrors(port);
  if (errors.length > 0) problems.invalid(path.child("port"), port, `port is not valid: ${errors.join(", ")}`);
  if (isInsecure && bundleBytes > 0) problems.invalid(insecurePath, true, "may not be true if caBundle is present");
}

/** The defaults of APIServices. */
export const apiServiceDefaults: DefaultsByType = {
  "apiregistration/v1.ServiceReference": (draft) => setIfAbsent(draft, "port", 443),
};

/** The cells of an APIService. */
export const apiServiceRow: Row = rowOf(nameCell, apiServiceTarget, apiServiceState, ageCell);

function apiServiceTarget(object: JsonObject): Json {
  const service = findObject(objectAt(object, "spec"), "service");
  return service === undefined ? "Local" : `${textAt(service, "namespace")}/${textAt(service, "name")}`;
}

function apiServiceState(object: JsonObject): Json {
  const available = conditionOf(objectAt(object, "status"), "Available");
  if (available === undefined) return "Unknown";
  const [status, reason] = [textAt(available, "status"), textAt(available, "reason")];
  return status === "True" || reason === "" ? status : `${status} (${reason})`;
}
