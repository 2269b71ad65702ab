/**
 * changesOf(): the values that a generated workload gives to one field: another valid one, those at the bounds of its schema,
 * one that makes no sense, and none. Also minimalValue(), the smallest value that a schema allows.
 *
 * Caveats: the values are candidates. Patterns, rules and formats are not evaluated here: the caller lets the schema of the
 * whole object decide, and drops what does not fit its label.
 */
import { isDeepEqual } from "../../api/mod.ts";
import type { Json, StructuralSchema } from "../../schema/mod.ts";

/** What a change of a field tests. */
export type ChangeKind = "other" | "boundary" | "invalid" | "removed";

/** A candidate. */
export interface FieldChange {
  readonly kind: ChangeKind;
  /** undefined: the field is absent. */
  readonly value: Json | undefined;
}

/** The longest text that is tried at a bound. */
const maxTextLength = 1_024;

/** Texts that fit most patterns in CRDs: names, quantities, versions, durations, addresses, schedules. */
const texts = [
  ...["example", "a", "1", "10", "1Gi", "100m", "1.0.0", "v1.0.0", "10s", "example.com", "example:1", "Example"],
  ...["http://example.com", "https://example.com", "10.0.0.1", "10.0.0.0/16", "0 0 * * *", "2030-01-01T00:00:00Z"],
  ...["example.com/example", "50%", "00000000-0000-4000-8000-000000000000", ""],
];

/** Candidates for the values of one field, in the order in which they are tried. @param current undefined when it is absent */
export function changesOf(schema: StructuralSchema, current: Json | undefined): readonly FieldChange[] {
  const changes: FieldChange[] = [
    ...othersOf(schema, current).map((value) => ({ kind: "other", value } as const)),
    ...boundsOf(schema).map((value) => ({ kind: "boundary", value } as const)),
    ...invalidOf(schema).map((value) => ({ kind: "invalid", value } as const)),
    ...(current === undefined ? [] : [{ kind: "removed", value: undefined } as const]),
  ];
  return changes.filter(({ value }, index) =>
    !isDeepEqual(value, current) && changes.findIndex((one) => isDeepEqual(one.value, value)) === index
  );
}

/** True when values of the schema are texts like `1Gi` or numbers. */
function isIntOrString(schema: StructuralSchema): boolean {
  return schema["x-kubernetes-int-or-string"] === true;
}

function othersOf(schema: StructuralSchema, current: Json | undefined): readonly Json[] {
  const { enum: members, items, additionalProperties } = schema;
  if (members !== undefined) return members.filter((member) => !isDeepEqual(member, current)).slice(0, 2);
  if (isIntOrString(schema)) {
    return typeof current === "number" ? [current + 1] : typeof current === "string" ? otherTexts(current) : [1, "1Gi"];
  }
  switch (schema.type) {
    case "boolean":
      return [current !== true];
    case "integer":
    case "number": {
      const from = typeof current === "number" ? current : schema.minimum ?? 0;
      return [from + 1, from - 1].filter((value) => value >= (schema.minimum ?? 0));
    }
    case "string":
      return typeof current === "string" ? otherTexts(current) : texts;
    case "array": {
      const list = Array.isArray(current) ? current : [];
      const more = items === undefined ? [] : [[...list, minimalValue(items)]];
      return list.length > 1 ? [list.slice(0, -1), ...more] : more;
    }
    case "object":
      if (typeof additionalProperties === "object") {
        return [{ ...fieldsOf(current), changed: minimalValue(additionalProperties) }];
      }
      // Its fields are changed one by one, if the sample has it.
      return current === undefined ? [minimalValue(schema)] : [];
    case undefined:
      return [];
    default:
      return schema.type satisfies never;
  }
}

/** Another text of the same form: `1Gi` becomes `2Gi`, `zoo:1.2.3` becomes `zoo:1.2.4`, `a` becomes `a-changed`. */
function otherTexts(current: string): readonly string[] {
  const [, count, unit = ""] = /^(\d+)([A-Za-z%]{0,3})$/.exec(current) ?? [];
  const next = current.replace(/\d+(?=\D*$)/, (digits) => String(Number(digits) + 1));
  return count === undefined
    ? [...(next === current ? [] : [next]), `${current}-changed`, ...texts]
    : [`${Number(count) * 2}${unit}`, `${Math.max(1, Math.floor(Number(count) / 2))}${unit}`];
}

