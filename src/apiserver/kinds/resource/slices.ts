/**
 * ResourceSlices: rules. A slice lists the devices of a driver in a pool, or the counters that they share. A kubelet may list
 * only the slices of its Node.
 */
import { type Draft, isSameJson, type Json, type JsonObject, read, type WriteContext } from "../../model/mod.ts";
import {
  checkFormat,
  type DeclaredChecks,
  fieldIsImmutable,
  FieldPath,
  internalValue,
  type KindRules,
  type Problems,
  type StructCheck,
  subdomainErrors,
} from "../rules/mod.ts";
import { checkNodeSelector } from "../pods/mod.ts";
import {
  booleanAt,
  draftAt,
  draftsAt,
  findDraft,
  formatTime,
  has,
  numberAt,
  objectAt,
  objectsAt,
  setIfAbsent,
  textAt,
} from "../types/mod.ts";
import { checkCapacity } from "./capacities.ts";
import { checkBindingConditions, deviceChecks } from "./device_checks.ts";

const specPath = FieldPath.of("spec");
const maxDevices = 128;
const maxDevicesWithFeatures = 64;
const maxAttributes = 32;
const maxAttributeValues = 48;
const maxValueBytes = 64;
const maxKeyLength = 63 + 1 + 32;
const listAttributes = ["bools", "ints", "strings", "versions"];

const semver = (() => {
  const [number, build] = ["(0|[1-9]\\d*)", "[0-9a-zA-Z-]+"];
  const pre = "(0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)";
  return new RegExp(`^${number}\\.${number}\\.${number}(-${pre}(\\.${pre})*)?(\\+${build}(\\.${build})*)?$`);
})();

const checks: DeclaredChecks = deviceChecks(() => {}, {
  "resource/v1.ResourceSliceSpec": checkSpec,
  "resource/v1.ResourcePool": checkPool,
  "resource/v1.Device": checkDevice,
  "resource/v1.DeviceAttribute": checkAttribute,
});

/** ResourceSlice. */
export const resourceSliceRules: KindRules = {
  depth: "full",
  generationFields: ["spec"],
  fieldSelectors: new Map(
    ["nodeName", "driver"].map((key) =>
      [`spec.${key}`, (slice: JsonObject) => textAt(objectAt(slice, "spec"), key)] as const
    ),
  ),
  prepareForCreate: prepare,
  prepareForUpdate: (draft, _, context) => prepare(draft, context),
  validate: (object, problems) => check(object, undefined, problems),
  validateUpdate: (object, old, problems) => check(object, old, problems),
  warnings(object) {
    const driver = textAt(objectAt(object, "spec"), "driver");
    if (driver === driver.toLowerCase()) return [];
    return [`spec.driver: driver names should be lowercase; ${JSON.stringify(driver)} contains uppercase characters`];
  },
};

/** Sets the times of taints, and drops what features of alpha stage would allow. */
function prepare(draft: Draft, { now }: WriteContext): void {
  for (const device of draftsAt(draftAt(draft, "spec"), "devices")) {
    delete device["nodeAllocatableResourceMappings"];
    for (const taint of draftsAt(device, "taints")) setIfAbsent(taint, "timeAdded", formatTime(now));
    const attributes = findDraft(device, "attributes") ?? {};
    for (const name of Object.keys(attributes)) {
      const attribute = findDraft(attributes, name) ?? {};
      for (const key of listAttributes) delete attribute[key];
    }
  }
}

function check(object: JsonObject, old: JsonObject | undefined, problems: Problems): void {
  const before = old === undefined ? undefined : objectAt(old, "spec");
  checks.check("resource/v1.ResourceSliceSpec", objectAt(object, "spec"), specPath, problems, before);
}

