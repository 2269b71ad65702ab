/**
 * Applies the `.meta()` of a zod schema to its structural schema: descriptions, CEL rules and x-kubernetes-* extensions.
 *
 * Guarantees: an extension that the API server would reject at this node (a misspelled one, a list type on a string,
 * map keys that the items do not have) is a TypeError at definition time.
 * Source of the names and literals in rules: the escaping rules of `x-kubernetes-validations`, Kubernetes 1.36.
 */
import { printExactJson } from "../api/mod.ts";
import { cannotDefine, type Place } from "./_place.ts";
import type { Draft } from "./_scalars.ts";
import { innerOf, metaOf, type Schema } from "./_zod.ts";
import { sameJson, toJson } from "./_json.ts";
import type { StructuralSchema, ValidationRule } from "./structural_schema.ts";

/** The CEL rule that makes a value immutable. */
export const immutableRule: ValidationRule = { rule: "self == oldSelf", message: "is immutable" };

/** Extensions that `.meta()` may set. Any other key that begins with `x-kubernetes-` is an error. */
const extensions = [
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-embedded-resource",
] as const satisfies readonly (keyof StructuralSchema)[];

const known: ReadonlySet<string> = new Set(extensions);

/** Adds the metadata of `schema` to `draft`. */
export function applyMeta(draft: Draft, schema: Schema, place: Place): void {
  const meta = metaOf(schema);
  for (const key of Object.keys(meta)) {
    if (key.startsWith("x-kubernetes-") && !known.has(key)) {
      throw cannotDefine(place, `has the unknown extension ${key} in its meta()`);
    }
  }
  if (meta.description !== undefined) draft.description = meta.description;
  if (meta.title !== undefined) draft.title = meta.title;
  if (meta.example !== undefined) draft.example = toJson(meta.example, place);
  if (meta.minProperties !== undefined) draft.minProperties = meta.minProperties;
  if (meta.maxProperties !== undefined) draft.maxProperties = meta.maxProperties;
  addRules(draft, [...(meta.cel ?? []), ...(meta.immutable === true ? [immutableRule] : [])], place);
  if (meta["x-kubernetes-list-type"] !== undefined) draft["x-kubernetes-list-type"] = meta["x-kubernetes-list-type"];
  const keys = meta["x-kubernetes-list-map-keys"];
  if (keys !== undefined) draft["x-kubernetes-list-map-keys"] = keys;
  if (meta["x-kubernetes-map-type"] !== undefined) draft["x-kubernetes-map-type"] = meta["x-kubernetes-map-type"];
  if (meta["x-kubernetes-preserve-unknown-fields"]) draft["x-kubernetes-preserve-unknown-fields"] = true;
  if (meta["x-kubernetes-embedded-resource"]) draft["x-kubernetes-embedded-resource"] = true;
  if (meta.openapi !== undefined) addKeywords(draft, meta.openapi, place);
  checkExtensions(draft, place);
}

/** Keywords that `.meta({ openapi })` may add. */
const keywordNames: ReadonlySet<string> = new Set(
  ("type title description default example nullable enum format pattern minLength maxLength minimum maximum " +
    "exclusiveMinimum exclusiveMaximum multipleOf properties required additionalProperties minProperties maxProperties " +
    "items minItems maxItems allOf anyOf oneOf not externalDocs x-kubernetes-int-or-string x-kubernetes-validations " +
    extensions.join(" ")).split(" "),
);

/** Adds keywords that zod cannot say. @throws TypeError when zod says something else */
function addKeywords(draft: Draft, keywords: Readonly<Record<string, unknown>>, place: Place): void {
  const present = new Map<string, unknown>(Object.entries(draft).filter(([, value]) => value !== undefined));
  for (const [name, value] of Object.entries(keywords)) {
    if (!keywordNames.has(name)) throw cannotDefine(place, `has the unknown keyword ${name} in its meta({ openapi })`);
    const [before, json] = [present.get(name), toJson(value, place)];
    if (name === "required" && Array.isArray(before) && Array.isArray(json)) {
      present.set(name, [...before, ...json.filter((field) => !before.includes(field))]);
    } else if (before === undefined) present.set(name, json);
    else if (!sameJson(before, json)) {
      throw cannotDefine(place, `has the keyword ${name} in its meta({ openapi }), but zod sets it to another value`);
    }
  }
  Object.assign(draft, Object.fromEntries(present));
}

/** Adds CEL rules to a node. @throws TypeError when the API server would reject one. */
export function addRules(draft: Draft, rules: readonly ValidationRule[], place: Place): void {
  for (const rule of rules) checkRule(rule, place);
  if (rules.length === 0) return;
  const present = draft["x-kubernetes-validations"] ?? [];
  draft["x-kubernetes-validations"] = [...present, ...rules];
}

