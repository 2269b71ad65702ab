/**
 * Validates the schema of a CustomResourceDefinition: it must be structural, have valid defaults, use no forbidden keyword,
 * and, if all of that holds, have valid rules. Order and texts of apiextensions `validation.go` of Kubernetes 1.36.
 */
import { FieldPath, Problems } from "../../kinds/mod.ts";
import { goSchema, setFieldsOf } from "./definition_form.ts";
import {
  compileEmbeddedCheck,
  compileValidator,
  fieldErrorsOf,
  fieldPath,
  prunedDefault,
  type SchemaProps,
  type UnsupportedKeyword,
} from "../schema/mod.ts";
import { structuralErrors } from "./structural_checks.ts";
import { type FieldError, isJsonObject, isSameJson, type Json } from "../../model/mod.ts";
import { checkRules, checkRuleTexts, RuleCosts, RuleScope } from "./rule_checks.ts";
import { compileRuleWalk, objectCostBudget, type RuleRun } from "../../../cel/mod.ts";

/**
 * Checks a whole schema.
 *
 * @param hasStatus true when status is a subresource, which is validated by `properties.status` alone
 * @param path of `openAPIV3Schema`
 */
export function checkSchema(schema: SchemaProps, hasStatus: boolean, path: FieldPath, problems: Problems): void {
  const before = problems.count;
  if (hasStatus) checkRootFields(schema, path, problems);
  if (schema.nullable) problems.forbidden(path.child("nullable"), "nullable cannot be true at the root");
  const unsupported = unsupportedText(schema);
  const structural = unsupported === undefined ? structuralErrors(schema, path) : [];
  const defaults = unsupported === undefined && structural.length === 0 ? defaultErrors(schema, path) : [];
  problems.add([...structural, ...defaults]);
  const isValid = unsupported === undefined && structural.length === 0 && defaults.length === 0;
  const costs = new RuleCosts();
  const walk = new SchemaWalk();
  walk.visitRoot(schema, path, isValid ? new RuleScope(schema, 1, costs) : undefined);
  problems.add(walk.errors);
  // The walk usually reports the same keyword with a better path.
  if (unsupported !== undefined && problems.count === before) problems.invalid(path, "", unsupported);
  costs.report(path, problems);
}

const rootFields = [
  ...["Description", "Type", "Format", "Title", "Maximum", "ExclusiveMaximum", "Minimum", "ExclusiveMinimum"],
  ...["MaxLength", "MinLength", "Pattern", "MaxItems", "MinItems", "UniqueItems", "MultipleOf", "Required", "Items"],
  ...["Properties", "ExternalDocs", "Example", "XPreserveUnknownFields", "XValidations"],
];

/** Checks that the root has only fields that are allowed beside a status subresource. */
function checkRootFields(schema: SchemaProps, path: FieldPath, problems: Problems): void {
  for (const field of setFieldsOf(schema.json)) {
    if (field === "Type" && schema.type !== "object") {
      const detail =
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
      return problems.invalid(path.child("type"), schema.type, detail);
    }
    if (rootFields.includes(field)) continue;
    const detail =
      `only [${rootFields.join(" ")}] fields are allowed at the root of the schema if the status subresource ` +
      "is enabled";
    return problems.invalidStruct(path, goSchema(schema.json), detail);
  }
}