function checkSpec(check: StructCheck): void {
  const { object, old, path, problems } = check;
  check.field("driver");
  check.field("pool");
  if (old !== undefined) checkUnchanged(object, old, path, problems);
  const places = ["nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection"];
  const set = checkNodePlaces(object, places, path, "must be either unset or set to a non-empty string", problems);
  const terms = objectsAt(objectAt(object, "nodeSelector"), "nodeSelectorTerms");
  if (has(object, "nodeSelector") && terms.length !== 1) {
    const value = terms.map((term) => internalValue("core/v1.NodeSelectorTerm", term));
    problems.invalid(
      path.child("nodeSelector", "nodeSelectorTerms"),
      value,
      "must have exactly one node selector term",
    );
  }
  const one = `exactly one of ${places.map((name) => `\`${name}\``).join(", ")} is required`;
  if (set.length === 0) problems.required(path, one);
  else if (set.length > 1) problems.invalid(path, shownFields(set), `${one}, but multiple fields are set`);
  if (has(object, "sharedCounters") && has(object, "devices")) {
    problems.invalid(path, "", "only one of `sharedCounters` or `devices` is allowed");
  }
  const devices = objectsAt(object, "devices");
  const usesFeatures = devices.some((device) =>
    ["taints", "consumesCounters"].some((key) => objectsAt(device, key).length > 0)
  );
  const max = usesFeatures ? maxDevicesWithFeatures : maxDevices;
  if (devices.length > max) problems.tooMany(path.child("devices"), devices.length, max);
  else checkDevices(check, devices);
  check.field("sharedCounters");
}

function checkDevices(check: StructCheck, devices: readonly JsonObject[]): void {
  check.field("devices");
  const names = devices.map((device) => textAt(device, "name"));
  names.forEach((name, index) => {
    if (names.indexOf(name) < index) check.problems.duplicate(check.path.child("devices").index(index), name);
  });
}

function checkUnchanged(spec: JsonObject, old: JsonObject, path: FieldPath, problems: Problems): void {
  const compare = (now: Json | undefined, before: Json | undefined, place: FieldPath) => {
    if (!isSameJson(now ?? null, before ?? null)) problems.invalid(place, now ?? null, fieldIsImmutable);
  };
  compare(read(objectAt(spec, "pool"), "name"), read(objectAt(old, "pool"), "name"), path.child("pool", "name"));
  for (const key of ["driver", "nodeName"]) compare(read(spec, key), read(old, key), path.child(key));
}

/** Checks the fields that say on which Nodes devices are. @returns those that are set */
function checkNodePlaces(
  object: JsonObject,
  names: readonly string[],
  path: FieldPath,
  emptyName: string,
  problems: Problems,
): readonly string[] {
  return names.filter((name) => {
    if (!has(object, name)) return false;
    const place = path.child(name);
    if (name === "nodeName") {
      const node = textAt(object, name);
      if (node === "") problems.invalid(place, node, emptyName);
      else problems.invalidAll(place, node, subdomainErrors(node));
      return node !== "";
    }
    if (name === "nodeSelector") {
      checkNodeSelector(objectAt(object, name), place, problems);
      return true;
    }
    if (!booleanAt(object, name)) problems.invalid(place, false, "must be either unset or set to true");
    return booleanAt(object, name);
  });
}

function shownFields(names: readonly string[]): string {
  return `{${names.map((name) => `\`${name}\``).join(", ")}}`;
}

function checkPool(check: StructCheck): void {
  const { object, path, problems } = check;
  check.field("name");
  const [count, generation] = [numberAt(object, "resourceSliceCount"), numberAt(object, "generation")];
  if (count <= 0) problems.invalid(path.child("resourceSliceCount"), count, "must be greater than zero");
  if (generation < 0) problems.invalid(path.child("generation"), generation, "must be greater than or equal to zero");
}

function checkDevice(check: StructCheck): void {
  const { object, path, problems } = check;
  check.field("name");
  const [attributes, capacity] = [objectAt(object, "attributes"), objectAt(object, "capacity")];
  const [attributeCount, total] = [
    Object.keys(attributes).length,
    Object.keys(attributes).length + Object.keys(capacity).length,
  ];
  const limit = (what: string, max: number) => `the total number of ${what} must not exceed ${max}`;
  if (total > maxAttributes) problems.invalid(path, total, limit("attributes and capacities", maxAttributes));
  if (attributeCount > maxAttributeValues) {
    problems.invalid(path, attributeCount, limit("attribute values", maxAttributeValues));
  }
  checkNames(attributes, path.child("attributes"), problems, (name, place) => {
    checks.check("resource/v1.DeviceAttribute", objectAt(attributes, name), place, problems);
  });
  const isShared = booleanAt(object, "allowMultipleAllocations");
  checkNames(capacity, path.child("capacity"), problems, (name, place) => {
    checkCapacity(objectAt(capacity, name), isShared, place, problems);
  });
  if (!hasSameTaints(check)) check.field("taints");
  check.field("consumesCounters");
  checkDeviceNodes(check);
  checkBindingConditions(check);
}

/** Checks the names of attributes or capacities, and each value at a path with its name, which is cut in the middle. */
function checkNames(
  map: JsonObject,
  path: FieldPath,
  problems: Problems,
  checkValue: (name: string, place: FieldPath) => void,
): void {
  for (const name of Object.keys(map)) {
    checkFormat("k8s-resource-qualified-name", name, path, problems);
    const left = Math.floor((maxKeyLength - 3 + 1) / 2);
    const right = Math.floor((maxKeyLength - 3) / 2);
    const shown = name.length <= maxKeyLength ? name : `${name.slice(0, left)}...${name.slice(name.length - right)}`;
    checkValue(name, path.key(shown));
  }
}

/** Taints that an update keeps are not checked again. */
function hasSameTaints({ object, parent }: StructCheck): boolean {
  const known = objectsAt(parent?.old ?? {}, "devices").find((device) =>
    textAt(device, "name") === textAt(object, "name")
  );
  return known !== undefined && isSameJson(read(known, "taints") ?? null, read(object, "taints") ?? null);
}

function checkDeviceNodes({ object, parent, path, problems }: StructCheck): void {
  const places = ["nodeName", "nodeSelector", "allNodes"];
  if (!booleanAt(parent?.object ?? {}, "perDeviceNodeSelection")) {
    if (!places.some((name) => has(object, name))) return;
    const only = "can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
    return problems.invalid(path, null, `\`nodeName\`, \`nodeSelector\` and \`allNodes\` ${only}`);
  }
  const set = checkNodePlaces(object, places, path, "must not be empty", problems);
  const one =
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set " +
    "to true in the ResourceSlice spec";
  if (set.length === 0) problems.required(path, one);
  else if (set.length > 1) problems.invalid(path, shownFields(set), one);
}

