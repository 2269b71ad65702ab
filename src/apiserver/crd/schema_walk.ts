/**
 * SchemaWalk: goes through all nodes of a schema and finds what no schema of a CustomResourceDefinition may have. Findings
 * about rules are kept apart: rules are looked at only where the schema they stand in is right.
 */
import { FieldPath, Problems } from "../kinds/mod.ts";
import type { FieldError } from "../model/mod.ts";
import { checkListTypes } from "./list_type_checks.ts";
import { checkRules, checkRuleTexts } from "./rule_checks.ts";
import type { RuleScope } from "./rule_scope.ts";
import { type SchemaProps, type UnsupportedKeyword } from "./schema_props.ts";

/** What holds at a node because of what it stands in. */
interface Place {
  readonly isRoot: boolean;
  /** Why there may be no default; undefined where there may. */
  readonly noDefaults: string | undefined;
  /** True in the metadata of a resource. */
  readonly isInMetadata: boolean;
  /** The nearest schema to the root whose values have no old values to compare with. */
  readonly uncorrelated: FieldPath | undefined;
  /** Undefined where rules are not looked at. */
  readonly rules: RuleScope | undefined;
}

const metaFields = new Set(["metadata", "kind", "apiVersion"]);
const types = ["array", "boolean", "integer", "number", "object", "string"];

/** Goes through a schema. */
export class SchemaWalk {
  readonly #schemaProblems = new Problems();
  readonly #ruleProblems = new Problems();

  /** What was found, that of rules last. */
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

  #visit(schema: SchemaProps, path: FieldPath, place: Place): void {
    const before = this.#schemaProblems.count;
    this.#checkKeywords(schema, path, place);
    const inside: Place = { ...place, isRoot: false };
    this.#visitValues(schema, path, inside);
    this.#visitProperties(schema, path, place);
    this.#visitParts(schema, path, inside);
    this.#visitItems(schema, path, inside);
    if (schema.preservesUnknownFields === false) {
      const detail = "must be true or undefined";
      this.#schemaProblems.invalid(path.child("x-kubernetes-preserve-unknown-fields"), false, detail);
    }
    checkListTypes(schema, path, this.#schemaProblems);
    if (schema.rules.length === 0) return;
    checkRuleTexts(schema, path, this.#schemaProblems);
    if (this.#schemaProblems.count > before || place.rules === undefined) return;
    checkRules(schema, path, place.rules, place.uncorrelated, this.#ruleProblems);
  }

  #visitValues(schema: SchemaProps, path: FieldPath, place: Place): void {
    const { additionalProperties: values } = schema;
    if (values === undefined) return;
    const where = path.child("additionalProperties");
    if (schema.properties.size > 0 && values !== true) {
      this.#schemaProblems.forbidden(where, "additionalProperties and properties are mutual exclusive");
    }
    if (typeof values !== "object") return;
    const noDefaults = place.isInMetadata
      ? "inside additionalProperties applying to object metadata"
      : place.noDefaults;
    this.#visit(values, where, { ...place, noDefaults, rules: place.rules?.child(values) });
  }

  #visitProperties(schema: SchemaProps, path: FieldPath, place: Place): void {
    for (const [name, property] of schema.properties) {
      const isMeta = (place.isRoot || schema.isEmbeddedResource) && metaFields.has(name);
      this.#visit(property, path.child("properties").key(name), {
        ...place,
        isRoot: false,
        noDefaults: isMeta && place.isRoot ? `in top-level ${name}` : place.noDefaults,
        isInMetadata: isMeta || place.isInMetadata,
        rules: place.rules?.child(property),
      });
    }
  }

  #visitParts(schema: SchemaProps, path: FieldPath, place: Place): void {
    const inside: Place = { ...place, rules: undefined };
    if (schema.not !== undefined) this.#visit(schema.not, path.child("not"), inside);
    for (const key of ["allOf", "oneOf", "anyOf"] as const) {
      schema[key].forEach((part, index) => this.#visit(part, path.child(key).index(index), inside));
    }
  }

  #visitItems(schema: SchemaProps, path: FieldPath, place: Place): void {
    if (schema.items === undefined) return;
    const uncorrelated = place.uncorrelated ?? (schema.listType === "map" ? undefined : path);
    this.#visit(schema.items, path.child("items"), {
      ...place,
      uncorrelated,
      rules: place.rules?.child(schema.items),
    });
  }

  #checkKeywords(schema: SchemaProps, path: FieldPath, place: Place): void {
    const problems = this.#schemaProblems;
    const { type, unsupported } = schema;
    if (type !== "" && !types.includes(type)) problems.notSupported(path.child("type"), type, types);
    if (schema.default !== undefined && place.noDefaults !== undefined) {
      problems.forbidden(path.child("default"), `must not be set ${place.noDefaults}`);
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
    if (place.isInMetadata && schema.isEmbeddedResource) {
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
