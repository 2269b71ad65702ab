/**
 * The checks of FlowSchemas and PriorityLevelConfigurations, with the texts of flowcontrol/validation of Kubernetes 1.36. The
 * unions with a discriminator are declared in the types; the numbers, the subjects and the rules are not.
 */
import { isSameJson, type JsonObject } from "../../model/mod.ts";
import {
  DeclaredChecks,
  FieldPath,
  internalValue,
  labelErrors,
  type Problems,
  rangeErrors,
  type StructCheck,
  subdomainErrors,
} from "../rules/mod.ts";
import {
  booleanAt,
  findNumber,
  findObject,
  has,
  metadataOf,
  nameOf,
  numberAt,
  objectAt,
  objectsAt,
  textAt,
  textMapAt,
  textsAt,
} from "../types/mod.ts";
import { mandatoryFlowSchemas, mandatoryPriorityLevels } from "./mandatory_flow_control.ts";

const specPath = FieldPath.of("spec");
const maxPrecedence = 10_000;
const maxQueues = 10_000_000;
const maxHashBits = 60;
const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];
const subjectKinds = ["Group", "ServiceAccount", "User"];
const notNegative = "must be a non-negative integer";
const zeroSharesAnnotation = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares";

const checks = new DeclaredChecks({
  rules: {
    "flowcontrol/v1.PriorityLevelConfigurationSpec": checkLevelSpec,
    "flowcontrol/v1.ExemptPriorityLevelConfiguration": checkShares,
    "flowcontrol/v1.LimitedPriorityLevelConfiguration": checkLimited,
    "flowcontrol/v1.LimitResponse": checkLimitResponse,
    "flowcontrol/v1.QueuingConfiguration": checkQueuing,
    "flowcontrol/v1.FlowSchemaSpec": checkSchemaSpec,
    "flowcontrol/v1.PolicyRulesWithSubjects": checkRulesWithSubjects,
    "flowcontrol/v1.Subject": checkSubject,
    "flowcontrol/v1.ResourcePolicyRule": checkResourceRule,
    "flowcontrol/v1.NonResourcePolicyRule": checkNonResourceRule,
  },
});

/** Checks a FlowSchema. */
export function checkFlowSchema(object: JsonObject, problems: Problems): void {
  const [name, spec] = [nameOf(object), objectAt(object, "spec")];
  checkPrecedence(name, spec, problems);
  checks.check("flowcontrol/v1.FlowSchemaSpec", spec, specPath, problems);
  const fixed = mandatoryFlowSchemas.get(name);
  if (fixed !== undefined && !isSameJson(fixed, spec)) {
    const shown = internalValue("flowcontrol/v1.FlowSchemaSpec", spec);
    problems.invalidStruct(specPath, shown, `spec of '${name}' must equal the fixed value`);
  }
  checkConditionTypes(object, problems);
}

/** Checks a PriorityLevelConfiguration. */
export function checkPriorityLevel(object: JsonObject, problems: Problems): void {
  const [name, spec] = [nameOf(object), objectAt(object, "spec")];
  if (textMapAt(metadataOf(object), "annotations").has(zeroSharesAnnotation)) {
    problems.forbidden(FieldPath.of("metadata", "annotations"), `annotation '${zeroSharesAnnotation}' is forbidden`);
  }
  if ((name === "exempt") !== (textAt(spec, "type") === "Exempt")) {
    const why = "must be 'Exempt' if and only if `name` is 'exempt'";
    problems.invalid(specPath.child("type"), textAt(spec, "type"), why);
  }
  checks.check("flowcontrol/v1.PriorityLevelConfigurationSpec", spec, specPath, problems);
  checkMandatoryLevel(name, spec, problems);
  checkConditionTypes(object, problems);
}

function checkMandatoryLevel(name: string, spec: JsonObject, problems: Problems): void {
  const fixed = mandatoryPriorityLevels.get(name);
  if (fixed === undefined) return;
  const compared = name === "exempt" ? { ...spec, exempt: fixed["exempt"] ?? null } : spec;
  if (isSameJson(fixed, compared)) return;
  const except = name === "exempt" ? " except the 'spec.exempt' field" : "";
  const shown = internalValue("flowcontrol/v1.PriorityLevelConfigurationSpec", spec);
  problems.invalidStruct(specPath, shown, `spec of '${name}'${except} must equal the fixed value`);
}

/** Checks the conditions in the status of both kinds: each type once. */
export function checkConditionTypes(object: JsonObject, problems: Problems): void {
  const path = FieldPath.of("status", "conditions");
  const seen = new Set<string>();
  objectsAt(objectAt(object, "status"), "conditions").forEach((condition, index) => {
    const [type, place] = [textAt(condition, "type"), path.index(index).child("type")];
    if (seen.has(type)) problems.duplicate(place, type);
    seen.add(type);
    if (type === "") problems.required(place);
  });
}

