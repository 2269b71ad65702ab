/**
 * PriorityClasses (scheduling.k8s.io): rules, defaults, table row, and the two classes that every cluster has from its start.
 */
import type { JsonObject } from "../../model/mod.ts";
import {
  ageCell,
  booleanCell,
  checkImmutable,
  type DefaultsByType,
  FieldPath,
  integerCell,
  type KindRules,
  nameCell,
  type Problems,
  type Row,
  rowOf,
  textCell,
} from "../rules/mod.ts";
import { booleanAt, draftAt, has, nameOf, numberAt, setIfAbsent, textAt } from "../types/mod.ts";

const maxUserPriority = 1_000_000_000;

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
    const why = systemClassError(name, value, booleanAt(object, "globalDefault"));
    if (why !== undefined) {
      const reserved = "priority class names with 'system-' prefix are reserved for system use only. error: ";
      problems.forbidden(FieldPath.of("metadata", "name"), reserved + why);
    }
  } else if (value > maxUserPriority) {
    problems.forbidden(FieldPath.of("value"), `maximum allowed value of a user defined priority is ${maxUserPriority}`);
  }
  const policy = textAt(object, "preemptionPolicy");
  if (has(object, "preemptionPolicy") && policy !== "PreemptLowerPriority" && policy !== "Never") {
    problems.notSupported(FieldPath.of("preemptionPolicy"), policy, ["PreemptLowerPriority", "Never"]);
  }
}

function systemClassError(name: string, value: number, isDefault: boolean): string | undefined {
  const known = systemPriorities.get(name);
  if (known === undefined) return `${name} is not a known system priority class`;
  if (known !== value) return `value of ${name} PriorityClass must be ${known}`;
  return isDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

/** The defaults of PriorityClasses. */
export const priorityClassDefaults: DefaultsByType = {
  "scheduling/v1.PriorityClass": (draft) => setIfAbsent(draft, "preemptionPolicy", "PreemptLowerPriority"),
};

/** The cells of a PriorityClass. */
export const priorityClassRow: Row = rowOf(
  nameCell,
  integerCell("value"),
  booleanCell("globalDefault"),
  ageCell,
  textCell("preemptionPolicy"),
);

/** Source: kubernetes `pkg/apis/scheduling/v1/helpers.go` of 1.36. */
const classes = [
  {
    name: "system-node-critical",
    value: 2_000_001_000,
    description: "Used for system critical pods that must not be moved from their current node.",
  },
  {
    name: "system-cluster-critical",
    value: 2_000_000_000,
    description:
      "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
  },
];

/** The values of the system classes, by name. */
export const systemPriorities: ReadonlyMap<string, number> = new Map(classes.map(({ name, value }) => [name, value]));

/**
 * The system classes as they are stored.
 *
 * @param serverMetadata returns the metadata that a server adds to a new object
 */
export function systemPriorityClasses(
  serverMetadata: () => JsonObject,
): readonly { readonly name: string; readonly object: JsonObject }[] {
  return classes.map(({ name, value, description }) => ({
    name,
    object: {
      apiVersion: "scheduling.k8s.io/v1",
      kind: "PriorityClass",
      metadata: { name, generation: 1, ...serverMetadata() },
      value,
      description,
      preemptionPolicy: "PreemptLowerPriority",
    },
  }));
}
