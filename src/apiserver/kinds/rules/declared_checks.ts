/**
 * DeclaredChecks: checks objects by what the Go types of Kubernetes declare in tags (`+k8s:required`, `+k8s:maxItems=32`;
 * generated/declared_checks.ts, written by tasks/declared_checks.ts), field by field in the order of the type.
 *
 * All tags of v1 types are of alpha stage in Kubernetes 1.36: its server answers with the errors of its older checks. Where
 * those differ, a group of kinds adds to the table in the same notation (`additions`), or states the order and the further
 * checks of a struct (`rules`). Errors, texts and order are those of the older checks: items before duplicates.
 *
 * Does not check immutable fields: the rules of each kind do, since kinds report them at different places.
 */
import { isJsonArray, isJsonObject, type Json, type JsonObject, read, utf8Length } from "../../model/mod.ts";
import { declaredChecks } from "../generated/declared_checks.ts";
import { type WireField, type WireStruct, wireStruct } from "../types/mod.ts";
import { checkFormat } from "./declared_formats.ts";
import type { FieldPath, Problems } from "./problems.ts";

/** The checks of one field. */
interface DeclaredField {
  readonly isRequired: boolean;
  readonly isOptional: boolean;
  /** Of a list or a map. */
  readonly maxItems: number | undefined;
  /** In bytes. */
  readonly maxLength: number | undefined;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly format: string | undefined;
  readonly keyFormat: string | undefined;
  /** The allowed values, sorted. */
  readonly allowed: readonly string[] | undefined;
  /** The fields of an item that must differ from those of other items; none: the items themselves. */
  readonly uniqueBy: readonly string[] | undefined;
  readonly isUnionMember: boolean;
  /** For the member of a union with a discriminator: what it is, by the value of the discriminator. */
  readonly when: ReadonlyMap<string, string>;
}

type DeclaredStruct = ReadonlyMap<string, DeclaredField>;

/** Checks an item of a list or a value of a map in addition to its type. @param key of a map */
export type ItemCheck = (value: Json, path: FieldPath, key: string) => void;

/** Checks a struct: calls `check.fields()` for what is declared, and adds what is not. */
export type StructRule = (check: StructCheck) => void;

/** Options of {@link DeclaredChecks}. */
export interface DeclaredChecksOptions {
  /** Further checks, as lines of the table; a field replaces that of the table. @default none */
  readonly additions?: string;
  /** Rules by the names of types: `resource/v1.DeviceRequest`. @default all fields in the order of the type */
  readonly rules?: Readonly<Record<string, StructRule>>;
}

/** The declared checks of a group of kinds. */
export class DeclaredChecks {
  readonly #additions: ReadonlyMap<string, DeclaredStruct>;
  readonly #rules: ReadonlyMap<string, StructRule>;

  constructor({ additions = "", rules = {} }: DeclaredChecksOptions = {}) {
    this.#additions = parsedTable(additions);
    this.#rules = new Map(Object.entries(rules));
  }

  /** Checks a value of a type, e.g. `resource/v1.ResourceClaim`. @param old the value before an update */
  check(typeName: string, object: JsonObject, path: FieldPath, problems: Problems, old?: JsonObject): void {
    this.checkStruct(new StructCheck(this, wireStruct(typeName), object, path, problems, { old }));
  }

  /** Runs the rule of a struct. */
  checkStruct(check: StructCheck): void {
    const rule = this.#rules.get(check.typeName);
    if (rule === undefined) check.fields();
    else rule(check);
  }

  /** What is declared for a field. */
  declaredFor(typeName: string, field: string): DeclaredField | undefined {
    return this.#additions.get(typeName)?.get(field) ?? declared().get(typeName)?.get(field);
  }
}

/** One struct while it is checked. */
export class StructCheck {
  readonly object: JsonObject;
  readonly path: FieldPath;
  readonly problems: Problems;
  /** The struct that this one is in. */
  readonly parent: StructCheck | undefined;
  readonly old: JsonObject | undefined;
  readonly #checks: DeclaredChecks;
  readonly #struct: WireStruct;
  readonly #checked = new Set<string>(["apiVersion", "kind", "metadata"]);