function boundsOf(schema: StructuralSchema): readonly Json[] {
  const { minimum, maximum, minLength = 0, maxLength, minItems = 0, items } = schema;
  if (schema.enum !== undefined || isIntOrString(schema)) return [];
  switch (schema.type) {
    case "integer":
    case "number":
      return [minimum ?? 0, ...(maximum === undefined ? [] : [maximum])];
    case "string": {
      const least = "a".repeat(Math.min(minLength, maxTextLength));
      return maxLength === undefined || maxLength > maxTextLength ? [least] : [least, "a".repeat(maxLength)];
    }
    case "array":
      return [minItems === 0 || items === undefined ? [] : Array(minItems).fill(minimalValue(items))];
    case "object":
      return typeof schema.additionalProperties === "object" ? [{}] : [];
    case "boolean":
    case undefined:
      return [];
    default:
      return schema.type satisfies never;
  }
}

/** Values that make no sense. The server rejects them only if the schema is as strict as the author means it. */
function invalidOf(schema: StructuralSchema): readonly Json[] {
  const { minimum, maximum, maxLength = Infinity, maxItems = Infinity, items } = schema;
  if (schema.enum !== undefined) return ["not-a-member"];
  if (isIntOrString(schema)) return ["not a quantity"];
  switch (schema.type) {
    case "integer":
    case "number":
      return [maximum === undefined ? (minimum ?? 0) - 1 : maximum + 1];
    case "string":
      if (maxLength <= maxTextLength) return ["a".repeat(maxLength + 1)];
      return schema.pattern === undefined && schema.format === undefined ? [] : ["!"];
    case "array":
      return maxItems > 32 || items === undefined ? [] : [Array(maxItems + 1).fill(minimalValue(items))];
    // A value of another type never reaches the operator.
    case "boolean":
    case "object":
    case undefined:
      return [];
    default:
      return schema.type satisfies never;
  }
}

/** The smallest value that the structure allows: only required fields. @param accepts whether a text satisfies a pattern */
export function minimalValue(
  schema: StructuralSchema,
  accepts: (schema: StructuralSchema, text: string) => boolean = fitsPattern,
): Json {
  const { default: given, enum: members, minItems = 0, items } = schema;
  if (given !== undefined) return given;
  if (members?.[0] !== undefined) return members[0];
  if (isIntOrString(schema)) return texts.find((text) => text !== "example" && accepts(schema, text)) ?? 1;
  switch (schema.type) {
    case "boolean":
      return false;
    case "integer":
    case "number":
      return Math.max(schema.minimum ?? Math.min(1, schema.maximum ?? 1), 0);
    case "string":
      return texts.find((text) => accepts(schema, text)) ?? "a".repeat(Math.max(schema.minLength ?? 1, 1));
    case "array":
      return items === undefined ? [] : Array.from({ length: minItems }, () => minimalValue(items, accepts));
    case "object": {
      const { properties = {}, required = [] } = schema;
      return Object.fromEntries(required.flatMap((name) => {
        const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
        return field === undefined ? [] : [[name, minimalValue(field, accepts)]];
      }));
    }
    case undefined:
      return {};
    default:
      return schema.type satisfies never;
  }
}

/** Whether a text has the length and the pattern of a schema. A pattern that JavaScript cannot read accepts everything. */
function fitsPattern({ pattern, minLength = 0, maxLength = Infinity }: StructuralSchema, text: string): boolean {
  if (text.length < minLength || text.length > maxLength) return false;
  if (pattern === undefined) return true;
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return true;
  }
}

/** The fields of a value that is an object. */
export function fieldsOf(value: Json | undefined): { readonly [field: string]: Json } {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? value as { readonly [field: string]: Json } : {};
}

/** A field of a value that is an object; undefined when it has no such field. */
export function fieldOf(value: Json | undefined, name: string): Json | undefined {
  const fields = fieldsOf(value);
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}
