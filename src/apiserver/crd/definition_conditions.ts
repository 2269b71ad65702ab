/**
 * The conditions of a CustomResourceDefinition, as the controllers of the real server set them: NamesAccepted, Established,
 * KubernetesAPIApprovalPolicyConformant, Terminating. Functions from a definition to its next state; who stores that is in
 * `custom_resources.ts`.
 */
import {
  type Draft,
  draftOf,
  goQuote,
  isDraft,
  isSameJson,
  type Json,
  type JsonObject,
  put,
  read,
} from "../model/mod.ts";
import { approvalAnnotation, approvalOf, needsApproval } from "./api_approval.ts";
import { caBundleError } from "./_ca_bundle.ts";
import { objectAt, objectsAt, readNames, textAt, textsAt } from "./crd_spec.ts";

/** What holds a definition until its objects are gone. */
export const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

/** A condition without its time. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

/** The condition of a type; undefined where it was never set. */
export function conditionOf(definition: JsonObject, type: string): JsonObject | undefined {
  return objectsAt(objectAt(definition, "status"), "conditions").find((each) => textAt(each, "type") === type);
}

/** True where a condition is "True". */
export function isConditionTrue(definition: JsonObject, type: string): boolean {
  const condition = conditionOf(definition, type);
  return condition !== undefined && textAt(condition, "status") === "True";
}

/** The definition with a condition set. Its time changes only with its status. @param now as a timestamp */
export function withCondition(definition: JsonObject, condition: Condition, now: string): JsonObject {
  const conditions = objectsAt(objectAt(definition, "status"), "conditions");
  const known = conditionOf(definition, condition.type);
  const since = known !== undefined && textAt(known, "status") === condition.status
    ? textAt(known, "lastTransitionTime")
    : "";
  const { type, status, reason, message } = condition;
  const next: JsonObject = {
    ...known,
    type,
    status,
    lastTransitionTime: since === "" ? now : since,
    reason,
    message,
  };
  const all = known === undefined
    ? [...conditions, next]
    : conditions.map((each) => textAt(each, "type") === type ? next : each);
  return { ...definition, status: { ...objectAt(definition, "status"), conditions: all } };
}