  constructor(
    checks: DeclaredChecks,
    struct: WireStruct,
    object: JsonObject,
    path: FieldPath,
    problems: Problems,
    { parent, old }: { readonly parent?: StructCheck; readonly old?: JsonObject } = {},
  ) {
    this.#checks = checks;
    this.#struct = struct;
    this.object = object;
    this.path = path;
    this.problems = problems;
    this.parent = parent;
    this.old = old;
  }

  get typeName(): string {
    return this.#struct.name;
  }

  /** Checks all fields that were not checked or skipped before, in the order of the type. */
  fields(): void {
    for (const name of this.#struct.fields.keys()) if (!this.#checked.has(name)) this.field(name);
  }

  /** Leaves fields to the caller. */
  skip(...names: readonly string[]): void {
    for (const name of names) this.#checked.add(name);
  }

  /** Checks one field. @param item checks each item of its list or map as well */
  field(name: string, item?: ItemCheck): void {
    this.#checked.add(name);
    const field = this.#struct.fields.get(name);
    if (field === undefined) throw new RangeError(`Cannot check ${this.typeName}.${name}: no such field`);
    const value = read(this.object, name);
    const place = this.path.child(name);
    const declaration = this.#checks.declaredFor(this.typeName, name);
    if (isZero(value, field)) {
      if (declaration?.isRequired === true) this.problems.required(place);
      else if (declaration?.isOptional === false && declaration.format !== undefined && !field.isPointer) {
        checkFormat(declaration.format, "", place, this.problems);
      }
      return;
    }
    if (value === undefined) return;
    if (declaration !== undefined) {
      const { maxItems = Infinity } = declaration;
      const count = isJsonArray(value) ? value.length : isJsonObject(value) ? Object.keys(value).length : 0;
      if (count > maxItems) return this.problems.tooMany(place, count, maxItems);
      checkScalar(value, declaration, place, this.problems);
    }
    this.#checkElements(field, value, place, declaration?.keyFormat, item);
    if (declaration?.uniqueBy !== undefined && isJsonArray(value)) {
      checkUnique(value, declaration.uniqueBy, place, this.problems);
    }
  }

  /**
   * Checks the members of a union with a discriminator: reports those that the value forbids or requires, and checks the others.
   *
   * @param detailOf the text of an error
   */
  members(value: string, detailOf: (name: string, rule: "forbidden" | "required") => string): void {
    const members = [...this.#struct.fields.keys()].map((name) =>
      [name, this.#checks.declaredFor(this.typeName, name)?.when.get(value)] as const
    );
    this.skip(...members.flatMap(([name, rule]) => rule === undefined ? [] : [name]));
    for (const [name, rule] of members) {
      if (rule !== "forbidden" || read(this.object, name) === undefined) continue;
      this.problems.forbidden(this.path.child(name), detailOf(name, rule));
    }
    for (const [name, rule] of members) {
      if (rule === undefined || rule === "forbidden") continue;
      if (rule === "required" && read(this.object, name) === undefined) {
        this.problems.required(this.path.child(name), detailOf(name, rule));
      } else this.field(name);
    }
  }

  /** The names of the union members that are set. */
  setMembers(): readonly string[] {
    return [...this.#struct.fields.values()].filter((field) =>
      this.#checks.declaredFor(this.typeName, field.name)?.isUnionMember === true &&
      read(this.object, field.name) !== undefined
    ).map(({ name }) => name);
  }

  #checkElements(
    { name, type }: WireField,
    value: Json,
    place: FieldPath,
    keyFormat: string | undefined,
    item: ItemCheck | undefined,
  ): void {
    const old = this.old === undefined ? undefined : read(this.old, name);
    if (type.kind === "struct") return this.#descend(type.name, value, place, old);
    const of = type.kind === "list" ? type.items : type.kind === "map" ? type.values : undefined;
    const visit = (element: Json, path: FieldPath, key: string) => {
      item?.(element, path, key);
      if (of?.kind === "struct") this.#descend(of.name, element, path, undefined);
    };
    if (type.kind === "list" && isJsonArray(value)) {
      value.forEach((element, index) => visit(element, place.index(index), ""));
    } else if (type.kind === "map" && isJsonObject(value)) {
      for (const [key, element] of Object.entries(value)) {
        if (keyFormat !== undefined) checkFormat(keyFormat, key, place, this.problems);
        visit(element, place.key(key), key);
      }
    }
  }

  #descend(typeName: string, value: Json, place: FieldPath, old: Json | undefined): void {
    if (!isJsonObject(value) || typeName === "meta/v1.ObjectMeta") return;
    const before = isJsonObject(old) ? { old } : {};
    const nested = { parent: this, ...before };
    this.#checks.checkStruct(
      new StructCheck(this.#checks, wireStruct(typeName), value, place, this.problems, nested),
    );
  }
}

