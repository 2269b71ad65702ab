/**
 * The rules of the kind CustomResourceDefinition: what a write sets, validates and warns about. Order and texts of
 * apiextensions `validation.go` and `strategy.go` of Kubernetes 1.36.
 *
 * Caveats: unlike the real server, old stored definitions get no exceptions, because this server has never stored an
 * invalid one.
 */
import { FieldPath, type KindRules, objectAt, objectsAt, type Problems, textAt, textsAt } from "../../kinds/mod.ts";
import { formatCheck } from "../../../cel/mod.ts";
import { type Draft, isDraft, isSameJson, type Json, type JsonObject, put, read } from "../../model/mod.ts";
import { readNames } from "./crd_spec.ts";
import {
  checkColumns,
  checkConversion,
  checkHead,
  checkLabel,
  checkNames,
  checkRequiredNames,
  checkSelectableFields,
  checkSubresources,
  checkVersion,
  checkVersions,
} from "./definition_checks.ts";
import { isWithinBudget } from "./definition_budget.ts";
import { type DefinitionForm, readForm, schemasOf, type SharedParts, type VersionForm } from "./definition_form.ts";
import { checkSchema } from "./definition_schema.ts";
import { approvalAnnotation, approvalOf, markTerminating, needsApproval } from "./definition_conditions.ts";
import { type SchemaProps, valueSchema } from "../schema/mod.ts";

const specPath = FieldPath.of("spec");
const statusPath = FieldPath.of("status");

/** The collection of definitions in the storage. */
export const definitionCollection = "customresourcedefinitions.apiextensions.k8s.io";

/** The rules, for `BuiltinKindsOptions.rules` under `CustomResourceDefinition.apiextensions.k8s.io`. */
export const definitionRules: KindRules = {
  depth: "full",
  allowsPlainFinalizers: true,
  generationFields: ["spec"],
  allowsUnconditionalUpdate: false,
  deletion: {
    // The first DELETE sets the deletionTimestamp; after that the finalizer holds the definition.
    isHeld: (object) => read(objectAt(object, "metadata"), "deletionTimestamp") === undefined,
    mark: markTerminating,
  },
  prepareForCreate: (draft) => {
    put(draft, "status", {});
    addStoredVersion(draft);
  },
  prepareForUpdate: addStoredVersion,
  validate: (object, problems) => {
    if (!isWithinBudget(object, problems)) return;
    const form = readForm(object);
    if (form.name !== "" && form.name !== `${form.names.plural}.${form.group}`) {
      problems.invalid(FieldPath.of("metadata", "name"), form.name, 'must be spec.names.plural+"."+spec.group');
    }
    checkDefinition(object, form, undefined, problems);
  },
  validateUpdate: (object, old, problems) => {
    if (!isWithinBudget(object, problems)) return;
    const [form, before] = [readForm(object), readForm(old)];
    checkDefinition(object, form, before, problems);
  },
  validateStatus: (object, _old, problems) => checkStatusNames(readForm(object), problems),
  warnings: (object, old) => {
    const known = new Set(old === undefined ? [] : unknownFormats(readForm(old)));
    const found = unknownFormats(readForm(object)).filter((format) => !known.has(format));
    return [...new Set(found)].map((format) => `unrecognized format ${JSON.stringify(format)}`);
  },
};

function checkDefinition(
  object: JsonObject,
  form: DefinitionForm,
  old: DefinitionForm | undefined,
  problems: Problems,
): void {
  checkSpec(form, old?.isEstablished === true, problems);
  if (old !== undefined) checkImmutable(form, old, problems);
  checkStatusNames(form, problems);
  checkStoredVersions(form, problems);
  checkApproval(form, old, problems);
  if (read(objectAt(object, "spec"), "preserveUnknownFields") === true) {
    const detail =
      "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
    problems.invalid(specPath.child("preserveUnknownFields"), true, detail);
  }
}

function checkSpec(form: DefinitionForm, isEstablished: boolean, problems: Problems): void {
  checkHead(form, specPath, problems);
  const schemas = schemasOf(form);
  if (
    form.preservesUnknownFields && schemas.some((schema) => hasSchema(schema, (node) => node.default !== undefined))
  ) {
    const detail = "must be false in order to use defaults in the schema";
    problems.invalid(specPath.child("preserveUnknownFields"), true, detail);
  }
  form.versions.forEach((version, index) => {
    const path = specPath.child("versions").index(index);
    checkLabel(version.name, path.child("name"), problems);
    checkVersion(version, path, problems);
    checkVersionParts(form, version, path, problems);
  });
  checkVersions(form.versions, specPath, problems);
  checkRequiredNames(form.names, specPath.child("names"), problems);
  checkNames(form.names, specPath.child("names"), problems);
  checkSharedParts(form, problems);
  if (form.preservesUnknownFields && form.conversion !== undefined) {
    const strategy = textAt(form.conversion, "strategy");
    const detail = "must be None if spec.preserveUnknownFields is true";
    if (strategy !== "None") problems.invalid(specPath.child("conversion", "strategy"), strategy, detail);
  }
  checkConversion(form.conversion, isEstablished, specPath.child("conversion"), problems);
}

