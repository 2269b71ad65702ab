/**
 * Validates the spec of a CustomResourceDefinition without its schemas: names, versions, columns, subresources, selectable
 * fields, conversion. Texts of apiextensions `validation.go` of Kubernetes 1.36.
 */
import { dnsSubdomainErrors, type JsonObject, read } from "../../model/mod.ts";
import { checkClientConfig, type FieldPath, objectAt, type Problems, textAt, textsAt } from "../../kinds/mod.ts";
import { dns1035LabelErrors } from "../../../cel/mod.ts";
import { caBundleError } from "./definition_conditions.ts";
import { type CrdNames } from "./crd_spec.ts";
import { type DefinitionForm, goVersions, type SharedParts, type VersionForm } from "./definition_form.ts";
import { parseFieldPath, type SchemaProps } from "../schema/mod.ts";

/** Checks the group, the scope, and that every version has a schema. */
export function checkHead(form: DefinitionForm, path: FieldPath, problems: Problems): void {
  const { group, scope } = form;
  const errors = dnsSubdomainErrors(group);
  if (group === "") problems.required(path.child("group"));
  else if (errors.length > 0) problems.invalid(path.child("group"), group, errors.join(","));
  else if (!group.includes(".")) {
    problems.invalid(path.child("group"), group, "should be a domain with at least one dot");
  }
  checkOneOf(scope, ["Cluster", "Namespaced"], path.child("scope"), problems);
  if (form.shared.schema !== undefined) return;
  form.versions.forEach((version, index) => {
    if (version.schema !== undefined) return;
    problems.required(path.child("versions").index(index).child("schema", "openAPIV3Schema"));
  });
}

/** Checks that a value is one of a list. */
export function checkOneOf(value: string, allowed: readonly string[], path: FieldPath, problems: Problems): void {
  if (value === "") problems.required(path);
  else if (!allowed.includes(value)) problems.notSupported(path, value, allowed);
}

/** Checks one version without its schema. */
export function checkVersion(version: VersionForm, path: FieldPath, problems: Problems): void {
  const { isDeprecated, deprecationWarning: warning } = version;
  if (warning === undefined) return;
  const where = path.child("deprecationWarning");
  if (!isDeprecated) return problems.invalid(where, warning, "can only be set for deprecated versions");
  if (new TextEncoder().encode(warning).length > 256) {
    problems.invalid(where, warning, "must be <= 256 characters long");
  }
  if (warning === "") problems.invalid(where, warning, "must not be an empty string");
  const unprintable = /[^ \p{L}\p{M}\p{N}\p{P}\p{S}]/u.exec(warning);
  if (unprintable === null) return;
  const at = new TextEncoder().encode(warning.slice(0, unprintable.index)).length;
  const detail = `must only contain printable UTF-8 characters; non-printable character found at index ${at}`;
  problems.invalid(where, warning, detail);
}

/** Checks the versions together. */
export function checkVersions(versions: readonly VersionForm[], path: FieldPath, problems: Problems): void {
  const refuse = (detail: string): void =>
    problems.add([{
      type: "Invalid",
      field: path.child("versions").toString(),
      value: "",
      shown: goVersions(versions),
      detail,
    }]);
  if (new Set(versions.map(({ name }) => name)).size < versions.length) refuse("must contain unique version names");
  if (versions.filter(({ isStorage }) => isStorage).length !== 1) {
    refuse("must have exactly one version marked as storage version");
  }
  const name = versions[0]?.name ?? "";
  if (name !== "") checkLabel(name, path.child("version"), problems);
}

/** Checks a DNS label of RFC 1035. */
export function checkLabel(value: string, path: FieldPath, problems: Problems): void {
  const errors = dns1035LabelErrors(value);
  if (errors.length > 0) problems.invalid(path, value, errors.join(","));
}

/** Checks that the required names are set. */
export function checkRequiredNames(names: CrdNames, path: FieldPath, problems: Problems): void {
  for (const key of ["plural", "singular", "kind", "listKind"] as const) {
    if (names[key] === "") problems.required(path.child(key));
  }
}

/** Checks `spec.names` or `status.acceptedNames`. */
export function checkNames(names: CrdNames, path: FieldPath, problems: Problems): void {
  for (const key of ["plural", "singular"] as const) {
    if (names[key] !== "") checkLabel(names[key], path.child(key), problems);
  }
  for (const key of ["kind", "listKind"] as const) {
    const errors = names[key] === "" ? [] : dns1035LabelErrors(names[key].toLowerCase());
    if (errors.length === 0) continue;
    const detail = `may have mixed case, but should otherwise match: ${errors.join(",")}`;
    problems.invalid(path.child(key), names[key], detail);
  }
  names.shortNames.forEach((name, index) => checkLabel(name, path.child("shortNames").index(index), problems));
  if (names.kind !== "" && names.kind === names.listKind) {
    problems.invalid(path.child("listKind"), names.listKind, "kind and listKind may not be the same");
  }
  names.categories.forEach((name, index) => checkLabel(name, path.child("categories").index(index), problems));
}

const columnTypes = ["boolean", "date", "integer", "number", "string"];
const columnFormats = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

/** Checks the printer columns. */
export function checkColumns(columns: readonly JsonObject[], path: FieldPath, problems: Problems): void {
  columns.forEach((column, index) => {
    const where = path.child("additionalPrinterColumns").index(index);
    if (textAt(column, "name") === "") problems.required(where.child("name"));
    const [type, format] = [textAt(column, "type"), textAt(column, "format")];
    const typeDetail = `must be one of ${columnTypes.join(",")}`;
    if (type === "") problems.required(where.child("type"), typeDetail);
    else if (!columnTypes.includes(type)) problems.invalid(where.child("type"), type, typeDetail);
    if (format !== "" && !columnFormats.includes(format)) {
      problems.invalid(where.child("format"), format, `must be one of ${columnFormats.join(",")}`);
    }
    const jsonPath = textAt(column, "jsonPath");
    if (jsonPath === "") problems.required(where.child("JSONPath"));
    else checkDotted(jsonPath, where.child("JSONPath"), problems);
  });
}

