/** Ingresses and IngressClasses: rules, defaults and table rows. */
import { type Draft, type Json, type JsonObject, read } from "../../model/mod.ts";
import { balancerWarnings, checkBalancer, loadBalancerAddresses, noIp } from "../core/mod.ts";
import {
  ageCell,
  annotationOf,
  type DefaultsByType,
  fieldIsImmutable,
  FieldPath,
  type KindRules,
  labelErrors,
  labelName,
  nameCell,
  parseIp,
  pathSegmentName,
  portErrors,
  portNameErrors,
  type Problems,
  type Row,
  rowOf,
  subdomainErrors,
  textCell,
  wildcardErrors,
} from "../rules/mod.ts";
import {
  draftAt,
  findDraft,
  findObject,
  has,
  metadataOf,
  nameOf,
  numberAt,
  objectAt,
  objectsAt,
  setIfAbsent,
  textAt,
  textMapAt,
  textsAt,
} from "../types/mod.ts";

const classAnnotation = "kubernetes.io/ingress.class";
const maxControllerLength = 250;
const pathTypes = ["Exact", "ImplementationSpecific", "Prefix"];
const badSequences = ["//", "/./", "/../", "%2f", "%2F"];
const badEnds = ["/..", "/."];

/** Ingress. */
export const ingressRules: KindRules = {
  depth: "full",
  generationFields: ["spec"],
  validate(ingress, problems) {
    checkIngress(ingress, undefined, problems);
    const marked = textMapAt(metadataOf(ingress), "annotations").get(classAnnotation);
    const spec = objectAt(ingress, "spec");
    if (marked === undefined || !has(spec, "ingressClassName") || marked === textAt(spec, "ingressClassName")) return;
    const why = "must match `ingressClassName` when both are specified";
    problems.invalid(FieldPath.of("annotations", classAnnotation), marked, why);
  },
  validateUpdate: checkIngress,
  validateStatus(ingress, old, problems) {
    const [now, before] = [ingress, old].map((each) =>
      objectsAt(objectAt(objectAt(each, "status"), "loadBalancer"), "ingress")
    );
    checkBalancer(now ?? [], before ?? [], FieldPath.of("status", "loadBalancer", "ingress"), problems);
  },
  warnings(ingress, old) {
    const isMarked = textMapAt(metadataOf(ingress), "annotations").has(classAnnotation);
    if (old !== undefined || !isMarked || has(objectAt(ingress, "spec"), "ingressClassName")) return [];
    return [`annotation "${classAnnotation}" is deprecated, please use 'spec.ingressClassName' instead`];
  },
  statusWarnings: balancerWarnings,
};

function checkIngress(ingress: JsonObject, old: JsonObject | undefined, problems: Problems): void {
  const spec = objectAt(ingress, "spec");
  const path = FieldPath.of("spec");
  const [rules, backend] = [objectsAt(spec, "rules"), findObject(spec, "defaultBackend")];
  if (rules.length === 0 && backend === undefined) {
    problems.invalid(path, null, "either `defaultBackend` or `rules` must be specified");
  }
  if (backend !== undefined) checkBackend(backend, path.child("defaultBackend"), problems);
  rules.forEach((rule, index) => checkRule(rule, path.child("rules").index(index), problems));
  checkTls(spec, old, path.child("tls"), problems);
  if (has(spec, "ingressClassName")) {
    const name = textAt(spec, "ingressClassName");
    problems.invalidAll(path.child("ingressClassName"), name, subdomainErrors(name));
  }
}

function checkTls(spec: JsonObject, old: JsonObject | undefined, path: FieldPath, problems: Problems): void {
  const isWrong = (name: string) => name !== "" && subdomainErrors(name).length > 0;
  const mayBeWrong = objectsAt(objectAt(old ?? {}, "spec"), "tls").some((tls) => isWrong(textAt(tls, "secretName")));
  objectsAt(spec, "tls").forEach((tls, index) => {
    const place = path.index(index);
    textsAt(tls, "hosts").forEach((host, at) =>
      problems.invalidAll(place.child("hosts").index(at), host, hostErrors(host))
    );
    const name = textAt(tls, "secretName");
    if (!mayBeWrong && name !== "") problems.invalidAll(place.child("secretName"), name, subdomainErrors(name));
  });
}