function checkLevelSpec(check: StructCheck): void {
  const type = textAt(check.object, "type");
  const supported = ["Exempt", "Limited"];
  if (!supported.includes(type)) return checkType(check, type, supported);
  check.members(type, (name, rule) => {
    if (rule === "required") return "must not be empty when type is Limited";
    return name === "limited" ? "must be nil if the type is not Limited" : "must be nil if the type is Limited";
  });
}

function checkType({ path, problems }: StructCheck, type: string, supported: readonly string[]): void {
  if (type === "") problems.required(path.child("type"));
  else problems.notSupported(path.child("type"), type, supported);
}

function checkShares({ object, path, problems }: StructCheck): void {
  const shares = findNumber(object, "nominalConcurrencyShares") ?? 0;
  if (shares < 0) problems.invalid(path.child("nominalConcurrencyShares"), shares, notNegative);
  checkLendable(object, path, problems);
}

function checkLendable(object: JsonObject, path: FieldPath, problems: Problems): void {
  const percent = findNumber(object, "lendablePercent");
  if (percent !== undefined) problems.invalidAll(path.child("lendablePercent"), percent, rangeErrors(percent, 0, 100));
}

function checkLimited(check: StructCheck): void {
  const { object, path, problems } = check;
  const shares = numberAt(object, "nominalConcurrencyShares");
  if (shares < 0) problems.invalid(path.child("nominalConcurrencyShares"), shares, notNegative);
  checks.check(
    "flowcontrol/v1.LimitResponse",
    objectAt(object, "limitResponse"),
    path.child("limitResponse"),
    problems,
  );
  checkLendable(object, path, problems);
  const borrowing = findNumber(object, "borrowingLimitPercent");
  if (borrowing !== undefined && borrowing < 0) {
    problems.invalid(path.child("borrowingLimitPercent"), borrowing, `if specified, ${notNegative}`);
  }
}

function checkLimitResponse(check: StructCheck): void {
  const type = textAt(check.object, "type");
  const supported = ["Queue", "Reject"];
  if (!supported.includes(type)) return checkType(check, type, supported);
  check.members(
    type,
    (_, rule) =>
      rule === "required"
        ? "must not be empty if limited.limitResponse.type is Limited"
        : "must be nil if limited.limitResponse.type is not Limited",
  );
}

function checkQueuing({ object, path, problems }: StructCheck): void {
  const [limit, queues] = [numberAt(object, "queueLengthLimit"), numberAt(object, "queues")];
  const hand = numberAt(object, "handSize");
  const report = (key: string, value: number, why: string) => problems.invalid(path.child(key), value, why);
  if (limit <= 0) report("queueLengthLimit", limit, "must be positive");
  if (queues <= 0) report("queues", queues, "must be positive");
  else if (queues > maxQueues) report("queues", queues, `must not be greater than ${maxQueues}`);
  const entropy = Math.ceil(Math.log2(queues) * hand);
  if (hand <= 0) report("handSize", hand, "must be positive");
  else if (hand > queues) report("handSize", hand, `should not be greater than queues (${queues})`);
  else if (entropy > maxHashBits) {
    const bits = `required entropy bits of deckSize ${queues} and handSize ${hand} should not be greater than`;
    report("handSize", hand, `${bits} ${maxHashBits}`);
  }
}

function checkPrecedence(name: string, spec: JsonObject, problems: Problems): void {
  const precedence = numberAt(spec, "matchingPrecedence");
  const report = (why: string) => problems.invalid(specPath.child("matchingPrecedence"), precedence, why);
  if (precedence <= 0) report("must be a positive value");
  if (precedence > maxPrecedence) report(`must not be greater than ${maxPrecedence}`);
  if (precedence === 1 && name !== "exempt") report("only the schema named 'exempt' may have matchingPrecedence 1");
}

function checkSchemaSpec(check: StructCheck): void {
  const { object, path, problems } = check;
  const method = findObject(object, "distinguisherMethod");
  const methods = ["ByNamespace", "ByUser"];
  if (method !== undefined && !methods.includes(textAt(method, "type"))) {
    const shown = internalValue("flowcontrol/v1.FlowDistinguisherMethod", method);
    problems.notSupportedStruct(path.child("distinguisherMethod", "type"), shown, methods);
  }
  const level = textAt(objectAt(object, "priorityLevelConfiguration"), "name");
  const levelPath = path.child("priorityLevelConfiguration", "name");
  if (level === "") problems.required(levelPath, "must reference a priority level");
  else problems.invalidAll(levelPath, level, subdomainErrors(level));
  check.field("rules");
}

