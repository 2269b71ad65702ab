/**
 * Priority: sets the priority of a Pod from its PriorityClass. Source: kubernetes `plugin/pkg/admission/priority` of 1.36.
 */
import {
  draftAt,
  findNumber,
  nameOf,
  numberAt,
  objectAt,
  setIfAbsent,
  systemPriorities,
  textAt,
} from "../kinds/mod.ts";
import type { AdmissionPlugin, AdmissionRequest, Draft, JsonObject, ObjectReader } from "../model/mod.ts";
import { forbiddenError, newObject } from "./_request.ts";

/** The collection of the classes. */
export const priorityCollection = "priorityclasses.scheduling.k8s.io";

/** The settings of a class. */
interface Priority {
  readonly className: string;
  readonly value: number;
  readonly preemptionPolicy: string;
}

/** The plugin for Pods. */
export function priorities(objects: ObjectReader): AdmissionPlugin {
  return {
    name: "Priority",
    admit(request) {
      const { operation, subresource, object, oldObject } = request;
      if (subresource !== "" || object === undefined) return;
      if (operation === "UPDATE" && oldObject !== undefined) return restorePriority(draftAt(object, "spec"), oldObject);
      if (newObject(request) !== undefined) setPriority(request, draftAt(object, "spec"), objects);
    },
  };
}

/** The plugin for PriorityClasses: at most one of them is the global default. */
export function priorityClasses(objects: ObjectReader): AdmissionPlugin {
  return {
    name: "Priority",
    validate(request) {
      const { operation, subresource, object } = request;
      if (object === undefined || subresource !== "" || object["globalDefault"] !== true) return;
      const other = defaultClass(objects);
      if (other === undefined || (operation === "UPDATE" && nameOf(other) === nameOf(object))) return;
      const why = `PriorityClass ${nameOf(other)} is already marked as default. Only one default can exist`;
      throw forbiddenError(request, why);
    },
  };
}

/** An update without these fields keeps the old values; the rules of Pods reject a change. */
function restorePriority(spec: Draft, old: JsonObject): void {
  const before = objectAt(old, "spec");
  const priority = findNumber(before, "priority");
  if (priority !== undefined) setIfAbsent(spec, "priority", priority);
  const policy = textAt(before, "preemptionPolicy");
  if (policy !== "") setIfAbsent(spec, "preemptionPolicy", policy);
}

function setPriority(request: AdmissionRequest, spec: Draft, objects: ObjectReader): void {
  const { className, value, preemptionPolicy } = priorityOf(request, textAt(spec, "priorityClassName"), objects);
  const by = (computed: string | number) =>
    `must not be provided in pod spec; priority admission controller computed ${computed} from the given ` +
    "PriorityClass name";
  if (className !== "") spec["priorityClassName"] = className;
  const own = findNumber(spec, "priority");
  if (own !== undefined && own !== value) {
    throw forbiddenError(request, `the integer value of priority (${own}) ${by(value)}`);
  }
  spec["priority"] = value;
  const policy = textAt(spec, "preemptionPolicy");
  if (policy !== "" && policy !== preemptionPolicy) {
    throw forbiddenError(request, `the string value of PreemptionPolicy (${policy}) ${by(preemptionPolicy)}`);
  }
  spec["preemptionPolicy"] = preemptionPolicy;
}

function priorityOf(request: AdmissionRequest, name: string, objects: ObjectReader): Priority {
  if (name === "") {
    const found = defaultClass(objects);
    return found === undefined
      ? { className: "", value: 0, preemptionPolicy: "PreemptLowerPriority" }
      : readClass(found);
  }
  const found = objects.get(priorityCollection, "", name);
  if (found !== undefined) return readClass(found);
  const value = systemPriorities.get(name);
  if (value === undefined) throw forbiddenError(request, `no PriorityClass with name ${name} was found`);
  return { className: name, value, preemptionPolicy: "PreemptLowerPriority" };
}

function readClass(object: JsonObject): Priority {
  const preemptionPolicy = textAt(object, "preemptionPolicy") || "PreemptLowerPriority";
  return { className: nameOf(object), value: numberAt(object, "value"), preemptionPolicy };
}

/** The global default; the lowest if a race created several. */
function defaultClass(objects: ObjectReader): JsonObject | undefined {
  let found: JsonObject | undefined;
  for (const each of objects.list(priorityCollection)) {
    if (each["globalDefault"] !== true) continue;
    if (found === undefined || numberAt(each, "value") < numberAt(found, "value")) found = each;
  }
  return found;
}