function hostErrors(host: string): readonly string[] {
  return host.includes("*") ? wildcardErrors(host) : subdomainErrors(host);
}

function checkRule(rule: JsonObject, path: FieldPath, problems: Problems): void {
  const host = textAt(rule, "host");
  if (host !== "") {
    if (parseIp(host) !== undefined) problems.invalid(path.child("host"), host, noIp);
    problems.invalidAll(path.child("host"), host, hostErrors(host));
  }
  const http = findObject(rule, "http");
  if (http === undefined) return;
  const place = path.child("http", "paths");
  const paths = objectsAt(http, "paths");
  if (paths.length === 0) problems.required(place);
  paths.forEach((each, index) => checkPath(each, place.index(index), problems));
}

function checkPath(each: JsonObject, path: FieldPath, problems: Problems): void {
  if (!has(each, "pathType")) return problems.required(path.child("pathType"), "pathType must be specified");
  const [type, text] = [textAt(each, "pathType"), textAt(each, "path")];
  const place = path.child("path");
  if (!pathTypes.includes(type)) problems.notSupported(path.child("pathType"), type, pathTypes);
  const isStrict = type === "Exact" || type === "Prefix";
  const isChecked = isStrict || (type === "ImplementationSpecific" && text !== "");
  if (isChecked && !text.startsWith("/")) problems.invalid(place, text, "must be an absolute path");
  if (isStrict) {
    for (const bad of badSequences) if (text.includes(bad)) problems.invalid(place, text, `must not contain '${bad}'`);
    for (const bad of badEnds) if (text.endsWith(bad)) problems.invalid(place, text, `cannot end with '${bad}'`);
  }
  checkBackend(objectAt(each, "backend"), path.child("backend"), problems);
}

function checkBackend(backend: JsonObject, path: FieldPath, problems: Problems): void {
  const [resource, service] = [findObject(backend, "resource"), findObject(backend, "service")];
  if (resource !== undefined && service !== undefined) {
    return problems.invalid(path, "", "cannot set both resource and service backends");
  }
  if (resource !== undefined) return checkTypedReference(resource, path.child("resource"), problems);
  if (service === undefined) return problems.invalid(path, "", "resource or service backend is required");
  const name = textAt(service, "name");
  const place = path.child("service");
  if (name === "") problems.required(place.child("name"));
  else problems.invalidAll(place.child("name"), name, labelErrors(name));
  const port = objectAt(service, "port");
  const [portName, number] = [textAt(port, "name"), numberAt(port, "number")];
  if (portName !== "" && number !== 0) problems.invalid(path, "", "cannot set both port name & port number");
  else if (portName !== "") problems.invalidAll(place.child("port", "name"), portName, portNameErrors(portName));
  else if (number !== 0) problems.invalidAll(place.child("port", "number"), number, portErrors(number));
  else problems.required(path, "port name or number is required");
}

/** Checks a reference to an object of any kind in the same namespace. */
function checkTypedReference(reference: JsonObject, path: FieldPath, problems: Problems): void {
  if (has(reference, "apiGroup")) {
    const group = textAt(reference, "apiGroup");
    problems.invalidAll(path.child("apiGroup"), group, subdomainErrors(group));
  }
  for (const key of ["kind", "name"]) {
    const value = textAt(reference, key);
    if (value === "") problems.required(path.child(key));
    else problems.invalidAll(path.child(key), value, pathSegmentName(value, false));
  }
}

/** IngressClass. */
export const ingressClassRules: KindRules = {
  depth: "full",
  generationFields: ["spec"],
  validate: checkIngressClass,
  validateUpdate(object, old, problems) {
    const [now, before] = [object, old].map((each) => textAt(objectAt(each, "spec"), "controller"));
    if (now !== before) problems.invalid(FieldPath.of("spec", "controller"), now ?? "", fieldIsImmutable);
    checkIngressClass(object, problems);
  },
};

