/**
 * Names and amounts of resources (`cpu`, `memory`, `example.com/gpu`), the requests, limits and claims of containers, and
 * those of a Pod as a whole (`spec.resources`).
 */
import { type JsonObject, labelKeyErrors } from "../../model/mod.ts";
import { type FieldPath, labelErrors, mustNotBeNegative, type Problems } from "../rules/mod.ts";
import {
  compareQuantities,
  findObject,
  has,
  objectAt,
  objectsAt,
  parseQuantity,
  textAt,
  textMapAt,
} from "../types/mod.ts";
import { aggregateResources } from "./pod_containers.ts";

const integers = [
  "pods",
  "resourcequotas",
  "services",
  "replicationcontrollers",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "services.nodeports",
  "services.loadbalancers",
];

const computes = ["cpu", "memory", "ephemeral-storage"];

const quotas = [
  ...computes,
  "requests.cpu",
  "requests.memory",
  "requests.storage",
  "requests.ephemeral-storage",
  "limits.cpu",
  "limits.memory",
  "limits.ephemeral-storage",
  ...integers,
];

const standards = [...quotas, "storage"];
const nanosPerMilli = 1_000_000n;
const notInteger = "must be an integer";

/** True for `hugepages-2Mi` and other huge pages. */
function isHugePages(name: string): boolean {
  return name.startsWith("hugepages-");
}

function isQuotaHugePages(name: string): boolean {
  return isHugePages(name) || name.startsWith("requests.hugepages-");
}

/** True for resources of Kubernetes itself. */
function isNative(name: string): boolean {
  return !name.includes("/") || name.includes("kubernetes.io/");
}

/** True for extended resources, e.g. `example.com/gpu`. */
function isExtended(name: string): boolean {
  return !isNative(name) && !name.startsWith("requests.") && labelKeyErrors(`requests.${name}`).length === 0;
}

/** True when a request may be less than the limit. */
export function allowsOvercommit(name: string): boolean {
  return isNative(name) && !isHugePages(name);
}

/** Checks the name of a resource. @returns true when it is valid */
export function checkResourceName(name: string, path: FieldPath, problems: Problems): boolean {
  const errors = labelKeyErrors(name);
  problems.invalidAll(path, name, errors);
  if (errors.length > 0) return false;
  if (name.includes("/") || standards.includes(name) || isQuotaHugePages(name)) return true;
  problems.invalid(path, name, "must be a standard resource type or fully qualified");
  return false;
}

/** Checks the name of a resource of a container. */
export function checkContainerResourceName(name: string, path: FieldPath, problems: Problems): void {
  checkResourceName(name, path, problems);
  if (!name.includes("/")) {
    if (!computes.includes(name) && !isHugePages(name)) {
      problems.invalid(path, name, "must be a standard resource for containers");
    }
  } else if (!isNative(name) && !isExtended(name)) {
    problems.invalid(path, name, "doesn't follow extended resource name standard");
  }
}

/** Checks the name of a resource of a Pod as a whole. */
function checkPodResourceName(name: string, path: FieldPath, problems: Problems): void {
  if (!checkResourceName(name, path, problems)) return;
  if (name !== "cpu" && name !== "memory" && !isHugePages(name)) {
    problems.notSupported(path, name, ["cpu", "hugepages-", "memory"]);
  }
}

/** Checks the name of a resource of a quota. */
export function checkQuotaResourceName(name: string, path: FieldPath, problems: Problems): void {
  checkResourceName(name, path, problems);
  if (!name.includes("/") && !quotas.includes(name) && !isQuotaHugePages(name)) {
    problems.invalid(path, name, "must be a standard resource for quota");
  }
}

/** True for the names that a quota can limit without a prefix. */
export function isStandardQuota(name: string): boolean {
  return quotas.includes(name);
}

/** Checks that an amount is not negative, and is an integer for countable resources. */
export function checkResourceAmount(name: string, amount: string, path: FieldPath, problems: Problems): void {
  if (compareQuantities(amount, "0") < 0) problems.invalid(path, amount, mustNotBeNegative);
  const isCounted = integers.includes(name) || isExtended(name);
  if (isCounted && !isInteger(amount)) problems.invalid(path, amount, notInteger);
}

/** The real server looks at the thousandths, as an int64 that may overflow: `1Ei` is no integer. */
function isInteger(amount: string): boolean {
  const { nano, isShort } = parseQuantity(amount);
  if (nano % nanosPerMilli !== 0n) return false;
  const milli = nano / nanosPerMilli;
  // A number of up to 18 digits that overflows becomes 0.
  return (isShort && BigInt.asIntN(64, milli) !== milli) || BigInt.asIntN(64, milli) % 1000n === 0n;
}

/** Checks the name of a resource. */
type NameCheck = (name: string, path: FieldPath, problems: Problems) => void;

