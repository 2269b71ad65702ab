/**
 * TypeDefaulter: sets what the server adds to every object of a kind: the defaults of the defaulting functions, the defaults
 * that the generated types declare, and the zero values that Go always writes.
 *
 * Defaulting functions belong to types, not to kinds: a Container gets its defaults in a Pod and in the template of a CronJob.
 */
import { type Draft, type DraftValue, isDraft, type Json, put } from "../../model/mod.ts";
import { roundedToMilli } from "./quantity.ts";
import type { WireField, WireScalarName, WireStruct, WireType } from "./wire_type.ts";
import { wireStruct } from "./wire_types.ts";

/** Sets the defaults of one struct; the structs inside of it get theirs afterwards. */
export type DefaultingFunction = (draft: Draft) => void;

/** Defaulting functions by the names of their types. */
export type DefaultingFunctions = ReadonlyMap<string, DefaultingFunction>;

/**
 * Which defaults are set: all of them; only declared defaults and zero values that are always written, for a draft that
 * already has its defaults; or only the zero values that Go writes for an unset value.
 */
type DefaultingScope = "defaults" | "declared" | "zeros";

/** The steps for a struct. */
interface StructPlan {
  readonly setStructDefaults: DefaultingFunction | undefined;
  /** The fields that can get a default, or contain a field that can. */
  readonly fields: readonly FieldPlan[];
}

interface FieldPlan {
  readonly name: string;
  readonly type: WireType;
  /** Returns the value of an absent field; `undefined` leaves it absent. */
  readonly absent: (() => DraftValue) | undefined;
  /** The same without declared defaults. */
  readonly zero: (() => DraftValue) | undefined;
  readonly canContainDefaults: boolean;
  readonly isWrittenEmpty: boolean;
}

/** Sets defaults. One instance serves all kinds, since they share their types. */
export class TypeDefaulter {
  readonly #functions: DefaultingFunctions;
  readonly #plans = new Map<string, StructPlan>();
  readonly #containers = new Map<string, boolean>();

  constructor(functions: DefaultingFunctions) {
    this.#functions = functions;
  }

  /** Sets the defaults of a draft in place. */
  setDefaults(struct: WireStruct, draft: Draft, scope: DefaultingScope = "defaults"): void {
    const plan = this.#planOf(struct);
    if (scope === "defaults") plan.setStructDefaults?.(draft);
    for (const field of plan.fields) {
      const value = Object.hasOwn(draft, field.name) ? draft[field.name] ?? null : null;
      if (value === null) {
        const absent = scope === "zeros" ? field.zero?.() : field.absent?.();
        if (absent === undefined) continue;
        put(draft, field.name, absent);
        if (field.canContainDefaults) this.#value(field.type, absent, scope);
      } else if (field.isWrittenEmpty && scope !== "defaults" && isEmptyCollection(value)) {
        // Only after the field's owner is recorded: a client that sets an empty list owns it, whatever is stored.
        put(draft, field.name, null);
      } else if (field.canContainDefaults) this.#value(field.type, value, scope);
    }
  }

  #value(type: WireType, value: DraftValue, scope: DefaultingScope): void {
    switch (type.kind) {
      case "struct":
        if (isDraft(value)) this.setDefaults(wireStruct(type.name), value, scope);
        return;
      case "list":
        if (Array.isArray(value)) { for (const item of value) this.#value(type.items, item, scope); }
        return;
      case "map":
        if (!isDraft(value)) return;
        if (type.goName === "v1.ResourceList") return roundResources(value);
        for (const key of Object.keys(value)) this.#value(type.values, value[key] ?? null, scope);
        return;
      case "scalar":
        return;
      default:
        return type satisfies never;
    }
  }

