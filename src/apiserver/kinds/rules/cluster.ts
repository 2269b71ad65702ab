/** Rules of what a cluster runs on: Nodes, Leases, RuntimeClasses, PriorityClasses. */
import { type Draft, isSameJson, type JsonObject, labelKeyErrors, read } from "../../model/mod.ts";
import { checkImmutable, checkLabels } from "../checks.ts";
import {
  draftAt,
  findNumber,
  findObject,
  flagAt,
  has,
  nameOf,
  numberAt,
  objectAt,
  objectsAt,
  textAt,
  textMapAt,
  textsAt,
} from "../fields.ts";
import { labelErrors, notNegative } from "../formats.ts";
import { cidrErrors, cidrWarnings, parseCidr } from "../ip.ts";
import type { KindRules } from "../kind_rules.ts";
import { FieldPath, type Problems } from "../problems.ts";
import { checkResourceAmount, checkResourceRequirements } from "../resources.ts";
import { checkTaints, checkTolerations } from "../taints.ts";
import { nodeLabelWarnings } from "../node_labels.ts";

/** Node. */
export const nodeRules: KindRules = {
  depth: "full",
  selectable: new Map([
    ["spec.unschedulable", (node) => String(flagAt(objectAt(node, "spec"), "unschedulable"))],
  ]),
  keepsStatus: true,
  prepareForCreate(draft) {
    delete draftAt(draft, "spec")["configSource"];
    delete draftAt(draft, "status")["config"];
  },
  validate: checkNode,
  validateUpdate(node, old, problems) {
    checkNode(node, problems);
    checkNodeChange(node, old, problems);
  },
  validateStatus: checkNodeChange,
  warnings(node) {
    const spec = objectAt(node, "spec");
    const path = FieldPath.of("spec", "podCIDRs");
    return [
      ...(has(spec, "configSource") ? ["spec.configSource: the feature is removed"] : []),
      ...(textAt(spec, "externalID") === ""
        ? []
        : ["spec.externalID: this field is deprecated, and is unused by Kubernetes"]),
      ...textsAt(spec, "podCIDRs").flatMap((range, index) => cidrWarnings(path.index(index), range)),
    ];
  },
};

function checkNode(node: JsonObject, problems: Problems): void {
  const spec = objectAt(node, "spec");
  checkTaints(objectsAt(spec, "taints"), FieldPath.of("metadata", "taints"), problems);
  checkNodeResources(node, problems);
  const path = FieldPath.of("spec", "podCIDRs");
  const ranges = textsAt(spec, "podCIDRs");
  ranges.forEach((range, index) => problems.invalidAll(path.index(index), range, cidrErrors(range)));
  const wrong = ranges.findIndex((range) => parseCidr(range) === undefined);
  if (ranges.length > 1 && wrong >= 0) {
    const why = `invalid CIDR[${wrong}]: <nil> (invalid CIDR address: ${ranges[wrong]})`;
    problems.internal(path, `invalid PodCIDRs. failed to check with dual stack with error:${why}`);
  }
  const families = new Set(ranges.map((range) => parseCidr(range)?.address.family));
  if (ranges.length > 1 && (wrong >= 0 || families.size < 2 || ranges.length > 2)) {
    problems.invalid(path, ranges, "may specify no more than one CIDR for each IP family");
  }
}

function checkNodeResources(node: JsonObject, problems: Problems): void {
  const status = objectAt(node, "status");
  for (const key of ["capacity", "allocatable"]) {
    for (const [name, amount] of textMapAt(status, key)) {
      checkResourceAmount(name, amount, FieldPath.of("status", key, name), problems);
    }
  }
}

function checkNodeChange(node: JsonObject, old: JsonObject, problems: Problems): void {
  checkNodeResources(node, problems);
  const [spec, before] = [objectAt(node, "spec"), objectAt(old, "spec")];
  const seen: JsonObject[] = [];
  objectsAt(objectAt(node, "status"), "addresses").forEach((address, index) => {
    if (seen.some((other) => isSameJson(other, address))) {
      const shown = { Type: textAt(address, "type"), Address: textAt(address, "address") };
      problems.duplicate(FieldPath.of("status", "addresses").index(index), shown);
    }
    seen.push(address);
  });
  const ranges = textsAt(before, "podCIDRs");
  if (ranges.length > 0 && !isSameJson(ranges, textsAt(spec, "podCIDRs"))) {
    problems.forbidden(FieldPath.of("spec", "podCIDRs"), 'node updates may not change podCIDR except from "" to valid');
  }
  if (textAt(before, "providerID") !== "" && textAt(before, "providerID") !== textAt(spec, "providerID")) {
    problems.forbidden(
      FieldPath.of("spec", "providerID"),
      'node updates may not change providerID except from "" to valid',
    );
  }
  checkTaints(objectsAt(spec, "taints"), FieldPath.of("metadata", "taints"), problems);
  if (textAt(before, "externalID") !== textAt(spec, "externalID")) {
    problems.forbidden(FieldPath.of("spec", "externalID"), "may not be updated");
  }
}