function checkRulesWithSubjects(check: StructCheck): void {
  const { object, path, problems } = check;
  const isEmpty = (key: string) => objectsAt(object, key).length === 0;
  if (isEmpty("subjects")) problems.required(path.child("subjects"), "subjects must contain at least one value");
  else check.field("subjects");
  if (isEmpty("resourceRules") && isEmpty("nonResourceRules")) {
    problems.required(path, "at least one of resourceRules and nonResourceRules has to be non-empty");
  }
  check.field("resourceRules");
  check.field("nonResourceRules");
}

function checkSubject({ object, path, problems }: StructCheck): void {
  const kind = textAt(object, "kind");
  if (!subjectKinds.includes(kind)) return problems.notSupported(path.child("kind"), kind, subjectKinds);
  const own = kind === "ServiceAccount" ? "serviceAccount" : kind.toLowerCase();
  checkSubjectMember(own, kind, findObject(object, own), path.child(own), problems);
  for (const [key, of] of [["serviceAccount", "ServiceAccount"], ["user", "User"], ["group", "Group"]] as const) {
    if (key === own || !has(object, key)) continue;
    problems.forbidden(path.child(key), `${key} is forbidden when subject kind is not '${of}'`);
  }
}

function checkSubjectMember(
  key: string,
  kind: string,
  subject: JsonObject | undefined,
  path: FieldPath,
  problems: Problems,
): void {
  if (subject === undefined) return problems.required(path, `${key} is required when subject kind is '${kind}'`);
  const [name, namespace] = [textAt(subject, "name"), textAt(subject, "namespace")];
  if (name === "") problems.required(path.child("name"));
  if (kind !== "ServiceAccount") return;
  if (name !== "" && name !== "*") problems.invalidAll(path.child("name"), name, subdomainErrors(name));
  if (namespace === "") problems.required(path.child("namespace"), "must specify namespace for service account");
  else problems.invalidAll(path.child("namespace"), namespace, labelErrors(namespace));
}

function checkVerbs({ object, path, problems }: StructCheck): void {
  const used = textsAt(object, "verbs");
  const place = path.child("verbs");
  if (used.length === 0) problems.required(place, "verbs must contain at least one value");
  else if (used.includes("*")) checkAlone(used, place, "verbs", problems);
  else if (!used.every((verb) => verbs.includes(verb))) problems.notSupported(place, used, verbs);
}

/** Reports other values beside `*`. */
function checkAlone(values: readonly string[], path: FieldPath, what: string, problems: Problems): void {
  if (values.length < 2 || !values.includes("*")) return;
  problems.invalid(path, values, `if '*' is present, must not specify other ${what}`);
}

function checkNonResourceRule(check: StructCheck): void {
  const { object, path, problems } = check;
  checkVerbs(check);
  const urls = textsAt(object, "nonResourceURLs");
  const place = path.child("nonResourceURLs");
  if (urls.length === 0) problems.required(place, "nonResourceURLs must contain at least one value");
  else if (urls.includes("*")) checkAlone(urls, place, "non-resource URLs", problems);
  else urls.forEach((url, index) => problems.invalidAll(place.index(index), url, urlErrors(url)));
}

function urlErrors(url: string): readonly string[] {
  if (url === "") return ["must not be empty"];
  if (url === "/") return [];
  if (!url.startsWith("/")) return ["must start with slash"];
  if (url.includes(" ")) return ["must not contain white-space"];
  if (url.includes("//")) return ["must not contain double slash"];
  const count = url.split("*").length - 1;
  return count > 1 || (count === 1 && !url.endsWith("/*")) ? ["wildcard can only do suffix matching"] : [];
}

function checkResourceRule(check: StructCheck): void {
  const { object, path, problems } = check;
  checkVerbs(check);
  for (
    const [key, one, others] of [["apiGroups", "api group", "api groups"], [
      "resources",
      "resource",
      "resources",
    ]] as const
  ) {
    const values = textsAt(object, key);
    if (values.length === 0) problems.required(path.child(key), `resource rules must supply at least one ${one}`);
    else checkAlone(values, path.child(key), others, problems);
  }
  checkNamespaces(object, path.child("namespaces"), problems);
}

function checkNamespaces(rule: JsonObject, path: FieldPath, problems: Problems): void {
  const namespaces = textsAt(rule, "namespaces");
  if (namespaces.length === 0 && !booleanAt(rule, "clusterScope")) {
    problems.required(path, "resource rules that are not cluster scoped must supply at least one namespace");
  } else if (namespaces.includes("*")) checkAlone(namespaces, path, "namespaces", problems);
  else {
    const intro = "each member of this list must be '*' or a DNS-1123 label; ";
    namespaces.forEach((name, index) =>
      problems.invalidAll(path.index(index), name, labelErrors(name).map((why) => intro + why))
    );
  }
}