/** Why the schema cannot become a structural schema; undefined when it can. */
function unsupportedText(schema: SchemaProps): string | undefined {
  const { unsupported } = schema;
  for (
    const keyword of ["id", "schema", "$ref", "patternProperties", "dependencies", "additionalItems", "definitions"]
  ) {
    const key = keyword === "schema" ? "$schema" : keyword;
    if ([...unsupported].some((found) => found === key)) return `OpenAPIV3Schema '${keyword}' is not supported`;
  }
  for (const part of [schema.not, ...schema.allOf, ...schema.anyOf, ...schema.oneOf]) {
    const found = part && unsupportedText(part);
    if (found !== undefined) return found;
  }
  if (schema.preservesUnknownFields === false) {
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  }
  if (unsupported.has("itemsArray")) return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  const { items, additionalProperties: values } = schema;
  for (const part of [items, ...schema.properties.values(), typeof values === "object" ? values : undefined]) {
    const found = part && unsupportedText(part);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What the position of a node implies. */
interface NodePosition {
  readonly isRoot: boolean;
  /** Why defaults are forbidden; undefined when they are allowed. */
  readonly noDefaults: string | undefined;
  /** True inside the metadata of a resource. */
  readonly isInMetadata: boolean;
  /** The outermost list whose items have no old values; undefined when all values have one. */
  readonly uncorrelated: FieldPath | undefined;
  /** Undefined when rules are not checked. */
  readonly rules: RuleScope | undefined;
}

const metaFields = new Set(["metadata", "kind", "apiVersion"]);
const types = ["array", "boolean", "integer", "number", "object", "string"];

/** Visits all nodes of a schema and collects their errors. Errors of rules are last, and only for otherwise valid nodes. */
class SchemaWalk {
  readonly #schemaProblems = new Problems();
  readonly #ruleProblems = new Problems();

  /** All errors, those of rules last. */
  get errors(): readonly FieldError[] {
    return [...this.#schemaProblems.list, ...this.#ruleProblems.list];
  }

  visitRoot(schema: SchemaProps, path: FieldPath, rules: RuleScope | undefined): void {
    this.#visit(schema, path, {
      isRoot: true,
      noDefaults: undefined,
      isInMetadata: false,
      uncorrelated: undefined,
      rules,
    });
  }

  #visit(schema: SchemaProps, path: FieldPath, position: NodePosition): void {
    const before = this.#schemaProblems.count;
    this.#checkKeywords(schema, path, position);
    const inside: NodePosition = { ...position, isRoot: false };
    this.#visitValues(schema, path, inside);
    this.#visitProperties(schema, path, position);
    this.#visitParts(schema, path, inside);
    this.#visitItems(schema, path, inside);
    if (schema.preservesUnknownFields === false) {
      const detail = "must be true or undefined";
      this.#schemaProblems.invalid(path.child("x-kubernetes-preserve-unknown-fields"), false, detail);
    }
    checkListTypes(schema, path, this.#schemaProblems);
    if (schema.rules.length === 0) return;
    checkRuleTexts(schema, path, this.#schemaProblems);
    if (this.#schemaProblems.count > before || position.rules === undefined) return;
    checkRules(schema, path, position.rules, position.uncorrelated, this.#ruleProblems);
  }

  #visitValues(schema: SchemaProps, path: FieldPath, position: NodePosition): void {
    const { additionalProperties: values } = schema;
    if (values === undefined) return;
    const where = path.child("additionalProperties");
    if (schema.properties.size > 0 && values !== true) {
      this.#schemaProblems.forbidden(where, "additionalProperties and properties are mutual exclusive");
    }
    if (typeof values !== "object") return;
    const noDefaults = position.isInMetadata
      ? "inside additionalProperties applying to object metadata"
      : position.noDefaults;
    this.#visit(values, where, { ...position, noDefaults, rules: position.rules?.child(values) });
  }

  #visitProperties(schema: SchemaProps, path: FieldPath, position: NodePosition): void {
    for (const [name, property] of schema.properties) {
      const isMeta = (position.isRoot || schema.isEmbeddedResource) && metaFields.has(name);
      this.#visit(property, path.child("properties").key(name), {
        ...position,
        isRoot: false,
        noDefaults: isMeta && position.isRoot ? `in top-level ${name}` : position.noDefaults,
        isInMetadata: isMeta || position.isInMetadata,
        rules: position.rules?.child(property),
      });
    }
  }

  #visitParts(schema: SchemaProps, path: FieldPath, position: NodePosition): void {
    const inside: NodePosition = { ...position, rules: undefined };
    if (schema.not !== undefined) this.#visit(schema.not, path.child("not"), inside);
    for (const key of ["allOf", "oneOf", "anyOf"] as const) {
      schema[key].forEach((part, index) => this.#visit(part, path.child(key).index(index), inside));
    }
  }

  #visitItems(schema: SchemaProps, path: FieldPath, position: NodePosition): void {
    if (schema.items === undefined) return;
    const uncorrelated = position.uncorrelated ?? (schema.listType === "map" ? undefined : path);
    this.#visit(schema.items, path.child("items"), {
      ...position,
      uncorrelated,
      rules: position.rules?.child(schema.items),
    });
  }

  #checkKeywords(schema: SchemaProps, path: FieldPath, position: NodePosition): void {
    const problems = this.#schemaProblems;
    const { type, unsupported } = schema;
    if (type !== "" && !types.includes(type)) problems.notSupported(path.child("type"), type, types);
    if (schema.default !== undefined && position.noDefaults !== undefined) {
      problems.forbidden(path.child("default"), `must not be set ${position.noDefaults}`);
    }
    for (const keyword of unsupportedKeywords) {
      if (unsupported.has(keyword)) problems.forbidden(path.child(keyword), `${keyword} is not supported`);
    }
    if (type === "null") {
      problems.forbidden(path.child("type"), "type cannot be set to null, use nullable as an alternative");
    }
    if (unsupported.has("itemsArray")) {
      problems.forbidden(path.child("items"), "items must be a schema object and not an array");
    }
    if (position.isInMetadata && schema.isEmbeddedResource) {
      problems.forbidden(path.child("x-kubernetes-embedded-resource"), "must not be used inside of resource meta");
    }
    if (schema.uniqueItems) {
      const detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
      problems.forbidden(path.child("uniqueItems"), detail);
    }
  }
}

