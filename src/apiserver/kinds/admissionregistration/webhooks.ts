/**
 * Webhook configurations: rules, defaults and table row; and the match rules that admission policies share with them.
 */
import { type Draft, isSameJson, type Json, type JsonObject, labelKeyErrors, read } from "../../model/mod.ts";
import {
  ageCell,
  checkSelector,
  countCell,
  type DefaultsByType,
  type ExpressionChecks,
  FieldPath,
  hasInvalidLabelValue,
  type KindRules,
  label1035Errors,
  nameCell,
  noExpressionChecks,
  pathSegmentName,
  portErrors,
  type Problems,
  type Row,
  rowOf,
  subdomainErrors,
} from "../rules/mod.ts";
import {
  findNumber,
  findObject,
  has,
  numberAt,
  objectAt,
  objectsAt,
  setIfAbsent,
  textAt,
  textsAt,
} from "../types/mod.ts";

const reviewVersions = ["v1", "v1beta1"];
const operations = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const maxConditions = 64;

/** Errors that an update may keep when the old configuration has them already. */
interface Leniency {
  readonly sideEffects: boolean;
  readonly reviewVersions: boolean;
  readonly sameNames: boolean;
  readonly labelValues: boolean;
  /** True when the match conditions have not changed: they are not checked again. */
  readonly sameConditions: boolean;
}

/** The two differences between webhook configurations. */
interface ConfigurationOptions {
  readonly isMutating: boolean;
  readonly expressions: ExpressionChecks;
}

const strict: Leniency = {
  sideEffects: false,
  reviewVersions: false,
  sameNames: false,
  labelValues: false,
  sameConditions: false,
};

/** Returns the rules of a webhook configuration. @param expressions compiles its match conditions */
export function webhookRules(isMutating: boolean, expressions: ExpressionChecks): KindRules {
  const sort = { isMutating, expressions };
  return {
    depth: "full",
    allowsPlainFinalizers: true,
    generationFields: ["webhooks"],
    allowsUnconditionalUpdate: false,
    validate: (object, problems) => checkWebhooks(object, sort, strict, problems),
    validateUpdate: (object, old, problems) => checkWebhooks(object, sort, leniencyOf(object, old), problems),
    warnings: (object) => staticNameWarnings(textAt(objectAt(object, "metadata"), "name")),
  };
}

/** Warns about names that are reserved for configurations in files of the server. */
export function staticNameWarnings(name: string): readonly string[] {
  if (!name.endsWith(".static.k8s.io")) return [];
  const why =
    'metadata.name: names ending with ".static.k8s.io" are reserved for static manifest-based configurations and ' +
    "cannot be managed via the API";
  return [why];
}

/** ValidatingWebhookConfiguration. */
export const validatingWebhookRules: KindRules = webhookRules(false, noExpressionChecks);

/** MutatingWebhookConfiguration. */
export const mutatingWebhookRules: KindRules = webhookRules(true, noExpressionChecks);

function leniencyOf(now: JsonObject, old: JsonObject): Leniency {
  const hooks = objectsAt(old, "webhooks");
  const names = hooks.map((hook) => textAt(hook, "name"));
  return {
    sideEffects: !hooks.every((hook) => ["None", "NoneOnDryRun"].includes(textAt(hook, "sideEffects"))),
    reviewVersions: hooks.some((hook) => {
      const versions = textsAt(hook, "admissionReviewVersions");
      return versions.length > 0 && !versions.some((version) => reviewVersions.includes(version));
    }),
    sameNames: new Set(names).size < names.length,
    sameConditions: isSameJson(objectsAt(now, "webhooks").map(conditionsOf), hooks.map(conditionsOf)),
    labelValues: hooks.some((hook) =>
      hasInvalidLabelValue(findObject(hook, "namespaceSelector")) ||
      hasInvalidLabelValue(findObject(hook, "objectSelector"))
    ),
  };
}

function conditionsOf(hook: JsonObject): Json {
  return read<Json>(hook, "matchConditions") ?? null;
}