/** Checks the parts of a version that other versions do not share. */
function checkVersionParts(form: DefinitionForm, version: VersionForm, path: FieldPath, problems: Problems): void {
  const isShared = form.versions.every(({ subresources }) => subresources === undefined);
  const hasStatus = isStatusOn(isShared ? form.shared : version);
  if (version.schema !== undefined) {
    checkSchema(version.schema, hasStatus, path.child("schema", "openAPIV3Schema"), problems);
  }
  checkSubresources(version.subresources, path, problems);
  checkColumns(version.columns, path, problems);
  const missing = "may only be set when `version.schema.openAPIV3Schema` is not included";
  checkSelectableFields(version, missing, path, problems);
}

/** Checks the parts that all versions share. */
function checkSharedParts({ shared, versions }: DefinitionForm, problems: Problems): void {
  if (shared.schema !== undefined) {
    const hasStatus = [shared, ...versions].some(isStatusOn);
    checkSchema(shared.schema, hasStatus, specPath.child("validation", "openAPIV3Schema"), problems);
  }
  checkSubresources(shared.subresources, specPath, problems);
  checkColumns(shared.columns, specPath, problems);
  checkSelectableFields(shared, "may only be set when validations.schema is included", specPath, problems);
}

function isStatusOn({ subresources }: SharedParts): boolean {
  return subresources !== undefined && (read(subresources, "status") ?? null) !== null;
}

/** Checks that immutable fields did not change. */
function checkImmutable(form: DefinitionForm, old: DefinitionForm, problems: Problems): void {
  const check = (path: FieldPath, value: Json, before: Json): void => {
    if (!isSameJson(value, before)) problems.invalid(path, value, "field is immutable");
  };
  if (old.isEstablished) {
    check(specPath.child("scope"), form.scope, old.scope);
    check(specPath.child("names", "kind"), form.names.kind, old.names.kind);
  }
  check(specPath.child("group"), form.group, old.group);
  check(specPath.child("names", "plural"), form.names.plural, old.names.plural);
}

function checkStatusNames({ status }: DefinitionForm, problems: Problems): void {
  checkNames(readNames(objectAt(status, "acceptedNames")), statusPath.child("acceptedNames"), problems);
}

/** A version must stay in the spec while objects may be stored in it. */
function checkStoredVersions({ status, versions }: DefinitionForm, problems: Problems): void {
  const path = statusPath.child("storedVersions");
  const stored = textsAt(status, "storedVersions");
  if (stored.length === 0) return problems.invalid(path, stored, "must have at least one stored version");
  for (const { name, isStorage } of versions) {
    if (isStorage && !stored.includes(name)) problems.invalid(path, stored, `must have the storage version ${name}`);
  }
  stored.forEach((name, index) => {
    if (versions.some((version) => version.name === name)) return;
    const detail =
      `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions ` +
      `until a storage migration ensures no data remains persisted in ${name} and removes ${name} from ` +
      "status.storedVersions";
    problems.invalid(path.index(index), name, detail);
  });
}

function checkApproval(form: DefinitionForm, old: DefinitionForm | undefined, problems: Problems): void {
  if (!needsApproval(form.group)) return;
  const { state, text } = approvalOf(form.approval);
  if (old !== undefined && approvalOf(old.approval).state === state) return;
  const path = FieldPath.of("metadata", "annotations").key(approvalAnnotation);
  if (state === "missing") problems.required(path, text);
  if (state === "invalid") problems.invalid(path, form.approval, text);
}

/** Adds the current storage version to the stored versions. */
function addStoredVersion(draft: Draft): void {
  const storage = objectsAt(objectAt(draft, "spec"), "versions").find((version) => read(version, "storage") === true);
  const status = read(draft, "status");
  if (storage === undefined || !isDraft(status)) return;
  const [name, stored] = [textAt(storage, "name"), textsAt(status, "storedVersions")];
  if (!stored.includes(name)) put(status, "storedVersions", [...stored, name]);
}

/** Formats that are not validated. */
function unknownFormats(form: DefinitionForm): readonly string[] {
  const found: string[] = [];
  for (const schema of schemasOf(form)) {
    hasSchema(schema, (node) => {
      if (node.format !== "" && !isKnownFormat(node)) found.push(node.format);
      return false;
    });
  }
  return found;
}

function isKnownFormat({ type, format }: SchemaProps): boolean {
  if (type === "" || type === "string") return formatCheck(format) !== undefined;
  if (type === "integer") return format === "int32" || format === "int64";
  return type === "number" && (format === "float" || format === "double");
}

/** True when a node of the schema matches. */
function hasSchema(schema: SchemaProps, matches: (node: SchemaProps) => boolean): boolean {
  if (matches(schema)) return true;
  const parts = [
    schema.items,
    ...schema.allOf,
    ...schema.anyOf,
    ...schema.oneOf,
    schema.not,
    ...schema.properties.values(),
    valueSchema(schema),
  ];
  return parts.some((part) => part !== undefined && hasSchema(part, matches));
}