/** Absent, or what Go takes for absent: an empty text, list or map, and zero where the type is not a pointer. */
function isZero(value: Json | undefined, field: WireField): boolean {
  if (value === undefined || value === null) return true;
  if (isJsonArray(value)) return value.length === 0;
  if (field.isPointer) return false;
  if (field.type.kind === "map" && isJsonObject(value)) return Object.keys(value).length === 0;
  return value === "" || value === 0 || value === false;
}

function checkScalar(value: Json, checks: DeclaredField, path: FieldPath, problems: Problems): void {
  if (typeof value === "number") {
    const { minimum = -Infinity, maximum = Infinity } = checks;
    if (value < minimum) problems.invalid(path, value, `must be greater than or equal to ${minimum}`);
    if (value > maximum) problems.invalid(path, value, `must be less than or equal to ${maximum}`);
  }
  if (typeof value !== "string") return;
  if (checks.maxLength !== undefined && utf8Length(value) > checks.maxLength) problems.tooLong(path, checks.maxLength);
  if (checks.format !== undefined) checkFormat(checks.format, value, path, problems);
  if (checks.allowed?.includes(value) === false) problems.notSupported(path, value, checks.allowed);
}

function checkUnique(items: readonly Json[], keys: readonly string[], path: FieldPath, problems: Problems): void {
  const seen = new Set<string>();
  items.forEach((item, index) => {
    const parts = keys.map((key) => isJsonObject(item) ? read(item, key) ?? null : null);
    const id = JSON.stringify(keys.length === 0 ? item : parts);
    const [first = null] = parts;
    if (seen.has(id)) {
      const shown = keys.length === 0 ? item : keys.length === 1 ? first : Object.fromEntries(
        keys.map((key, at) => [key, parts[at] ?? null]),
      );
      problems.duplicate(path.index(index), shown);
    }
    seen.add(id);
  });
}

let table: ReadonlyMap<string, DeclaredStruct> | undefined;

function declared(): ReadonlyMap<string, DeclaredStruct> {
  return table ??= parsedTable(declaredChecks);
}

function parsedTable(text: string): ReadonlyMap<string, DeclaredStruct> {
  return new Map(
    text.split("\n").map((line) => line.trim()).filter((line) => line !== "").map((line) => {
      const [typeName = "", ...words] = line.split(" ");
      return [typeName, new Map(words.map(parsedField))];
    }),
  );
}

function parsedField(word: string): readonly [string, DeclaredField] {
  const colon = word.indexOf(":");
  const pairs = word.slice(colon + 1).split(",").map((check) => {
    const equals = check.indexOf("=");
    return equals < 0 ? [check, ""] as const : splitAt(check, equals);
  });
  const checks = new Map(pairs);
  const numberOf = (name: string) => checks.has(name) ? Number(checks.get(name)) : undefined;
  const unique = checks.get("unique");
  return [word.slice(0, colon), {
    isRequired: checks.has("required"),
    isOptional: checks.has("optional"),
    maxItems: numberOf("maxItems"),
    maxLength: numberOf("maxLength") ?? numberOf("maxBytes"),
    minimum: numberOf("minimum"),
    maximum: numberOf("maximum"),
    format: checks.get("format"),
    keyFormat: checks.get("keyFormat"),
    allowed: checks.get("enum")?.split("|"),
    uniqueBy: unique === "" ? [] : unique?.split("+"),
    isUnionMember: checks.has("unionMember"),
    when: new Map(pairs.filter(([name]) => name === "when").map(([, value]) => splitAt(value, value.indexOf(":")))),
  }];
}

function splitAt(text: string, index: number): readonly [string, string] {
  return [text.slice(0, index), text.slice(index + 1)];
}
