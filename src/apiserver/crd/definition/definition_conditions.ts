/**
 * The conditions of a CustomResourceDefinition, as the controllers of the real server set them: NamesAccepted, Established,
 * KubernetesAPIApprovalPolicyConformant, Terminating. Pure functions from a definition to its next state;
 * `objects/custom_resources.ts` stores the result.
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
} from "../../model/mod.ts";
import { objectAt, objectsAt, textAt, textsAt } from "../../kinds/mod.ts";
import { readNames } from "./crd_spec.ts";
import { parseRequestUri } from "../../../cel/mod.ts";
import { fromBase64 } from "../../../runtime/mod.ts";

/** The finalizer that keeps a definition until its objects are deleted. */
export const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

/** A condition without its timestamp. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

/** The condition of a type; undefined when it is not set. */
export function conditionOf(definition: JsonObject, type: string): JsonObject | undefined {
  return objectsAt(objectAt(definition, "status"), "conditions").find((each) => textAt(each, "type") === type);
}

/** True where a condition is "True". */
export function isConditionTrue(definition: JsonObject, type: string): boolean {
  const condition = conditionOf(definition, type);
  return condition !== undefined && textAt(condition, "status") === "True";
}

/** The definition with a condition set. Its timestamp changes only with its status. @param now as a timestamp */
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