const unsupportedKeywords: readonly UnsupportedKeyword[] = [
  "id",
  "additionalItems",
  "patternProperties",
  "definitions",
  "dependencies",
  "$ref",
];

const listTypeKey = "x-kubernetes-list-type";
const mapTypeKey = "x-kubernetes-map-type";
const mapKeysKey = "x-kubernetes-list-map-keys";

/** Checks x-kubernetes-list-type, -list-map-keys and -map-type at one node of a schema. */
function checkListTypes(schema: SchemaProps, path: FieldPath, problems: Problems): void {
  const { listType, mapType } = schema;
  if (mapType !== undefined) {
    checkType(schema, "object", mapTypeKey, path, problems);
    if (mapType !== "atomic" && mapType !== "granular") {
      problems.notSupported(path.child(mapTypeKey), mapType, ["atomic", "granular"]);
    }
  }
  if (listType !== undefined && schema.type !== "array") checkType(schema, "array", listTypeKey, path, problems);
  else if (listType === "set") checkSetItems(schema.items, path.child("items"), problems);
  if (listType !== undefined && !["atomic", "set", "map"].includes(listType)) {
    problems.notSupported(path.child(listTypeKey), listType, ["atomic", "set", "map"]);
  }
  if (schema.listMapKeys.length > 0 && listType !== "map") {
    const detail = "must be map if x-kubernetes-list-map-keys is non-empty";
    if (listType === undefined) problems.required(path.child(listTypeKey), detail);
    else problems.invalid(path.child(listTypeKey), listType, detail);
  }
  if (listType === "map") checkMapList(schema, path, problems);
  if (listType === "map" || listType === "set") checkNullability(schema, listType, path, problems);
}

function checkType(schema: SchemaProps, type: string, key: string, path: FieldPath, problems: Problems): void {
  if (schema.type === type) return;
  const detail = `must be ${type} if ${key} is specified`;
  if (schema.type === "") problems.required(path.child("type"), detail);
  else problems.invalid(path.child("type"), schema.type, detail);
}

/** Items of a set are compared as a whole, so they must be atomic. */
function checkSetItems(items: SchemaProps | undefined, path: FieldPath, problems: Problems): void {
  if (items === undefined) return;
  const detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
  if (items.type === "array" && items.listType !== undefined && items.listType !== "atomic") {
    problems.invalid(path.child(listTypeKey), items.listType, detail);
  }
  if (items.type === "object" && items.mapType !== "atomic") {
    problems.invalid(path.child(mapTypeKey), items.listType ?? null, detail);
  }
}