function checkIngressClass(object: JsonObject, problems: Problems): void {
  const spec = objectAt(object, "spec");
  const controller = textAt(spec, "controller");
  const path = FieldPath.of("spec", "controller");
  if (controller.length > maxControllerLength) problems.tooLong(path, maxControllerLength);
  checkDomainPath(controller, path, problems);
  const parameters = findObject(spec, "parameters");
  if (parameters !== undefined) checkParameters(parameters, FieldPath.of("spec", "parameters"), problems);
}

const pathFormat = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";

function checkDomainPath(value: string, path: FieldPath, problems: Problems): void {
  if (value === "") return problems.required(path);
  const slash = value.indexOf("/");
  const [host, rest] = [value.slice(0, Math.max(slash, 0)), value.slice(slash + 1)];
  if (slash < 0 || host === "" || rest === "") {
    return problems.invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")');
  }
  problems.invalidAll(path, host, subdomainErrors(host));
  if (!new RegExp(`^${pathFormat}$`).test(rest)) {
    problems.invalid(path, rest, `Invalid path (regex used for validation is '${pathFormat}')`);
  }
}

function checkParameters(parameters: JsonObject, path: FieldPath, problems: Problems): void {
  checkTypedReference(parameters, path, problems);
  const scope = textAt(parameters, "scope");
  const hasNamespace = has(parameters, "namespace");
  const namespace = textAt(parameters, "namespace");
  if (scope === "Namespace") {
    if (!hasNamespace) problems.required(path.child("namespace"), "`parameters.scope` is set to 'Namespace'");
    else problems.invalidAll(path.child("namespace"), namespace, labelName(namespace, false));
  } else if (scope === "Cluster") {
    if (hasNamespace) problems.forbidden(path.child("namespace"), "`parameters.scope` is set to 'Cluster'");
  } else problems.notSupported(path.child("scope"), scope, ["Cluster", "Namespace"]);
}

/** The defaults of IngressClasses. */
export const ingressClassDefaults: DefaultsByType = { "networking/v1.IngressClass": setIngressClassDefaults };

function setIngressClassDefaults(draft: Draft): void {
  const parameters = findDraft(draftAt(draft, "spec"), "parameters");
  if (parameters !== undefined) setIfAbsent(parameters, "scope", "Cluster");
}

/** The cells of an Ingress. */
export const ingressRow: Row = rowOf(
  nameCell,
  textCell("spec.ingressClassName", "<none>"),
  hosts,
  addresses,
  ports,
  ageCell,
);

/** The cells of an IngressClass. */
export const ingressClassRow: Row = rowOf(className, textCell("spec.controller"), parameters, ageCell);

function className(object: JsonObject): Json {
  const isDefault = annotationOf(object, "ingressclass.kubernetes.io/is-default-class") === "true";
  return isDefault ? `${nameOf(object)} (default)` : nameOf(object);
}

function parameters(object: JsonObject): Json {
  const found = findObject(objectAt(object, "spec"), "parameters");
  if (found === undefined) return "<none>";
  const group = read(found, "apiGroup");
  const kind = textAt(found, "kind");
  return `${typeof group === "string" ? `${kind}.${group}` : kind}/${textAt(found, "name")}`;
}

const maxHosts = 3;

/** The first hosts. Rules without a host match any host; they are only counted when other rules have hosts. */
function hosts(object: JsonObject): Json {
  const rules = objectsAt(objectAt(object, "spec"), "rules");
  const shown: string[] = [];
  for (const rule of rules) {
    if (shown.length === maxHosts) return `${shown.join(",")} + ${rules.length - maxHosts} more...`;
    const host = textAt(rule, "host");
    if (host !== "") shown.push(host);
  }
  return shown.length === 0 ? "*" : shown.join(",");
}

function addresses(object: JsonObject): Json {
  return loadBalancerAddresses(object).join(",");
}

function ports(object: JsonObject): Json {
  return objectsAt(objectAt(object, "spec"), "tls").length === 0 ? "80" : "80, 443";
}