/** The names in use in a group. */
export interface NamesInUse {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

/** Collects the accepted names of the definitions of a group. */
export function namesInUse(definitions: Iterable<JsonObject>): NamesInUse {
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

/** Updates the accepted names; returns the same definition when nothing changes. @param taken the names of its group, its own included */
export function withAcceptedNames(definition: JsonObject, taken: NamesInUse, now: string): JsonObject {
  const desired = objectAt(objectAt(definition, "spec"), "names");
  const status = objectAt(definition, "status");
  const accepted = objectAt(status, "acceptedNames");
  if (isSameJson(desired, accepted)) return definition;
  const { names, condition } = decideNames(desired, accepted, taken);
  const known = conditionOf(definition, "NamesAccepted");
  if (isSameJson(names, accepted) && known !== undefined && isSameCondition(known, condition)) return definition;
  const named = withCondition({ ...definition, status: { ...status, acceptedNames: names } }, condition, now);
  const established = beforeEstablished(named, condition);
  return established === undefined ? named : withCondition(named, established, now);
}

function isSameCondition(known: JsonObject, condition: Condition): boolean {
  return (["status", "reason", "message"] as const).every((key) => textAt(known, key) === condition[key]);
}

/** The Established condition while the names are decided; undefined when it does not change. */
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

function decideNames(desired: JsonObject, accepted: JsonObject, taken: NamesInUse): DecidedNames {
  const names: Record<string, Json> = { ...accepted };
  let condition: Condition = {
    type: "NamesAccepted",
    status: "True",
    reason: "NoConflicts",
    message: "no conflicts found",
  };
  const take = (key: string, reason: string, conflicts: readonly string[]): void => {
    const value = read(desired, key);
    if (conflicts.length > 0) {
      const texts = conflicts.map((name) => `${goQuote(name)} is already in use`);
      const message = texts.length === 1 ? texts.join() : `[${texts.join(", ")}]`;
      condition = { type: "NamesAccepted", status: "False", reason, message };
    } else if (value === undefined) delete names[key];
    else names[key] = value;
  };
  const conflictOf = (key: string, used: ReadonlySet<string>): readonly string[] => {
    const name = textAt(desired, key);
    return name !== textAt(accepted, key) && used.has(name) ? [name] : [];
  };
  take("plural", "PluralConflict", conflictOf("plural", taken.resources));
  take("singular", "SingularConflict", conflictOf("singular", taken.resources));
  const own = new Set(textsAt(accepted, "shortNames"));
  const shortNames = textsAt(desired, "shortNames").filter((name) => !own.has(name) && taken.resources.has(name));
  take("shortNames", "ShortNamesConflict", shortNames);
  take("kind", "KindConflict", conflictOf("kind", taken.kinds));
  take("listKind", "ListKindConflict", conflictOf("listKind", taken.kinds));
  take("categories", "", []);
  return { names, condition };
}

/** The next Established condition once the names are accepted; undefined when it does not change. */
export function nextEstablishedCondition(definition: JsonObject): Condition | undefined {
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

/** The approval condition of a protected group; undefined for other groups. */
export function approvalCondition(definition: JsonObject): Condition | undefined {
  if (!needsApproval(textAt(objectAt(definition, "spec"), "group"))) return undefined;
  const annotations = objectAt(objectAt(definition, "metadata"), "annotations");
  const { state, text } = approvalOf(textAt(annotations, approvalAnnotation));
  const [status, reason] = approvalReasons[state];
  return { type: "KubernetesAPIApprovalPolicyConformant", status, reason, message: text };
}

/** The condition, or undefined when the definition already has it. */
export function ifConditionChanged(definition: JsonObject, condition: Condition | undefined): Condition | undefined {
  if (condition === undefined) return undefined;
  const known = conditionOf(definition, condition.type);
  return known !== undefined && isSameCondition(known, condition) ? undefined : condition;
}

/** The effect of the first DELETE: adds the finalizer and the condition that forbids new objects. */
export function markTerminating(draft: Draft): void {
  const metadata = read(draft, "metadata");
  if (!isDraft(metadata) || isConditionSet(draft)) return;
  const finalizers = textsAt(metadata, "finalizers");
  put(metadata, "finalizers", [...finalizers.filter((name) => name !== cleanupFinalizer), cleanupFinalizer]);
  // Unlike other deletions, the real server sets no grace period and counts no generation here.
  delete metadata["deletionGracePeriodSeconds"];
  const generation = read(metadata, "generation");
  if (typeof generation === "number" && generation > 1) metadata["generation"] = generation - 1;
  const marked = withCondition(draft, terminatingConditions.pending, textAt(metadata, "deletionTimestamp"));
  put(draft, "status", draftOf(objectAt(marked, "status")));
}

function isConditionSet(draft: Draft): boolean {
  return conditionOf(draft, "Terminating") !== undefined;
}

/** The conditions of a deletion, in order. */
export const terminatingConditions = {
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

/** The annotation with the approval of an API in a protected group (*.k8s.io, *.kubernetes.io). */
export const approvalAnnotation = "api-approved.kubernetes.io";

/** The state of the approval, and its text. Texts of apiextensions `apihelpers` of Kubernetes 1.36. */
interface Approval {
  readonly state: "invalid" | "missing" | "approved" | "unapproved";
  readonly text: string;
}

/** True for groups that need an approval. */
export function needsApproval(group: string): boolean {
  return /(^|\.)(k8s|kubernetes)\.io$/.test(group);
}

/** Reads the annotation. @param annotation "" when it is missing */
export function approvalOf(annotation: string): Approval {
  const title = `protected groups must have approval annotation "${approvalAnnotation}"`;
  const link = "see https://github.com/kubernetes/enhancements/pull/1111";
  if (annotation === "") return { state: "missing", text: `${title}, ${link}` };
  if (annotation.startsWith("unapproved")) return { state: "unapproved", text: `not approved: ${goQuote(annotation)}` };
  if (isUrl(annotation)) return { state: "approved", text: `approved in ${annotation}` };
  return { state: "invalid", text: `${title} with either a URL or a reason starting with "unapproved", ${link}` };
}

function isUrl(text: string): boolean {
  try {
    const { scheme, host } = parseRequestUri(text);
    return scheme !== "" && host !== "";
  } catch {
    return false;
  }
}

/**
 * The error of a base64 CA bundle; undefined for a valid or empty one. Checks only that the PEM blocks can be read, not the
 * certificates in them.
 */
export function caBundleError(base64: string): string | undefined {
  if (base64 === "") return undefined;
  const title = "unable to load root certificates";
  let text: string;
  try {
    text = new TextDecoder().decode(fromBase64(base64));
  } catch {
    return `${title}: unable to parse bytes as PEM block`;
  }
  const blocks = text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----\s+[A-Za-z0-9+/=\s]+-----END \1-----/g);
  const kinds = Array.from(blocks, ([, kind]) => kind);
  if (kinds.length === 0) return `${title}: unable to parse bytes as PEM block`;
  return kinds.includes("CERTIFICATE") ? undefined : `${title}: no valid certificate authority data seen`;
}