  #planOf(struct: WireStruct): StructPlan {
    const known = this.#plans.get(struct.name);
    if (known !== undefined) return known;
    const fields = [...struct.fields.values()].map((field): FieldPlan => ({
      name: field.name,
      type: field.type,
      absent: absentValue(field),
      zero: zeroValue(field),
      canContainDefaults: this.#canContainDefaults(field.type),
      isWrittenEmpty: field.isAlwaysWritten && !field.isPointer &&
        (field.type.kind === "list" || field.type.kind === "map"),
    }));
    const plan = {
      setStructDefaults: this.#functions.get(struct.name),
      fields: fields.filter(({ absent, canContainDefaults, isWrittenEmpty }) =>
        absent !== undefined || canContainDefaults || isWrittenEmpty
      ),
    };
    this.#plans.set(struct.name, plan);
    return plan;
  }

  /** True when a value of the type can contain a field with a default. */
  #canContainDefaults(type: WireType): boolean {
    switch (type.kind) {
      case "scalar":
        return false;
      case "list":
        return this.#canContainDefaults(type.items);
      case "map":
        return type.goName === "v1.ResourceList" || this.#canContainDefaults(type.values);
      case "struct":
        return this.#structCanContainDefaults(wireStruct(type.name));
      default:
        return type satisfies never;
    }
  }

  #structCanContainDefaults(struct: WireStruct): boolean {
    const known = this.#containers.get(struct.name);
    if (known !== undefined) return known;
    // A recursive type (JSONSchemaProps) counts only with its other fields.
    this.#containers.set(struct.name, false);
    const canContainDefaults = this.#functions.has(struct.name) ||
      [...struct.fields.values()].some((field) =>
        absentValue(field) !== undefined || field.isAlwaysWritten || this.#canContainDefaults(field.type)
      );
    this.#containers.set(struct.name, canContainDefaults);
    return canContainDefaults;
  }
}

/** The value of an absent field. */
function absentValue(field: WireField): (() => DraftValue) | undefined {
  const declared = field.isOmittedWhenZero ? undefined : declaredDefault(field);
  return declared === undefined ? zeroValue(field) : () => declared;
}

/** The value that Go writes for an unset field. */
function zeroValue({ type, isPointer, isAlwaysWritten, isOmittedWhenZero }: WireField): (() => DraftValue) | undefined {
  if (isOmittedWhenZero) return undefined;
  if (type.kind === "struct" && !isPointer) return () => ({});
  if (isPointer) return isAlwaysWritten ? () => null : undefined;
  if (type.kind !== "scalar") return isAlwaysWritten ? () => null : undefined;
  const zero = writtenZero(type.scalar);
  if (isAlwaysWritten || isGoStruct(type.scalar)) return zero === undefined ? undefined : () => zero;
  return undefined;
}

/** True for Go structs, which omitempty does not drop. */
function isGoStruct(scalar: WireScalarName): boolean {
  return scalar === "time" || scalar === "microTime" || scalar === "quantity" || scalar === "intOrString" ||
    scalar === "raw";
}

function writtenZero(scalar: WireScalarName): string | number | boolean | null | undefined {
  switch (scalar) {
    case "string":
      return "";
    case "int32":
    case "int64":
    case "float64":
    case "intOrString":
      return 0;
    case "boolean":
      return false;
    case "quantity":
      return "0";
    case "time":
    case "microTime":
    case "raw":
    case "bytes":
    case "fields":
    case "json":
      return null;
    default:
      return scalar satisfies never;
  }
}

/**
 * The default that the type declares, without the zeros that kube-openapi publishes for fields that are always written.
 */
function declaredDefault(field: WireField): string | number | bigint | boolean | undefined {
  const value: Json | undefined = field.default;
  // The zero value of a pointer is nil, so any other default was declared.
  if (field.isPointer && typeof value !== "object") return value;
  if (typeof value === "string") return value === "" ? undefined : value;
  if (typeof value === "number") return value === 0 ? undefined : value;
  return value === true ? true : undefined;
}

function isEmptyCollection(value: DraftValue): boolean {
  return Array.isArray(value) ? value.length === 0 : isDraft(value) && Object.keys(value).length === 0;
}

function roundResources(resources: Draft): void {
  for (const name of Object.keys(resources)) {
    const amount = resources[name];
    if (typeof amount === "string") put(resources, name, roundedToMilli(amount));
  }
}