function checkDotted(jsonPath: string, path: FieldPath, problems: Problems): boolean {
  if (jsonPath.startsWith(".")) return true;
  problems.invalid(path, jsonPath, "must be a simple json path starting with .");
  return false;
}

/** Checks the paths of the scale subresource. */
export function checkSubresources(subresources: JsonObject | undefined, path: FieldPath, problems: Problems): void {
  if (subresources === undefined || (read(subresources, "scale") ?? null) === null) return;
  const scale = objectAt(subresources, "scale");
  const check = (key: string, prefixes: readonly string[], where: string): void => {
    const place = path.child("subresources").child(`scale.${key}`);
    const jsonPath = textAt(scale, key);
    if (jsonPath === "" && key !== "labelSelectorPath") return problems.required(place);
    if (jsonPath === "" || !checkDotted(jsonPath, place, problems)) return;
    if (prefixes.some((prefix) => jsonPath.startsWith(prefix))) return;
    problems.invalid(place, jsonPath, `should be a json path under ${where}`);
  };
  check("specReplicasPath", [".spec."], ".spec");
  check("statusReplicasPath", [".status."], ".status");
  check("labelSelectorPath", [".spec.", ".status."], "either .spec or .status");
}

const maxSelectableFields = 8;

/** Checks the selectable fields. @param missing the detail when there is no schema */
export function checkSelectableFields(parts: SharedParts, missing: string, path: FieldPath, problems: Problems): void {
  const { selectableFields, schema } = parts;
  const where = path.child("selectableFields");
  if (selectableFields.length === 0) return;
  if (schema === undefined) return problems.invalid(where, "", missing);
  const seen = new Set<string>();
  selectableFields.forEach((text, index) =>
    checkSelectableField(text, schema, seen, where.index(index).child("jsonPath"), problems)
  );
  if (seen.size > maxSelectableFields) problems.tooMany(where, seen.size, maxSelectableFields);
}

function checkSelectableField(
  text: string,
  schema: SchemaProps,
  seen: Set<string>,
  path: FieldPath,
  problems: Problems,
): void {
  if (text === "") return problems.required(path);
  const found = parseFieldPath(text, schema, false);
  if (found.kind === "failed") return problems.invalid(path, text, `is an invalid path: ${found.message}`);
  if (found.steps[0] === "metadata") problems.invalid(path, text, "must not point to fields in metadata");
  if (!["string", "boolean", "integer"].includes(found.schema.type)) {
    const detail =
      "must point to a field of type string, boolean or integer. Enum string fields and strings with formats " +
      "are allowed.";
    problems.invalid(path, text, detail);
  }
  if (seen.has(found.path)) problems.duplicate(path, text);
  seen.add(found.path);
}

const reviewVersions = ["v1", "v1beta1"];

/** Checks the conversion. @param isEstablished the CA bundle is checked only in an established definition */
export function checkConversion(
  conversion: JsonObject | undefined,
  isEstablished: boolean,
  path: FieldPath,
  problems: Problems,
): void {
  if (conversion === undefined) return;
  const strategy = textAt(conversion, "strategy");
  const webhook = objectAt(conversion, "webhook");
  const client = (read(webhook, "clientConfig") ?? null) === null ? undefined : objectAt(webhook, "clientConfig");
  const versions = textsAt(webhook, "conversionReviewVersions");
  const [clientPath, versionsPath] = [path.child("webhookClientConfig"), path.child("conversionReviewVersions")];
  checkOneOf(strategy, ["None", "Webhook"], path.child("strategy"), problems);
  if (strategy !== "Webhook") {
    const detail = "should not be set when strategy is not set to Webhook";
    if (client !== undefined) problems.forbidden(clientPath, detail);
    if (versions.length > 0) problems.forbidden(versionsPath, detail);
    return;
  }
  if (client === undefined) problems.required(clientPath, "required when strategy is set to Webhook");
  else checkClient(client, isEstablished, clientPath, problems);
  checkReviewVersions(versions, versionsPath, problems);
}

function checkClient(client: JsonObject, isEstablished: boolean, path: FieldPath, problems: Problems): void {
  const service = objectAt(client, "service");
  // The real server passes name and namespace in the wrong order, so the error of each names the other one.
  const swapped = { ...service, name: textAt(service, "namespace"), namespace: textAt(service, "name") };
  const isService = (read(client, "service") ?? null) !== null;
  checkClientConfig(isService ? { ...client, service: swapped } : client, path, problems);
  const bundle = textAt(client, "caBundle");
  const wrong = isEstablished ? caBundleError(bundle) : undefined;
  if (wrong !== undefined) problems.invalid(path.child("caBundle"), bundle, wrong);
}

function checkReviewVersions(versions: readonly string[], path: FieldPath, problems: Problems): void {
  if (versions.length === 0) return problems.required(path);
  const seen = new Set<string>();
  versions.forEach((version, index) => {
    const where = path.index(index);
    if (seen.has(version)) return problems.invalid(where, version, "duplicate version");
    seen.add(version);
    for (const error of dns1035LabelErrors(version)) problems.invalid(where, version, error);
  });
  if (reviewVersions.some((version) => seen.has(version))) return;
  problems.invalid(path, versions, `must include at least one of ${reviewVersions.join(", ")}`);
}