function checkWebhooks(object: JsonObject, sort: ConfigurationOptions, leniency: Leniency, problems: Problems): void {
  const names = new Set<string>();
  objectsAt(object, "webhooks").forEach((hook, index) => {
    const path = FieldPath.of("webhooks").index(index);
    checkWebhook(hook, sort, leniency, path, problems);
    checkReviewVersions(hook, leniency, path.child("admissionReviewVersions"), problems);
    const name = textAt(hook, "name");
    if (name === "" || leniency.sameNames) return;
    if (names.has(name)) problems.duplicate(path.child("name"), name);
    names.add(name);
  });
}

function checkWebhook(
  hook: JsonObject,
  { isMutating, expressions }: ConfigurationOptions,
  leniency: Leniency,
  path: FieldPath,
  problems: Problems,
): void {
  checkQualifiedDomain(hook, path, problems);
  objectsAt(hook, "rules").forEach((rule, index) => checkRule(rule, path.child("rules").index(index), problems));
  checkKnown(hook, "failurePolicy", ["Fail", "Ignore"], path, problems);
  checkKnown(hook, "matchPolicy", ["Equivalent", "Exact"], path, problems);
  const classes = leniency.sideEffects ? ["None", "NoneOnDryRun", "Some", "Unknown"] : ["None", "NoneOnDryRun"];
  if (!has(hook, "sideEffects")) {
    problems.required(path.child("sideEffects"), `must specify one of ${classes.join(", ")}`);
  }
  checkKnown(hook, "sideEffects", classes, path, problems);
  const timeout = findNumber(hook, "timeoutSeconds");
  if (timeout !== undefined && (timeout > 30 || timeout < 1)) {
    problems.invalid(path.child("timeoutSeconds"), timeout, "the timeout value must be between 1 and 30 seconds");
  }
  for (const key of ["namespaceSelector", "objectSelector"]) {
    checkSelector(findObject(hook, key), path.child(key), problems, leniency.labelValues);
  }
  if (isMutating) checkKnown(hook, "reinvocationPolicy", ["IfNeeded", "Never"], path, problems);
  checkClientConfig(objectAt(hook, "clientConfig"), path.child("clientConfig"), problems);
  if (leniency.sameConditions) return;
  checkMatchConditions(
    hook,
    path.child("matchConditions"),
    problems,
    (expression, place) => expressions.condition(expression, false, place, problems),
  );
}

function checkQualifiedDomain(hook: JsonObject, path: FieldPath, problems: Problems): void {
  const name = textAt(hook, "name");
  const place = path.child("name");
  const errors = subdomainErrors(name);
  if (name === "") problems.required(place);
  else if (errors.length > 0) problems.invalid(place, name, errors.join(","));
  else if (name.split(".").length < 3) {
    problems.invalid(place, name, "should be a domain with at least three segments separated by dots");
  }
}

/** Checks that a field, if it is set, has one of the known values. */
export function checkKnown(
  object: JsonObject,
  key: string,
  known: readonly string[],
  path: FieldPath,
  problems: Problems,
): void {
  if (has(object, key) && !known.includes(textAt(object, key))) {
    problems.notSupported(path.child(key), textAt(object, key), known);
  }
}

/** Checks which operations and resources a rule matches. */
function checkRule(rule: JsonObject, path: FieldPath, problems: Problems): void {
  const listed = textsAt(rule, "operations");
  if (listed.length === 0) problems.required(path.child("operations"));
  if (listed.length > 1 && listed.includes("*")) {
    problems.invalid(path.child("operations"), listed, "if '*' is present, must not specify other operations");
  }
  listed.forEach((operation, index) => {
    if (!operations.includes(operation)) {
      problems.notSupported(path.child("operations").index(index), operation, operations);
    }
  });
  checkWildcards(rule, "apiGroups", "API groups", path, problems);
  checkWildcards(rule, "apiVersions", "API versions", path, problems);
  textsAt(rule, "apiVersions").forEach((version, index) => {
    if (version === "") problems.required(path.child("apiVersions").index(index));
  });
  checkResources(textsAt(rule, "resources"), path.child("resources"), problems);
  checkKnown(rule, "scope", ["*", "Cluster", "Namespaced"], path, problems);
}

function checkWildcards(rule: JsonObject, key: string, what: string, path: FieldPath, problems: Problems): void {
  const values = textsAt(rule, key);
  if (values.length === 0) problems.required(path.child(key));
  if (values.length > 1 && values.includes("*")) {
    problems.invalid(path.child(key), values, `if '*' is present, must not specify other ${what}`);
  }
}