/** Lease. */
export const leaseRules: KindRules = {
  depth: "full",
  allowsUnconditionalUpdate: false,
  allowsCreateOnUpdate: true,
  prepareForCreate: (draft) => dropElection(draft, {}),
  prepareForUpdate: (draft, old) => dropElection(draft, objectAt(old, "spec")),
  validate(lease, problems) {
    const spec = objectAt(lease, "spec");
    const path = FieldPath.of("spec");
    const [seconds, transitions] = [findNumber(spec, "leaseDurationSeconds"), findNumber(spec, "leaseTransitions")];
    if (seconds !== undefined && seconds <= 0) {
      problems.invalid(path.child("leaseDurationSeconds"), seconds, "must be greater than 0");
    }
    if (transitions !== undefined && transitions < 0) {
      problems.invalid(path.child("leaseTransitions"), transitions, notNegative);
    }
    const strategy = textAt(spec, "strategy");
    if (strategy.includes("/")) {
      problems.invalidAll(path.child("strategy", "strategy"), strategy, labelKeyErrors(strategy));
    }
  },
};

/** Coordinated leader election is off by default, and what belongs to it is not kept. */
function dropElection(draft: Draft, before: JsonObject): void {
  const spec = draftAt(draft, "spec");
  for (const key of ["strategy", "preferredHolder"]) if (!has(before, key)) delete spec[key];
}

/** RuntimeClass. */
export const runtimeClassRules: KindRules = {
  depth: "full",
  allowsUnconditionalUpdate: false,
  allowsCreateOnUpdate: true,
  validate: checkRuntimeClass,
  validateUpdate(object, old, problems) {
    checkRuntimeClass(object, problems);
    checkImmutable(object, old, "handler", FieldPath.of("handler"), problems);
  },
  warnings: (object) =>
    nodeLabelWarnings(
      objectAt(objectAt(object, "scheduling"), "nodeSelector"),
      FieldPath.of("scheduling", "nodeSelector"),
    ),
};

function checkRuntimeClass(object: JsonObject, problems: Problems): void {
  const handler = textAt(object, "handler");
  if (handler === "") problems.required(FieldPath.of("handler"));
  else problems.invalidAll(FieldPath.of("handler"), handler, labelErrors(handler));
  const overhead = findObject(object, "overhead");
  if (overhead !== undefined) {
    checkResourceRequirements({ limits: objectAt(overhead, "podFixed") }, FieldPath.of("overhead"), problems);
  }
  const scheduling = findObject(object, "scheduling");
  if (scheduling === undefined) return;
  const path = FieldPath.of("scheduling");
  checkLabels(scheduling, "nodeSelector", path.child("nodeSelector"), problems);
  const tolerations = objectsAt(scheduling, "tolerations");
  checkTolerations(tolerations, path.child("tolerations"), problems);
  const seen = new Set<string>();
  tolerations.forEach((toleration, index) => {
    const key = ["key", "operator", "value", "effect"].map((name) => textAt(toleration, name)).join("\0");
    if (seen.has(key)) problems.duplicate(path.child("tolerations").index(index), shownToleration(toleration));
    seen.add(key);
  });
}

function shownToleration(toleration: JsonObject): JsonObject {
  return {
    Key: textAt(toleration, "key"),
    Operator: textAt(toleration, "operator"),
    Value: textAt(toleration, "value"),
    Effect: textAt(toleration, "effect"),
    TolerationSeconds: read(toleration, "tolerationSeconds") ?? null,
  };
}

const highestPriority = 1_000_000_000;
const systemPriorities: ReadonlyMap<string, number> = new Map([
  ["system-cluster-critical", 2_000_000_000],
  ["system-node-critical", 2_000_001_000],
]);

/** PriorityClass. */
export const priorityClassRules: KindRules = {
  depth: "full",
  prepareForCreate: (draft) => {
    draftAt(draft, "metadata")["generation"] = 1;
  },
  validate: checkPriorityClass,
  validateUpdate(object, old, problems) {
    if (numberAt(object, "value") !== numberAt(old, "value")) {
      problems.forbidden(FieldPath.of("value"), "may not be changed in an update.");
    }
    checkImmutable(object, old, "preemptionPolicy", FieldPath.of("preemptionPolicy"), problems);
  },
};

function checkPriorityClass(object: JsonObject, problems: Problems): void {
  const [name, value] = [nameOf(object), numberAt(object, "value")];
  if (name.startsWith("system-")) {
    const why = whyNoSystemClass(name, value, flagAt(object, "globalDefault"));
    if (why !== undefined) {
      const reserved = "priority class names with 'system-' prefix are reserved for system use only. error: ";
      problems.forbidden(FieldPath.of("metadata", "name"), reserved + why);
    }
  } else if (value > highestPriority) {
    problems.forbidden(FieldPath.of("value"), `maximum allowed value of a user defined priority is ${highestPriority}`);
  }
  const policy = textAt(object, "preemptionPolicy");
  if (has(object, "preemptionPolicy") && policy !== "PreemptLowerPriority" && policy !== "Never") {
    problems.notSupported(FieldPath.of("preemptionPolicy"), policy, ["PreemptLowerPriority", "Never"]);
  }
}

function whyNoSystemClass(name: string, value: number, isDefault: boolean): string | undefined {
  const known = systemPriorities.get(name);
  if (known === undefined) return `${name} is not a known system priority class`;
  if (known !== value) return `value of ${name} PriorityClass must be ${known}`;
  return isDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}
