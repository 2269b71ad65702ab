/**
 * Rules of the environment variables of containers, and of the references to fields of the Pod that volumes use as well.
 */
import { type JsonObject, labelKeyErrors } from "../../model/mod.ts";
import {
  checkNoParentSteps,
  configKeyErrors,
  envNameErrors,
  type FieldPath,
  labelErrors,
  type Problems,
  subdomainErrors,
  subdomainName,
} from "../rules/mod.ts";
import { findObject, objectsAt, textAt } from "../types/mod.ts";

/** Fields of the Pod that an environment variable can refer to. */
const envFields = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];

/** Fields that a field reference can name at all. */
const readable = new Set([
  ...envFields,
  "metadata.annotations",
  "metadata.labels",
  "spec.restartPolicy",
  "status.phase",
]);

const resources = [
  "limits.cpu",
  "limits.ephemeral-storage",
  "limits.memory",
  "requests.cpu",
  "requests.ephemeral-storage",
  "requests.memory",
];

const byteDivisors = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];
const sources = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];

/** Checks `env`. */
export function checkEnv(container: JsonObject, path: FieldPath, problems: Problems): void {
  objectsAt(container, "env").forEach((variable, index) => {
    const place = path.index(index);
    const name = textAt(variable, "name");
    if (name === "") problems.required(place.child("name"));
    else problems.invalidAll(place.child("name"), name, envNameErrors(name));
    const from = findObject(variable, "valueFrom");
    if (from !== undefined) checkValueFrom(from, textAt(variable, "value"), place.child("valueFrom"), problems);
  });
}

function checkValueFrom(from: JsonObject, value: string, path: FieldPath, problems: Problems): void {
  const given = sources.filter((source) => findObject(from, source) !== undefined);
  for (const source of given) checkSource(source, findObject(from, source) ?? {}, path.child(source), problems);
  if (given.length === 0) {
    const known = "`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";
    problems.invalid(path, "", `must specify one of: ${known}`);
  } else if (value !== "") problems.invalid(path, "", "may not be specified when `value` is not empty");
  else if (given.length > 1) problems.invalid(path, "", "may not have more than one field specified at a time");
}

function checkSource(source: string, reference: JsonObject, path: FieldPath, problems: Problems): void {
  switch (source) {
    case "fieldRef":
      return checkFieldRef(reference, envFields, path, problems);
    case "resourceFieldRef":
      return checkResourceRef(reference, false, path, problems);
    case "fileKeyRef":
      return checkFileKey(reference, path, problems);
    default:
      return checkKeyRef(reference, path, problems);
  }
}

function checkKeyRef(reference: JsonObject, path: FieldPath, problems: Problems): void {
  const [name, key] = [textAt(reference, "name"), textAt(reference, "key")];
  problems.invalidAll(path.child("name"), name, subdomainErrors(name));
  if (key === "") problems.required(path.child("key"));
  else problems.invalidAll(path.child("key"), key, configKeyErrors(key));
}

function checkFileKey(reference: JsonObject, path: FieldPath, problems: Problems): void {
  const [key, volume, file] = [textAt(reference, "key"), textAt(reference, "volumeName"), textAt(reference, "path")];
  if (key === "") problems.required(path.child("key"));
  else problems.invalidAll(path.child("key"), key, envNameErrors(key));
  if (volume === "") problems.required(path.child("volumeName"));
  else problems.invalidAll(path.child("volumeName"), volume, labelErrors(volume));
  if (file === "") problems.required(path.child("path"));
  else checkNoParentSteps(file, path.child("path"), problems);
}

/** Checks a reference to a field of the Pod. @param known the fields that are allowed here */
export function checkFieldRef(
  reference: JsonObject,
  known: readonly string[],
  path: FieldPath,
  problems: Problems,
): void {
  const [version, field] = [textAt(reference, "apiVersion"), textAt(reference, "fieldPath")];
  if (version === "") return problems.required(path.child("apiVersion"));
  const place = path.child("fieldPath");
  if (field === "") return problems.required(place);
  const [, name = field, key] = /^([^[\]]+)\['(.*)'\]$/.exec(field) ?? [];
  if (version !== "v1") {
    return problems.invalid(place, field, `error converting fieldPath: unsupported pod version: ${version}`);
  }
  if (key !== undefined) return checkSubscript(name, key, field, path, problems);
  if (name === "spec.host") return problems.notSupported(place, "spec.nodeName", known);
  if (!readable.has(name)) {
    return problems.invalid(place, field, `error converting fieldPath: field label not supported: ${field}`);
  }
  if (!known.includes(name)) problems.notSupported(place, name, known);
}

function checkSubscript(name: string, key: string, field: string, path: FieldPath, problems: Problems): void {
  if (name === "metadata.annotations") problems.invalidAll(path, key.toLowerCase(), labelKeyErrors(key.toLowerCase()));
  else if (name === "metadata.labels") problems.invalidAll(path, key, labelKeyErrors(key));
  else {
    const why = `error converting fieldPath: field label does not support subscript: ${field}`;
    problems.invalid(path.child("fieldPath"), field, why);
  }
}

/** Checks a reference to a request or a limit of a container. */
export function checkResourceRef(reference: JsonObject, isVolume: boolean, path: FieldPath, problems: Problems): void {
  const resource = textAt(reference, "resource");
  const isHugePages = /^(?:limits|requests)\.hugepages-/.test(resource);
  if (isVolume && textAt(reference, "containerName") === "") problems.required(path.child("containerName"));
  else if (resource === "") problems.required(path.child("resource"));
  else if (!resources.includes(resource) && !isHugePages) {
    problems.notSupported(path.child("resource"), resource, resources);
  }
  const divisor = textAt(reference, "divisor");
  if (divisor === "" || divisor === "0") return;
  const place = path.child("divisor");
  if (resource.endsWith(".cpu")) {
    if (divisor !== "1" && divisor !== "1m") {
      problems.invalid(place, resource, "only divisor's values 1m and 1 are supported with the cpu resource");
    }
    return;
  }
  const what = isHugePages ? "hugepages" : resource.endsWith(".memory") ? "memory" : "local ephemeral storage";
  if (byteDivisors.includes(divisor)) return;
  problems.invalid(
    place,
    resource,
    `only divisor's values ${byteDivisors.join(", ")} are supported with the ${what} resource`,
  );
}

/** Checks `envFrom`. */
export function checkEnvFrom(container: JsonObject, path: FieldPath, problems: Problems): void {
  objectsAt(container, "envFrom").forEach((source, index) => {
    const place = path.index(index);
    const prefix = textAt(source, "prefix");
    if (prefix !== "") problems.invalidAll(place.child("prefix"), prefix, envNameErrors(prefix));
    const given = ["configMapRef", "secretRef"].filter((key) => findObject(source, key) !== undefined);
    for (const key of given) {
      const name = textAt(findObject(source, key) ?? {}, "name");
      if (name === "") problems.required(place.child(key, "name"));
      else problems.invalidAll(place.child(key, "name"), name, subdomainName(name, true));
    }
    if (given.length === 0) problems.invalid(path, "", "must specify one of: `configMapRef` or `secretRef`");
    else if (given.length > 1) problems.invalid(path, "", "may not have more than one field specified at a time");
  });
}