function checkResources(resources: readonly string[], path: FieldPath, problems: Problems): void {
  if (resources.length === 0) problems.required(path);
  const [allParts, everywhere] = [new Set<string>(), new Set<string>()];
  let hasPlain = false;
  resources.forEach((resource, index) => {
    if (resource === "") return problems.required(path.index(index));
    const slash = resource.indexOf("/");
    if (slash < 0) {
      hasPlain = resource !== "*";
      return;
    }
    const [name, part] = [resource.slice(0, slash), resource.slice(slash + 1)];
    const place = path.index(index);
    if (allParts.has(name)) {
      problems.invalid(place, resource, `if '${name}/*' is present, must not specify ${resource}`);
    }
    if (everywhere.has(part)) {
      problems.invalid(place, resource, `if '*/${part}' is present, must not specify ${resource}`);
    }
    if (part === "*") allParts.add(name);
    if (name === "*") everywhere.add(part);
  });
  if (resources.length > 1 && resources.includes("*/*")) {
    problems.invalid(path, resources, "if '*/*' is present, must not specify other resources");
  }
  if (resources.includes("*") && hasPlain) {
    problems.invalid(path, resources, "if '*' is present, must not specify other resources without subresources");
  }
}

function checkReviewVersions(hook: JsonObject, leniency: Leniency, path: FieldPath, problems: Problems): void {
  const versions = textsAt(hook, "admissionReviewVersions");
  if (versions.length === 0) return problems.required(path, `must specify one of ${reviewVersions.join(", ")}`);
  const seen = new Set<string>();
  versions.forEach((version, index) => {
    if (seen.has(version)) return problems.invalid(path.index(index), version, "duplicate version");
    seen.add(version);
    problems.invalidAll(path.index(index), version, label1035Errors(version));
  });
  if (!leniency.reviewVersions && !reviewVersions.some((version) => seen.has(version))) {
    problems.invalid(path, versions, `must include at least one of ${reviewVersions.join(", ")}`);
  }
}

/** Checks the address of a webhook: a URL or a Service. */
export function checkClientConfig(config: JsonObject, path: FieldPath, problems: Problems): void {
  const service = findObject(config, "service");
  if (has(config, "url") === (service !== undefined)) {
    return problems.required(path, "exactly one of url or service is required");
  }
  if (service === undefined) checkUrl(textAt(config, "url"), path.child("url"), problems);
  else checkService(service, path.child("service"), problems);
}

const form = "; desired format: https://host[/path]";

