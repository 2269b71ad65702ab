/** Rules of updates of the status of a Pod, which a kubelet reports. */
import { type Draft, type JsonObject, labelKeyErrors } from "../../model/mod.ts";
import { checkImmutable, FieldPath, ipErrors, parseIp, type Problems, subdomainErrors } from "../rules/mod.ts";
import { draftsAt, has, numberAt, objectAt, objectIn, objectsAt, setIfZero, textAt } from "../types/mod.ts";
import { isSidecar } from "./pod_containers.ts";
import { checkPodAnnotationChange } from "./pod_updates.ts";

const systemConditions = ["PodScheduled", "Ready", "Initialized"];
const notNegative = "must be a non-negative integer";

/** Keeps observed generations that the writer leaves out. */
export function restoreObservedGenerations(status: Draft, before: JsonObject): void {
  if (numberAt(before, "observedGeneration") !== 0) {
    setIfZero(status, "observedGeneration", numberAt(before, "observedGeneration"));
  }
  const old = [...objectsAt(before, "conditions")];
  for (const condition of draftsAt(status, "conditions")) {
    const index = old.findIndex((one) => textAt(one, "type") === textAt(condition, "type"));
    const [found] = index < 0 ? [] : old.splice(index, 1);
    const generation = numberAt(found ?? {}, "observedGeneration");
    if (generation !== 0) setIfZero(condition, "observedGeneration", generation);
  }
}

/** Checks an update of the status. */
export function checkPodStatus(pod: JsonObject, old: JsonObject, problems: Problems): void {
  const [status, before] = [objectAt(pod, "status"), objectAt(old, "status")];
  const path = FieldPath.of("status");
  checkPodAnnotationChange(pod, old, problems);
  checkConditions(status, path.child("conditions"), problems);
  checkNomination(pod, old, path.child("nominatedNodeName"), problems);
  if (numberAt(status, "observedGeneration") < 0) {
    problems.invalid(path.child("observedGeneration"), numberAt(status, "observedGeneration"), notNegative);
  }
  checkImmutable(status, before, "qosClass", path.child("qosClass"), problems);
  for (
    const [key, containers] of [["containerStatuses", "containers"], [
      "initContainerStatuses",
      "initContainers",
    ]] as const
  ) {
    checkTransitions(pod, old, { key, containers }, path.child(key), problems);
  }
  checkTransitions(pod, old, { key: "ephemeralContainerStatuses" }, path.child("ephemeralContainerStatuses"), problems);
  checkAddresses(status, before, "podIPs", path.child("podIPs"), problems);
  const first = objectsAt(status, "hostIPs")[0];
  if (first !== undefined && textAt(first, "ip") !== textAt(status, "hostIP")) {
    problems.invalid(path.child("hostIPs").index(0).child("ip"), textAt(first, "ip"), "must be equal to `hostIP`");
  }
  checkAddresses(status, before, "hostIPs", path.child("hostIPs"), problems);
}

function checkConditions(status: JsonObject, path: FieldPath, problems: Problems): void {
  objectsAt(status, "conditions").forEach((condition, index) => {
    const generation = numberAt(condition, "observedGeneration");
    if (generation < 0) problems.invalid(path.index(index).child("observedGeneration"), generation, notNegative);
    const type = textAt(condition, "type");
    if (!systemConditions.includes(type)) {
      problems.invalidAll(path.index(index).child("Type"), type, labelKeyErrors(type));
    }
  });
}

function checkNomination(pod: JsonObject, old: JsonObject, path: FieldPath, problems: Problems): void {
  const name = textAt(objectAt(pod, "status"), "nominatedNodeName");
  if (name === "" || name === textAt(objectAt(old, "status"), "nominatedNodeName")) return;
  problems.invalidAll(path, name, subdomainErrors(name));
  if (textAt(objectAt(old, "spec"), "nodeName") === "") return;
  problems.forbidden(path, "may not be set on pods that are already bound to a node");
}

/** Checks that a terminated container stays terminated, unless it may be restarted. */
function checkTransitions(
  pod: JsonObject,
  old: JsonObject,
  { key, containers }: { readonly key: string; readonly containers?: "containers" | "initContainers" },
  path: FieldPath,
  problems: Problems,
): void {
  const spec = objectAt(old, "spec");
  if (containers !== undefined && mayAllRestart(spec)) return;
  const statuses = objectsAt(objectAt(pod, "status"), key);
  objectsAt(objectAt(old, "status"), key).forEach((before, index) => {
    const ended = objectIn(before, "state", "terminated");
    if (!has(objectAt(before, "state"), "terminated")) return;
    const name = textAt(before, "name");
    const now = statuses.find((one) => textAt(one, "name") === name && !has(objectAt(one, "state"), "terminated"));
    if (now === undefined) return;
    const container = containers === undefined
      ? undefined
      : objectsAt(spec, containers).find((one) => textAt(one, "name") === name);
    if (container !== undefined && isRestarted(container, spec, numberAt(ended, "exitCode"))) return;
    problems.forbidden(path.index(index).child("state"), "may not be transitioned to non-terminated state");
  });
}

function mayAllRestart(spec: JsonObject): boolean {
  return [...objectsAt(spec, "initContainers"), ...objectsAt(spec, "containers")].some((container) =>
    objectsAt(container, "restartPolicyRules").some((rule) => textAt(rule, "action") === "RestartAllContainers")
  );
}

function isRestarted(container: JsonObject, spec: JsonObject, exitCode: number): boolean {
  if (isSidecar(container)) return true;
  const isMeant = objectsAt(container, "restartPolicyRules").some((rule) => {
    const codes = objectAt(rule, "exitCodes");
    const values = codes["values"];
    const isListed = Array.isArray(values) && values.includes(exitCode);
    return isListed === (textAt(codes, "operator") === "In");
  });
  if (has(container, "restartPolicy") && isMeant) return true;
  const policy = has(container, "restartPolicy") ? textAt(container, "restartPolicy") : textAt(spec, "restartPolicy");
  return policy === "OnFailure" ? exitCode !== 0 : policy !== "Never";
}

function checkAddresses(
  status: JsonObject,
  before: JsonObject,
  key: string,
  path: FieldPath,
  problems: Problems,
): void {
  const known = objectsAt(before, key).map((each) => textAt(each, "ip"));
  const addresses = objectsAt(status, key).map((each) => textAt(each, "ip"));
  addresses.forEach((ip, index) => problems.invalidAll(path.index(index), ip, ipErrors(ip, known)));
  const wrong = addresses.findIndex((ip) => parseIp(ip) === undefined);
  if (addresses.length > 1 && wrong >= 0) {
    problems.internal(path, `failed to check for dual stack with error:invalid IP[${wrong}]: ${addresses[wrong]}`);
  }
  const families = new Set(addresses.map((ip) => parseIp(ip)?.family));
  if (addresses.length > 1 && (wrong >= 0 || families.size < 2 || addresses.length > 2)) {
    problems.invalid(path, addresses.map((IP) => ({ IP })), "may specify no more than one IP for each IP family");
  }
}
