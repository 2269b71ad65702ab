/**
 * Scalars of a structural schema: strings, numbers, booleans, enums and literals, with their checks.
 *
 * Guarantees: the API server rejects every value that zod rejects (patterns stay beside formats, integers keep the
 * bounds of zod). A check that the API server cannot do is a TypeError here, it is never dropped.
 * Caveats: zod counts lengths in UTF-16 units, the API server in code points, so they differ for characters above U+FFFF.
 * z.url() also refuses hosts and ports that Go's net/url reads, such as the port 99999.
 */
import { patternOf } from "./_pattern.ts";
import { cannotDefine, type Place } from "./_place.ts";
import { type Check, checksOf, type Definition, definitionOf, metaOf, type Schema } from "./_zod.ts";
import type { Json, StructuralSchema } from "./structural_schema.ts";

/** A schema under construction. */
export type Draft = { -readonly [Key in keyof StructuralSchema]: StructuralSchema[Key] };

/** Formats of zod that the API server has too, with its names for them (kube-openapi `strfmt`). */
const serverFormats: ReadonlyMap<string, string> = new Map([
  ["base64", "byte"],
  ["cidrv4", "cidr"],
  ["cidrv6", "cidr"],
  ["date", "date"],
  ["datetime", "date-time"],
  ["email", "email"],
  ["ipv4", "ipv4"],
  ["ipv6", "ipv6"],
  ["url", "uri"],
  ["uuid", "uuid"],
]);

/**
 * zod's patterns with lookaround, rewritten for RE2; `_scalars_test.ts` compares both on many texts. And the pattern that zod's
 * URLs lack: the format `uri` of the API server accepts paths, such as `/a`, and `*`.
 */
const linearPatterns: ReadonlyMap<string, RegExp> = new Map([
  ["url", /^[a-zA-Z][a-zA-Z0-9+.-]*:/],
  [
    "duration",
    /^P(?:\d+W|(?:\d+Y(?:\d+M)?(?:\d+D)?|\d+M(?:\d+D)?|\d+D)(?:T(?:\d+H(?:\d+M)?(?:\d+(?:[.,]\d+)?S)?|\d+M(?:\d+(?:[.,]\d+)?S)?|\d+(?:[.,]\d+)?S))?|T(?:\d+H(?:\d+M)?(?:\d+(?:[.,]\d+)?S)?|\d+M(?:\d+(?:[.,]\d+)?S)?|\d+(?:[.,]\d+)?S))$/,
  ],
  [
    "hostname",
    /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[-0-9a-zA-Z]{0,61}[0-9a-zA-Z])?)*\.?$/,
  ],
]);

/** Formats of zod that also need a checksum or a parser, which a pattern cannot express. */
const opaqueFormats: ReadonlySet<string> = new Set(["credit_card", "iban", "json_string", "jwt"]);