/** Names that are taken in a group. */
export interface TakenNames {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

/** The names that the definitions of a group have been given. */
export function takenNames(definitions: Iterable<JsonObject>): TakenNames {
  const [resources, kinds] = [new Set<string>(), new Set<string>()];
  for (const definition of definitions) {
    const { plural, singular, shortNames, kind, listKind } = readNames(
      objectAt(objectAt(definition, "status"), "acceptedNames"),
    );
    for (const name of [plural, singular, ...shortNames]) resources.add(name);
    kinds.add(kind).add(listKind);
  }
  return { resources, kinds };
}

/** The definition with the names it gets; itself where nothing changes. @param taken by all of its group, itself included */
export function withAcceptedNames(definition: JsonObject, taken: TakenNames, now: string): JsonObject {
  const wanted = objectAt(objectAt(definition, "spec"), "names");
  const status = objectAt(definition, "status");
  const accepted = objectAt(status, "acceptedNames");
  if (isSameJson(wanted, accepted)) return definition;
  const { names, condition } = decideNames(wanted, accepted, taken);
  const known = conditionOf(definition, "NamesAccepted");
  if (isSameJson(names, accepted) && known !== undefined && isSameCondition(known, condition)) return definition;
  const named = withCondition({ ...definition, status: { ...status, acceptedNames: names } }, condition, now);
  const established = beforeEstablished(named, condition);
  return established === undefined ? named : withCondition(named, established, now);
}

function isSameCondition(known: JsonObject, condition: Condition): boolean {
  return (["status", "reason", "message"] as const).every((key) => textAt(known, key) === condition[key]);
}

/** What Established says until it is true; undefined where it stays as it is. */
function beforeEstablished(definition: JsonObject, names: Condition): Condition | undefined {
  const known = conditionOf(definition, "Established");
  const isAccepted = names.status === "True";
  if (known !== undefined && (textAt(known, "status") === "True" || !isAccepted)) return undefined;
  return isAccepted
    ? { type: "Established", status: "False", reason: "Installing", message: "the initial names have been accepted" }
    : { type: "Established", status: "False", reason: "NotAccepted", message: "not all names are accepted" };
}

interface DecidedNames {
  readonly names: JsonObject;
  readonly condition: Condition;
}

function decideNames(wanted: JsonObject, accepted: JsonObject, taken: TakenNames): DecidedNames {
  const names: Record<string, Json> = { ...accepted };
  let condition: Condition = {
    type: "NamesAccepted",
    status: "True",
    reason: "NoConflicts",
    message: "no conflicts found",
  };
  const take = (key: string, reason: string, conflicts: readonly string[]): void => {
    const value = read(wanted, key);
    if (conflicts.length > 0) {
      const texts = conflicts.map((name) => `${goQuote(name)} is already in use`);
      const message = texts.length === 1 ? texts.join() : `[${texts.join(", ")}]`;
      condition = { type: "NamesAccepted", status: "False", reason, message };
    } else if (value === undefined) delete names[key];
    else names[key] = value;
  };
  const conflictOf = (key: string, used: ReadonlySet<string>): readonly string[] => {
    const name = textAt(wanted, key);
    return name !== textAt(accepted, key) && used.has(name) ? [name] : [];
  };
  take("plural", "PluralConflict", conflictOf("plural", taken.resources));
  take("singular", "SingularConflict", conflictOf("singular", taken.resources));
  const own = new Set(textsAt(accepted, "shortNames"));
  const shortNames = textsAt(wanted, "shortNames").filter((name) => !own.has(name) && taken.resources.has(name));
  take("shortNames", "ShortNamesConflict", shortNames);
  take("kind", "KindConflict", conflictOf("kind", taken.kinds));
  take("listKind", "ListKindConflict", conflictOf("listKind", taken.kinds));
  take("categories", "", []);
  return { names, condition };
}

/** The Established condition of a definition whose names are accepted; undefined where it is not its turn. */
export function establishing(definition: JsonObject): Condition | undefined {
  if (!isConditionTrue(definition, "NamesAccepted") || isConditionTrue(definition, "Established")) return undefined;
  const conversion = objectAt(objectAt(definition, "spec"), "conversion");
  const bundle = textAt(objectAt(objectAt(conversion, "webhook"), "clientConfig"), "caBundle");
  return caBundleError(bundle) === undefined
    ? {
      type: "Established",
      status: "True",
      reason: "InitialNamesAccepted",
      message: "the initial names have been accepted",
    }
    : {
      type: "Established",
      status: "False",
      reason: "InvalidCABundle",
      message: "The conversion webhook CABundle is invalid",
    };
}

const approvalReasons = {
  invalid: ["False", "InvalidAnnotation"],
  missing: ["False", "MissingAnnotation"],
  approved: ["True", "ApprovedAnnotation"],
  unapproved: ["False", "UnapprovedAnnotation"],
} as const;

/** Whether the API of a protected group was approved; undefined for other groups. */
export function approvalCondition(definition: JsonObject): Condition | undefined {
  if (!needsApproval(textAt(objectAt(definition, "spec"), "group"))) return undefined;
  const annotations = objectAt(objectAt(definition, "metadata"), "annotations");
  const { state, text } = approvalOf(textAt(annotations, approvalAnnotation));
  const [status, reason] = approvalReasons[state];
  return { type: "KubernetesAPIApprovalPolicyConformant", status, reason, message: text };
}

/** The condition, unless the definition has it already in these words. */
export function ifChanged(definition: JsonObject, condition: Condition | undefined): Condition | undefined {
  if (condition === undefined) return undefined;
  const known = conditionOf(definition, condition.type);
  return known !== undefined && isSameCondition(known, condition) ? undefined : condition;
}

/** What the first DELETE does: a finalizer, and the condition that no more objects may be created. */
export function markTerminating(draft: Draft): void {
  const metadata = read(draft, "metadata");
  if (!isDraft(metadata) || isConditionSet(draft)) return;
  const finalizers = textsAt(metadata, "finalizers");
  put(metadata, "finalizers", [...finalizers.filter((name) => name !== cleanupFinalizer), cleanupFinalizer]);
  // The real server writes past the rules of other deletions here, which count a generation and give a grace of 0.
  delete metadata["deletionGracePeriodSeconds"];
  const generation = read(metadata, "generation");
  if (typeof generation === "number" && generation > 1) metadata["generation"] = generation - 1;
  const marked = withCondition(draft, terminating.pending, textAt(metadata, "deletionTimestamp"));
  put(draft, "status", draftOf(objectAt(marked, "status")));
}

function isConditionSet(draft: Draft): boolean {
  return conditionOf(draft, "Terminating") !== undefined;
}

/** The stations of the way out. */
export const terminating = {
  pending: {
    type: "Terminating",
    status: "True",
    reason: "InstanceDeletionPending",
    message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
  },
  inProgress: {
    type: "Terminating",
    status: "True",
    reason: "InstanceDeletionInProgress",
    message: "CustomResource deletion is in progress",
  },
  completed: {
    type: "Terminating",
    status: "False",
    reason: "InstanceDeletionCompleted",
    message: "removed all instances",
  },
  neverEstablished: {
    type: "Terminating",
    status: "False",
    reason: "NeverEstablished",
    message: "resource was never established",
  },
} as const satisfies Record<string, Condition>;
