/** ConfigMaps, Secrets and ServiceAccounts: rules, defaults and table rows. */
import {
  type Draft,
  type DraftValue,
  isSameJson,
  jsonError,
  type JsonObject,
  put,
  utf8Length,
} from "../../model/mod.ts";
import {
  ageCell,
  configKeyErrors,
  countCell,
  type DefaultsByType,
  fieldIsImmutable,
  FieldPath,
  type KindRules,
  nameCell,
  type Problems,
  type Row,
  rowOf,
  textCell,
} from "../rules/mod.ts";
import {
  base64Bytes,
  booleanAt,
  draftAt,
  draftsAt,
  findDraft,
  fromBase64,
  has,
  metadataOf,
  objectAt,
  setIfEmpty,
  textAt,
  textMapAt,
  toBase64,
} from "../types/mod.ts";

/** The limit for all values of a ConfigMap or a Secret together. */
const maxDataBytes = 1024 * 1024;
const mountableSecrets = "kubernetes.io/enforce-mountable-secrets";
const serviceAccountName = "kubernetes.io/service-account.name";

/** ConfigMap. */
export const configMapRules: KindRules = {
  depth: "full",
  validate: checkConfigMap,
  validateUpdate(object, old, problems) {
    checkImmutableData(object, old, ["data", "binaryData"], problems);
    checkConfigMap(object, problems);
  },
};

function checkConfigMap(object: JsonObject, problems: Problems): void {
  const binary = objectAt(object, "binaryData");
  let bytes = 0;
  for (const [key, value] of textMapAt(object, "data")) {
    const path = FieldPath.of("data").key(key);
    problems.invalidAll(path, key, configKeyErrors(key));
    if (Object.hasOwn(binary, key)) problems.invalid(path, key, "duplicate of key present in binaryData");
    bytes += utf8Length(value);
  }
  for (const [key, value] of textMapAt(object, "binaryData")) {
    problems.invalidAll(FieldPath.of("binaryData").key(key), key, configKeyErrors(key));
    bytes += base64Bytes(value);
  }
  if (bytes > maxDataBytes) problems.tooLong(FieldPath.root.key(""), maxDataBytes);
}

/** Checks that immutable data has not changed, and is still marked as immutable. */
function checkImmutableData(object: JsonObject, old: JsonObject, keys: readonly string[], problems: Problems): void {
  if (!booleanAt(old, "immutable")) return;
  const why = "field is immutable when `immutable` is set";
  if (!booleanAt(object, "immutable")) problems.forbidden(FieldPath.of("immutable"), why);
  for (const key of keys) {
    if (!isSameJson(objectAt(object, key), objectAt(old, key))) problems.forbidden(FieldPath.of(key), why);
  }
}

/** Secret. */
export const secretRules: KindRules = {
  depth: "full",
  fieldSelectors: new Map([["type", (object) => textAt(object, "type")]]),
  prepareForUpdate(draft, old) {
    if (textAt(draft, "type") === "") draft["type"] = textAt(old, "type");
  },
  validate: checkSecret,
  validateUpdate(object, old, problems) {
    if (textAt(object, "type") !== textAt(old, "type")) {
      problems.invalid(FieldPath.of("type"), textAt(object, "type"), fieldIsImmutable);
    }
    checkImmutableData(object, old, ["data"], problems);
    checkSecret(object, problems);
  },
};

/** The keys that a Secret of a type must have. */
const requiredKeys: ReadonlyMap<string, readonly string[]> = new Map([
  ["kubernetes.io/dockercfg", [".dockercfg"]],
  ["kubernetes.io/dockerconfigjson", [".dockerconfigjson"]],
  ["kubernetes.io/tls", ["tls.crt", "tls.key"]],
]);

function checkSecret(object: JsonObject, problems: Problems): void {
  const data = objectAt(object, "data");
  const path = FieldPath.of("data");
  let bytes = 0;
  for (const [key, value] of textMapAt(object, "data")) {
    problems.invalidAll(path.key(key), key, configKeyErrors(key));
    bytes += base64Bytes(value);
  }
  if (bytes > maxDataBytes) problems.tooLong(path, maxDataBytes);
  const type = textAt(object, "type");
  for (const key of requiredKeys.get(type) ?? []) if (!has(data, key)) problems.required(path.key(key));
  if (type.startsWith("kubernetes.io/dockerc")) checkDockerConfig(data, path, problems);
  if (type === "kubernetes.io/basic-auth" && !has(data, "username") && !has(data, "password")) {
    problems.required(path.key("username"));
    problems.required(path.key("password"));
  }
  if (type === "kubernetes.io/ssh-auth" && textAt(data, "ssh-privatekey") === "") {
    problems.required(path.key("ssh-privatekey"));
  }
  if (type === "kubernetes.io/service-account-token") checkTokenSecret(object, problems);
}

function checkTokenSecret(object: JsonObject, problems: Problems): void {
  if (textAt(objectAt(metadataOf(object), "annotations"), serviceAccountName) !== "") return;
  problems.required(FieldPath.of("metadata", "annotations").key(serviceAccountName));
}

function checkDockerConfig(data: JsonObject, path: FieldPath, problems: Problems): void {
  for (const key of [".dockercfg", ".dockerconfigjson"]) {
    if (!has(data, key)) continue;
    const why = jsonObjectError(fromBase64(textAt(data, key)));
    if (why !== undefined) problems.invalid(path.key(key), "<secret contents redacted>", why);
  }
}

/** Returns the error of Go's decoder for a text that is not a JSON object. */
function jsonObjectError(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (value === null || (typeof value === "object" && !Array.isArray(value))) return undefined;
    const found = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
    return `json: cannot unmarshal ${found} into Go value of type map[string]interface {}`;
  } catch {
    return jsonError(text);
  }
}

/** ServiceAccount. */
export const serviceAccountRules: KindRules = {
  depth: "full",
  prepareForCreate: keepOnlySecretNames,
  prepareForUpdate: keepOnlySecretNames,
  validate() {},
  warnings(object, old) {
    const marked = (each: JsonObject | undefined) =>
      each !== undefined && Object.hasOwn(objectAt(metadataOf(each), "annotations"), mountableSecrets);
    if (!marked(object) || marked(old)) return [];
    const why = "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets";
    return [`metadata.annotations[${mountableSecrets}]: ${why}`];
  },
};

/** Keeps only the name in references to Secrets. */
function keepOnlySecretNames(draft: Draft): void {
  for (const secret of draftsAt(draft, "secrets")) {
    for (const key of Object.keys(secret)) if (key !== "name") delete secret[key];
  }
}

/** The defaults of Secrets. */
export const secretDefaults: DefaultsByType = {
  "core/v1.Secret": (draft) => {
    encodeStringData(draft);
    setIfEmpty(draft, "type", "Opaque");
  },
};

/** Encodes `stringData` into `data`. */
function encodeStringData(draft: Draft): void {
  const texts = findDraft(draft, "stringData");
  if (texts === undefined) return;
  const data = draftAt(draft, "data");
  for (const [key, value] of Object.entries(texts)) put<DraftValue>(data, key, toBase64(String(value)));
  delete draft["stringData"];
}

/** The cells of a ConfigMap. */
export const configMapRow: Row = rowOf(nameCell, countCell("data", "binaryData"), ageCell);

/** The cells of a Secret. */
export const secretRow: Row = rowOf(nameCell, textCell("type"), countCell("data"), ageCell);

/** The cells of a ServiceAccount. */
export const serviceAccountRow: Row = rowOf(nameCell, ageCell);