function checkMapList(schema: SchemaProps, path: FieldPath, problems: Problems): void {
  const { items, listMapKeys } = schema;
  const where = path.child(mapKeysKey);
  if (listMapKeys.length === 0) problems.required(where, "must not be empty if x-kubernetes-list-type is map");
  if (items === undefined) {
    if (schema.unsupported.has("itemsArray")) return;
    return problems.required(path.child("items"), "must have a schema if x-kubernetes-list-type is map");
  }
  if (items.type !== "object") {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    return problems.invalid(path.child("items", "type"), items.type, detail);
  }
  const seen = new Set<string>();
  for (const key of listMapKeys) {
    const property = items.properties.get(key);
    if (property === undefined) {
      problems.invalid(where, listMapKeys, "entries must all be names of item properties");
    } else if (property.type === "array" || property.type === "object") {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      problems.invalid(path.child("items", "properties").key(key).child("type"), items.type, detail);
    }
    if (seen.has(key)) problems.invalid(where, listMapKeys, "must not contain duplicate entries");
    seen.add(key);
  }
}

/** Items of sets and maps must not be nullable, and map keys must be required or have a default. */
function checkNullability(schema: SchemaProps, listType: string, path: FieldPath, problems: Problems): void {
  const { items } = schema;
  if (items === undefined) return;
  if (items.nullable) {
    const detail = `cannot be nullable when x-kubernetes-list-type is ${listType}`;
    problems.forbidden(path.child("items", "nullable"), detail);
  }
  if (listType !== "map") return;
  for (const key of schema.listMapKeys) {
    const property = items.properties.get(key);
    const where = path.child("items", "properties").key(key);
    if (property === undefined) continue;
    if (!items.required.includes(key) && property.default === undefined) {
      const detail =
        "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
      problems.required(where.child("default"), detail);
    }
    if (property.nullable) {
      const detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
      problems.forbidden(where.child("nullable"), detail);
    }
  }
}

/**
 * Validates the defaults of a resource's schema: they must not have unknown fields, and must be valid themselves, rules
 * included. Order and texts of apiextensions `schema/defaulting/validation.go`. @param path of the schema
 */
function defaultErrors(schema: SchemaProps, path: FieldPath): readonly FieldError[] {
  const run: RuleRun = { errors: [], budget: objectCostBudget };
  checkDefaultsOf({ ...schema, isEmbeddedResource: true }, path, false, run);
  return run.errors;
}

function checkDefaultsOf(schema: SchemaProps, path: FieldPath, isInMetadata: boolean, run: RuleRun): void {
  const isInside = isInMetadata && !schema.isEmbeddedResource;
  if (schema.default !== undefined) checkDefault(schema.default, schema, path.child("default"), isInside, run);
  // Values of maps cannot have defaults.
  if (schema.items !== undefined && run.budget >= 0) checkDefaultsOf(schema.items, path.child("items"), isInside, run);
  for (const [name, property] of schema.properties) {
    if (run.budget < 0) return;
    const isMeta = schema.isEmbeddedResource && ["metadata", "apiVersion", "kind"].includes(name);
    checkDefaultsOf(property, path.child("properties").key(name), isInside || isMeta, run);
  }
}

function checkDefault(value: Json, schema: SchemaProps, path: FieldPath, isInMetadata: boolean, run: RuleRun): void {
  const field = path.toString();
  if (!isInMetadata && !isSameJson(prunedDefault(value, schema), value)) {
    run.errors.push({ type: "Invalid", field, value, detail: "must not have unknown fields" });
  }
  const embedded = isJsonObject(value) ? compileEmbeddedCheck(schema)?.(value) ?? [] : [];
  if (embedded.length > 0) {
    run.errors.push(...embedded.map((error) => ({ ...error, field: fieldPath(field, error.field) })));
    return;
  }
  const errors = fieldErrorsOf(compileValidator(schema)(value), field);
  if (errors.length > 0) {
    run.errors.push(...errors);
    return;
  }
  checkDefaultWithRules(value, schema, field, run);
}

/** Runs the rules twice: as for an update without a change, and as for a new value. */
function checkDefaultWithRules(value: Json, schema: SchemaProps, field: string, run: RuleRun): void {
  const walk = compileRuleWalk(schema, schema.isEmbeddedResource);
  if (walk === undefined) return;
  const before = run.errors.length;
  const fresh: RuleRun = { errors: run.errors, budget: run.budget };
  walk(value, value, field, undefined, run);
  if (run.errors.length > before) return;
  walk(value, undefined, field, undefined, fresh);
  run.budget = Math.min(run.budget, fresh.budget);
}