/** Checks the limits and requests of a container or of a Pod. */
export function checkResourceRequirements(
  resources: JsonObject,
  path: FieldPath,
  problems: Problems,
  checkName: NameCheck = checkContainerResourceName,
): void {
  const limits = textMapAt(resources, "limits");
  const requests = textMapAt(resources, "requests");
  for (const [name, amount] of limits) checkOne(name, amount, path.child("limits").key(name), problems, checkName);
  for (const [name, amount] of requests) {
    checkOne(name, amount, path.child("requests").key(name), problems, checkName);
    checkRequest(name, amount, limits.get(name), path, problems);
  }
  const names = [...limits.keys(), ...requests.keys()];
  if (names.some(isHugePages) && !names.includes("cpu") && !names.includes("memory")) {
    problems.forbidden(path, "HugePages require cpu or memory");
  }
}

function checkOne(name: string, amount: string, path: FieldPath, problems: Problems, checkName: NameCheck): void {
  checkName(name, path, problems);
  checkResourceAmount(name, amount, path, problems);
  if (isHugePages(name) && !isDivisible(name, amount)) {
    problems.invalid(path, amount, `${amount} is not positive integer multiple of ${name}`);
  }
}

function isDivisible(name: string, amount: string): boolean {
  try {
    const page = parseQuantity(name.slice("hugepages-".length)).nano;
    return page > 0n && page % (1000n * nanosPerMilli) === 0n && parseQuantity(amount).nano % page === 0n;
  } catch {
    return false;
  }
}

function checkRequest(
  name: string,
  amount: string,
  limit: string | undefined,
  path: FieldPath,
  problems: Problems,
): void {
  const place = path.child("requests");
  if (limit === undefined) {
    if (allowsOvercommit(name)) return;
    return problems.required(path.child("limits"), "Limit must be set for non overcommitable resources");
  }
  const order = compareQuantities(amount, limit);
  if (order !== 0 && !allowsOvercommit(name)) {
    problems.invalid(place, amount, `must be equal to ${name} limit of ${limit}`);
  } else if (order > 0) problems.invalid(place, amount, `must be less than or equal to ${name} limit of ${limit}`);
}

/** Checks `spec.resources`. */
export function checkPodResources(spec: JsonObject, path: FieldPath, problems: Problems): void {
  const resources = findObject(spec, "resources");
  if (resources === undefined) return;
  if (has(resources, "claims")) {
    problems.forbidden(path.child("claims"), "claims may not be set for Resources at pod-level");
  }
  checkResourceRequirements(resources, path, problems, checkPodResourceName);
  checkClaimNames(resources, spec, path.child("claims"), problems);
  for (const key of ["requests", "limits"] as const) checkSum(spec, resources, key, path.child(key), problems);
  checkEach(spec, resources, path, problems);
}

function checkSum(
  spec: JsonObject,
  resources: JsonObject,
  key: "limits" | "requests",
  path: FieldPath,
  problems: Problems,
): void {
  const whole = textMapAt(resources, key);
  for (const [name, sum] of aggregateResources(spec, key)) {
    const amount = whole.get(name);
    if (amount === undefined || (key === "limits" && !isHugePages(name)) || compareQuantities(sum, amount) <= 0) {
      continue;
    }
    problems.invalid(path.key(name), amount, `must be greater than or equal to aggregate container ${key} of ${sum}`);
  }
}

function checkEach(spec: JsonObject, resources: JsonObject, path: FieldPath, problems: Problems): void {
  const limits = textMapAt(resources, "limits");
  objectsAt(spec, "containers").forEach((container, index) => {
    for (const [name, amount] of textMapAt(objectAt(container, "resources"), "limits")) {
      const limit = limits.get(name);
      if (limit === undefined || compareQuantities(amount, limit) <= 0) continue;
      const place = path.child("containers").index(index).key(name).child("limits");
      problems.invalid(place, amount, `must be less than or equal to pod limits of ${limit}`);
    }
  });
}

/** Checks `resources.claims` of a container or of a Pod. @param spec of the Pod */
export function checkClaimNames(resources: JsonObject, spec: JsonObject, path: FieldPath, problems: Problems): void {
  const known = [...new Set(objectsAt(spec, "resourceClaims").map((claim) => textAt(claim, "name")))].filter((name) =>
    name !== ""
  ).sort();
  const tail = known.length === 0 ? " which is empty" : `: ${known.join(", ")}`;
  const seen = new Set<string>();
  objectsAt(resources, "claims").forEach((claim, index) => {
    const place = path.index(index);
    const [name, request] = [textAt(claim, "name"), textAt(claim, "request")];
    if (name === "") return problems.required(place);
    checkRepeated(name, request, seen, place, problems);
    if (!known.includes(name)) {
      problems.notFound(place, name, `must be one of the names in pod.spec.resourceClaims${tail}`);
    }
  });
}

function checkRepeated(name: string, request: string, seen: Set<string>, path: FieldPath, problems: Problems): void {
  if (seen.has(name)) return problems.duplicate(path, name);
  if (request !== "") problems.invalidAll(path.child("request"), request, labelErrors(request));
  const key = request === "" ? name : `${name}/${request}`;
  if (seen.has(key)) problems.duplicate(path, key);
  else if (request === "" && [...seen].some((one) => one.startsWith(`${name}/`))) problems.duplicate(path, name);
  seen.add(key);
}