function checkAttribute(check: StructCheck): void {
  const { object, path, problems } = check;
  const tooLong = (key: string) => {
    if (new TextEncoder().encode(textAt(object, key)).length > maxValueBytes) {
      problems.tooLong(path.child(key), maxValueBytes);
    }
  };
  const members = check.setMembers();
  if (members.includes("string")) tooLong("string");
  if (members.includes("version")) {
    const version = textAt(object, "version");
    const why = "must be a string compatible with semver.org spec 2.0.0";
    if (!semver.test(version)) problems.invalid(path.child("version"), version, why);
    tooLong("version");
  }
  if (members.length === 1) return;
  const why = "exactly one value must be specified";
  if (members.length === 0) problems.invalid(path, "", why);
  else problems.invalidStruct(path, shownAttribute(object), why);
}

/** As the Go struct is shown. */
function shownAttribute(object: JsonObject): JsonObject {
  const keys = [["int", "IntValue"], ["bool", "BoolValue"], ["string", "StringValue"], ["version", "VersionValue"]];
  const single = keys.map(([key = "", name = ""]) => [name, read(object, key) ?? null] as const);
  const lists = ["IntValues", "BoolValues", "StringValues", "VersionValues"].map((name) => [name, null] as const);
  return Object.fromEntries([...single, ...lists]);
}