function checkUrl(text: string, path: FieldPath, problems: Problems): void {
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text)?.[1] ?? "";
  const [, authority = "", rest = ""] = /^[^:/?#]*:?\/\/([^/?#]*)(.*)$/s.exec(text) ?? [];
  // deno-lint-ignore no-control-regex -- it searches for control characters
  if (/[\s\x00-\x1f\x7f]/.test(authority) || /%(?![0-9a-fA-F]{2})/.test(text)) {
    return problems.required(path, `url must be a valid URL: parse ${JSON.stringify(text)}: invalid URL${form}`);
  }
  const at = authority.lastIndexOf("@");
  const host = authority.slice(at + 1);
  const hash = rest.indexOf("#");
  const query = /\?([^#]*)/.exec(rest)?.[1] ?? "";
  if (scheme !== "https") problems.invalid(path, scheme, `'https' is the only allowed URL scheme${form}`);
  if (host === "") problems.invalid(path, host, `host must be specified${form}`);
  if (at >= 0) problems.invalid(path, authority.slice(0, at), "user information is not permitted in the URL");
  if (hash >= 0 && hash < rest.length - 1) {
    problems.invalid(path, rest.slice(hash + 1), "fragments are not permitted in the URL");
  }
  if (query !== "") problems.invalid(path, query, "query parameters are not permitted in the URL");
}

function checkService(service: JsonObject, path: FieldPath, problems: Problems): void {
  for (const key of ["name", "namespace"]) if (textAt(service, key) === "") problems.required(path.child(key));
  const port = numberAt(service, "port");
  const errors = portErrors(port);
  if (errors.length > 0) problems.invalid(path.child("port"), port, `port is not valid: ${errors.join(", ")}`);
  const target = textAt(service, "path");
  if (target === "" || target === "/") return;
  const place = path.child("path");
  if (target === "//") return problems.invalid(place, target, "segment[0] may not be empty");
  if (!target.startsWith("/")) problems.invalid(place, target, "must start with a '/'");
  target.slice(1).replace(/\/$/, "").split("/").forEach((segment, index) => {
    if (segment === "") return problems.invalid(place, target, `segment[${index}] may not be empty`);
    for (const error of subdomainErrors(segment)) problems.invalid(place, target, `segment[${index}]: ${error}`);
  });
}

/** Checks conditions in CEL. @param compile reports the errors of an expression */
export function checkMatchConditions(
  object: JsonObject,
  path: FieldPath,
  problems: Problems,
  compile: (expression: string, path: FieldPath) => void,
): void {
  const conditions = objectsAt(object, "matchConditions");
  if (conditions.length > maxConditions) problems.tooMany(path, conditions.length, maxConditions);
  const names = new Set<string>();
  conditions.forEach((condition, index) => {
    const place = path.index(index);
    const name = textAt(condition, "name");
    const expression = textAt(condition, "expression").trim();
    if (expression === "") problems.required(place.child("expression"));
    else compile(expression, place.child("expression"));
    if (name === "") return problems.required(place.child("name"));
    problems.invalidAll(place.child("name"), name, labelKeyErrors(name));
    if (names.has(name)) problems.duplicate(place.child("name"), name);
    names.add(name);
  });
}

/** Checks the resources that a policy or a binding matches. */
export function checkMatchResources(match: JsonObject, path: FieldPath, problems: Problems): void {
  if (!has(match, "matchPolicy")) problems.required(path.child("matchPolicy"));
  checkKnown(match, "matchPolicy", ["Equivalent", "Exact"], path, problems);
  for (const key of ["namespaceSelector", "objectSelector"]) {
    const selector = findObject(match, key);
    if (selector === undefined) problems.required(path.child(key));
    checkSelector(selector, path.child(key), problems);
  }
  for (const key of ["resourceRules", "excludeResourceRules"]) {
    objectsAt(match, key).forEach((rule, index) => checkNamedRule(rule, path.child(key).index(index), problems));
  }
}

function checkNamedRule(rule: JsonObject, path: FieldPath, problems: Problems): void {
  const seen = new Set<string>();
  textsAt(rule, "resourceNames").forEach((name, index) => {
    const place = path.child("resourceNames").index(index);
    problems.invalidAll(place, name, pathSegmentName(name, false));
    if (seen.has(name)) problems.duplicate(place, name);
    seen.add(name);
  });
  checkRule(rule, path, problems);
}

/** True when no field that the conditions depend on has changed. */
export function hasSameConditions(now: JsonObject, old: JsonObject): boolean {
  return ["paramKind", "matchConditions"].every((key) => isSameJson(read(now, key) ?? null, read(old, key) ?? null));
}

/** The defaults of webhooks, and of the rules and references that admission policies share with them. */
export const webhookDefaults: DefaultsByType = {
  "admissionregistration/v1.ValidatingWebhook": setWebhookDefaults,
  "admissionregistration/v1.MutatingWebhook": (draft) => {
    setWebhookDefaults(draft);
    setIfAbsent(draft, "reinvocationPolicy", "Never");
  },
  "admissionregistration/v1.RuleWithOperations": (draft) => setIfAbsent(draft, "scope", "*"),
  "admissionregistration/v1.NamedRuleWithOperations": (draft) => setIfAbsent(draft, "scope", "*"),
  "admissionregistration/v1.ServiceReference": (draft) => setIfAbsent(draft, "port", 443),
  "admissionregistration/v1.MatchResources": setMatchDefaults,
};

function setWebhookDefaults(draft: Draft): void {
  setIfAbsent(draft, "failurePolicy", "Fail");
  setMatchDefaults(draft);
  setIfAbsent(draft, "timeoutSeconds", 10);
}

function setMatchDefaults(draft: Draft): void {
  setIfAbsent(draft, "matchPolicy", "Equivalent");
  setIfAbsent(draft, "namespaceSelector", {});
  setIfAbsent(draft, "objectSelector", {});
}

/** The cells of a webhook configuration. */
export const webhookConfigurationRow: Row = rowOf(nameCell, countCell("webhooks"), ageCell);