/** `schema` or null. The API server rejects null beside an enum, so the enum becomes a CEL rule. */
export function nullable(schema: StructuralSchema, place: Place): Draft {
  const { enum: members, ...rest } = schema;
  const draft: Draft = { ...rest, nullable: true };
  if (members === undefined) return draft;
  const literals = members.map((value) => celLiteral(value, schema.type === "number"));
  const message = `must be one of ${members.map((value) => printExactJson(value)).join(", ")}`;
  addRules(draft, [{ rule: `self in [${literals.join(", ")}]`, message }], place);
  return draft;
}

/** True when the schema, or a schema that it wraps, is marked immutable. */
export function isImmutable(schema: Schema): boolean {
  for (let at: Schema | undefined = schema; at !== undefined; at = innerOf(at)) {
    if (metaOf(at).immutable === true) return true;
  }
  return false;
}

function checkRule(rule: ValidationRule, place: Place): void {
  if (rule.rule.trim() === "") throw cannotDefine(place, "has an empty CEL rule");
  if (/[\r\n]/.test(rule.message ?? "")) throw cannotDefine(place, "has a CEL rule whose message has a line break");
  if (/[\r\n]/.test(rule.rule.trim()) && rule.message === undefined) {
    throw cannotDefine(place, "has a CEL rule of several lines, which needs a message");
  }
  if (place.uncorrelatable && /\boldSelf\b/.test(rule.rule)) {
    throw cannotDefine(
      place,
      'has a rule with oldSelf inside a list or map whose elements have no identity; use x-kubernetes-list-type "map"',
    );
  }
}

function checkExtensions(draft: Draft, place: Place): void {
  const listType = draft["x-kubernetes-list-type"];
  const keys = draft["x-kubernetes-list-map-keys"];
  if (listType !== undefined && draft.type !== "array") {
    throw cannotDefine(place, "has a list type but is not an array");
  }
  if (draft["x-kubernetes-map-type"] !== undefined && draft.type !== "object") {
    throw cannotDefine(place, "has a map type but is not an object");
  }
  if (keys !== undefined && listType !== "map") {
    throw cannotDefine(place, 'has list map keys, which need x-kubernetes-list-type "map"');
  }
  if (listType === "map") checkMapList(draft, keys ?? [], place);
  if (listType === "set") checkSetList(draft.items, place);
}

function checkMapList(draft: Draft, keys: readonly string[], place: Place): void {
  const items = draft.items;
  if (keys.length === 0) throw cannotDefine(place, "is a list of type map without x-kubernetes-list-map-keys");
  if (items?.type !== "object") throw cannotDefine(place, "is a list of type map whose items are not objects");
  if (items.nullable === true) throw cannotDefine(place, "is a list of type map whose items may be null");
  for (const key of keys) {
    const property = Object.hasOwn(items.properties ?? {}, key) ? items.properties?.[key] : undefined;
    if (property === undefined) throw cannotDefine(place, `names the list map key ${key}, which its items do not have`);
    if (property.type === "object" || property.type === "array" || property.nullable === true) {
      throw cannotDefine(place, `names the list map key ${key}, which is not a scalar`);
    }
    if (items.required?.includes(key) !== true && property.default === undefined) {
      throw cannotDefine(place, `names the list map key ${key}, which must be required or have a default`);
    }
  }
}

function checkSetList(items: StructuralSchema | undefined, place: Place): void {
  if (items?.nullable === true) throw cannotDefine(place, "is a list of type set whose items may be null");
  if (items?.type === "object" && items["x-kubernetes-map-type"] !== "atomic") {
    throw cannotDefine(place, 'is a list of type set whose items lack x-kubernetes-map-type "atomic"');
  }
  if (items?.type === "array" && (items["x-kubernetes-list-type"] ?? "atomic") !== "atomic") {
    throw cannotDefine(place, "is a list of type set whose items are lists that are not atomic");
  }
}

const celKeywords: ReadonlySet<string> = new Set(
  ("true false null in as break const continue else for function if import let loop package namespace return var " +
    "void while").split(" "),
);

/** The name that a CEL rule uses for the property `name`. @throws TypeError when CEL cannot name it. */
export function celName(name: string, place: Place): string {
  if (celKeywords.has(name)) return `__${name}__`;
  if (!/^[A-Za-z_.\/-][A-Za-z0-9_.\/-]*$/.test(name)) {
    throw cannotDefine(place, `has the property ${printExactJson(name)}, which CEL cannot name`);
  }
  return name.replaceAll("__", "__underscores__").replaceAll(".", "__dot__").replaceAll("-", "__dash__")
    .replaceAll("/", "__slash__");
}

/** `text` as a CEL string literal. */
export function celText(text: string): string {
  return `'${printExactJson(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

/** A scalar as a CEL literal. CEL compares an integer with a double only when both literals are written as doubles. */
function celLiteral(value: unknown, isFloat: boolean): string {
  if (typeof value === "string") return celText(value);
  const text = String(value);
  return isFloat && /^-?\d+$/.test(text) ? `${text}.0` : text;
}