/** Bounds of zod's number formats. For int32 the API server checks them by the format alone. */
const numberFormats = {
  int32: { type: "integer", format: "int32" },
  uint32: { type: "integer", format: "int64", minimum: 0, maximum: 2 ** 32 - 1 },
  safeint: { type: "integer", format: "int64", minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
  float32: { type: "number", format: "float" },
  float64: { type: "number", format: "double" },
} as const satisfies Record<string, StructuralSchema>;

/** Translates a `z.string()` and its formats. */
export function stringSchema(schema: Schema, place: Place): Draft {
  const draft: Draft = { type: "string" };
  const patterns: string[] = [];
  for (const check of checksOf(schema)) {
    if (applyLength(draft, check, "minLength", "maxLength")) continue;
    if (check.check !== "string_format") refuseCheck(schema, check, place);
    else applyFormat(draft, patterns, check, place);
  }
  if (patterns.length === 1) draft.pattern = patterns[0];
  if (patterns.length > 1) draft.allOf = patterns.map((pattern) => ({ pattern }));
  return draft;
}

/** Translates a `z.number()` and its formats. */
export function numberSchema(schema: Schema, place: Place): Draft {
  const draft: Draft = { type: "number" };
  for (const check of checksOf(schema)) {
    switch (check.check) {
      case "number_format":
        applyNumberFormat(draft, check.format);
        break;
      case "greater_than":
        raiseMinimum(draft, Number(check.value), !check.inclusive);
        break;
      case "less_than":
        lowerMaximum(draft, Number(check.value), !check.inclusive);
        break;
      case "multiple_of":
        draft.multipleOf = stepOf(draft, Number(check.value), place);
        break;
      default:
        refuseCheck(schema, check, place);
    }
  }
  return draft;
}

/**
 * The step of numbers. @throws TypeError when the API server would understand it in another way: it cuts a step to an integer
 * when the value is one, and divides floats, so that 19.99 is no multiple of 0.01
 */
function stepOf(draft: Draft, step: number, place: Place): number {
  if (draft.multipleOf !== undefined) throw cannotDefine(place, "has two multipleOf() checks, use one");
  if (Number.isInteger(step)) return step;
  throw cannotDefine(
    place,
    `has multipleOf(${step}), which the API server computes in another way; use an integer of a smaller unit, or a CEL rule`,
  );
}

/** Translates enums and literals. The API server makes no difference between them. */
export function enumSchema(values: Iterable<unknown>, place: Place): Draft {
  const members: Json[] = [];
  const types = new Set<StructuralSchema["type"]>();
  for (const value of values) {
    types.add(typeOf(value, place));
    if (isScalar(value)) members.push(value);
  }
  if (types.has("number")) types.delete("integer");
  const [type] = types;
  if (types.size !== 1 || type === undefined) {
    throw cannotDefine(place, "has values of several types (or none at all), a CRD needs one type for all of them");
  }
  return { type, enum: members };
}

/** The values of a literal or an enum; undefined for any other schema. */
export function membersOf(definition: Definition): readonly unknown[] | undefined {
  if (definition.type === "literal") return definition.values;
  if (definition.type !== "enum") return undefined;
  // A numeric TypeScript enum also maps its numbers back to names.
  const entries = Object.entries(definition.entries);
  const numbers = new Set(entries.filter(([, value]) => typeof value === "number").map(([, value]) => String(value)));
  return entries.filter(([key]) => !numbers.has(key)).map(([, value]) => value);
}

/** Applies a length check to the two keywords of this type. @returns false when `check` is not a length check. */
export function applyLength(
  draft: Draft,
  check: Check,
  minKeyword: "minLength" | "minItems",
  maxKeyword: "maxLength" | "maxItems",
): boolean {
  switch (check.check) {
    case "min_length":
      draft[minKeyword] = Math.max(draft[minKeyword] ?? 0, check.minimum);
      return true;
    case "max_length":
      draft[maxKeyword] = Math.min(draft[maxKeyword] ?? Infinity, check.maximum);
      return true;
    case "length_equals":
      draft[minKeyword] = check.length;
      draft[maxKeyword] = check.length;
      return true;
    default:
      return false;
  }
}

/** Refuses a check that the API server cannot do. A refine() is allowed beside a CEL rule that says the same. */
export function refuseCheck(schema: Schema, check: Check, place: Place): void {
  if (check.check === "custom" && metaOf(schema).cel !== undefined) return;
  throw cannotDefine(place, refusalOf(check));
}

function refusalOf(check: Check): string {
  switch (check.check) {
    case "custom":
      return "has a refine() check, which a CRD cannot express; say the same with .meta({ cel: [...] }) beside it";
    case "overwrite":
      return "changes its value (trim, toLowerCase, ...), which the API server does not do; use a pattern";
    default:
      return `has the check ${check.check}, which a CRD cannot express`;
  }
}

function applyFormat(
  draft: Draft,
  patterns: string[],
  check: Extract<Check, { check: "string_format" }>,
  place: Place,
): void {
  const { format } = check;
  const pattern = linearPatterns.get(format) ?? check.pattern;
  const known = serverFormats.get(format);
  if (opaqueFormats.has(format) || (pattern === undefined && known === undefined)) {
    throw cannotDefine(place, `has the format ${format}, which a CRD cannot express; use regex()`);
  }
  if (("hostname" in check && check.hostname) || ("protocol" in check && check.protocol)) {
    throw cannotDefine(place, "limits the host or protocol of a URL, which a CRD cannot express; use regex()");
  }
  // RFC 3339 is stricter than zod's local and minute-only forms. They get zod's pattern without the format.
  const lax = ("local" in check && check.local === true) || ("precision" in check && check.precision === -1);
  if (known !== undefined && !lax) draft.format = known;
  if (format === "hostname") draft.maxLength = Math.min(draft.maxLength ?? 253, 253);
  if (pattern !== undefined) patterns.push(patternOf(pattern, place));
}

function applyNumberFormat(draft: Draft, name: keyof typeof numberFormats): void {
  const format: StructuralSchema = numberFormats[name];
  draft.type = format.type;
  draft.format = format.format;
  if (format.minimum !== undefined) raiseMinimum(draft, format.minimum, false);
  if (format.maximum !== undefined) lowerMaximum(draft, format.maximum, false);
}

function raiseMinimum(draft: Draft, value: number, exclusive: boolean): void {
  if (draft.minimum !== undefined && draft.minimum > value) return;
  const wasExclusive = draft.minimum === value && draft.exclusiveMinimum === true;
  draft.minimum = value;
  draft.exclusiveMinimum = exclusive || wasExclusive ? true : undefined;
}

function lowerMaximum(draft: Draft, value: number, exclusive: boolean): void {
  if (draft.maximum !== undefined && draft.maximum < value) return;
  const wasExclusive = draft.maximum === value && draft.exclusiveMaximum === true;
  draft.maximum = value;
  draft.exclusiveMaximum = exclusive || wasExclusive ? true : undefined;
}

function typeOf(value: unknown, place: Place): StructuralSchema["type"] {
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "boolean";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  throw cannotDefine(place, `has the value ${String(value)}, which JSON or a CRD cannot express`);
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

/** Refuses `z.coerce`: the API server stores the value as it was written. */
export function refuseCoercion(schema: Schema, place: Place): void {
  const definition = definitionOf(schema);
  if ("coerce" in definition && definition.coerce === true) {
    throw cannotDefine(place, "coerces its input, which the API server does not do; drop z.coerce");
  }
}
