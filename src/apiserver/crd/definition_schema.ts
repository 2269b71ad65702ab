/**
 * What is wrong with the schema of a CustomResourceDefinition: whether it is structural, whether its defaults are right,
 * whether it uses what no schema may use, and, where all of that is well, its rules. The order and the texts are those of
 * apiextensions `validation.go` of Kubernetes 1.36.
 */
import type { FieldPath, Problems } from "../kinds/mod.ts";
import { defaultErrors } from "./default_checks.ts";
import { goSchema, setFieldsOf } from "./_go_form.ts";
import { RuleCosts, RuleScope } from "./rule_scope.ts";
import type { SchemaProps } from "./schema_props.ts";
import { SchemaWalk } from "./schema_walk.ts";
import { structuralErrors } from "./structural_checks.ts";

/**
 * Checks a whole schema.
 *
 * @param hasStatus true where the status is a subresource: it is validated by `properties.status` alone then
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
  const isSound = unsupported === undefined && structural.length === 0 && defaults.length === 0;
  const costs = new RuleCosts();
  const walk = new SchemaWalk();
  walk.visitRoot(schema, path, isSound ? new RuleScope(schema, 1, costs) : undefined);
  problems.add(walk.errors);
  // Said only where nothing else says it.
  if (unsupported !== undefined && problems.count === before) problems.invalid(path, "", unsupported);
  costs.report(path, problems);
}

const rootFields = [
  ...["Description", "Type", "Format", "Title", "Maximum", "ExclusiveMaximum", "Minimum", "ExclusiveMinimum"],
  ...["MaxLength", "MinLength", "Pattern", "MaxItems", "MinItems", "UniqueItems", "MultipleOf", "Required", "Items"],
  ...["Properties", "ExternalDocs", "Example", "XPreserveUnknownFields", "XValidations"],
];

/** What may stand at the top where the status is validated on its own. */
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

/** Why a schema cannot be read as a structural one; undefined where it can. */
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
