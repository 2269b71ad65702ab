/** Types of the Common Expression Language, their names in messages, and the solver for type variables. */

/** A type. */
export type CelType =
  | { readonly kind: SimpleKind }
  | { readonly kind: "list"; readonly item: CelType }
  | { readonly kind: "map"; readonly key: CelType; readonly value: CelType }
  | ObjectType
  /** A type of a library. `isObject` for those that the real server declares as object types. */
  | { readonly kind: "opaque"; readonly name: string; readonly of: readonly CelType[]; readonly isObject?: boolean }
  | { readonly kind: "type"; readonly of?: CelType }
  /** A type variable of a declaration, or one that is still open. */
  | { readonly kind: "param"; readonly name: string };

/** An object with known fields, e.g. the schema of a CustomResourceDefinition. */
export interface ObjectType {
  readonly kind: "object";
  readonly name: string;
  readonly fields: ReadonlyMap<string, CelType>;
  /** The type of all other fields. @default there are none */
  readonly otherFields?: CelType;
}

/** Types without parts. `error` is the type of an expression with a reported issue. */
type SimpleKind =
  | "dyn"
  | "null"
  | "error"
  | "bool"
  | "int"
  | "uint"
  | "double"
  | "string"
  | "bytes"
  | "duration"
  | "timestamp";

export const dynType: CelType = { kind: "dyn" };
export const nullType: CelType = { kind: "null" };
export const errorType: CelType = { kind: "error" };
export const boolType: CelType = { kind: "bool" };
export const intType: CelType = { kind: "int" };
export const uintType: CelType = { kind: "uint" };
export const doubleType: CelType = { kind: "double" };
export const stringType: CelType = { kind: "string" };
export const bytesType: CelType = { kind: "bytes" };
export const durationType: CelType = { kind: "duration" };
export const timestampType: CelType = { kind: "timestamp" };

/** The type of a list. */
export function listOf(item: CelType): CelType {
  return { kind: "list", item };
}

/** The type of a map. */
export function mapOf(key: CelType, value: CelType): CelType {
  return { kind: "map", key, value };
}

/** The type of an optional value. */
export function optionalOf(of: CelType): CelType {
  return { kind: "opaque", name: "optional_type", of: [of] };
}

/** A type variable of a declaration. */
export function paramOf(name: string): CelType {
  return { kind: "param", name };
}

/** The type inside an optional; undefined for other types. */
export function optionalContent(type: CelType): CelType | undefined {
  return type.kind === "opaque" && type.name === "optional_type" ? type.of[0] : undefined;
}

/** The type of a field; undefined when the object does not have it. */
export function fieldTypeOf({ fields, otherFields }: ObjectType, name: string): CelType | undefined {
  return fields.get(name) ?? otherFields;
}

/** The parts of a type. */
function partsOf(type: CelType): readonly CelType[] {
  switch (type.kind) {
    case "list":
      return [type.item];
    case "map":
      return [type.key, type.value];
    case "opaque":
      return type.of;
    case "type":
      return type.of === undefined ? [] : [type.of];
    default:
      return [];
  }
}

/** The name of a type in messages. */
export function formatType(type: CelType): string {
  switch (type.kind) {
    case "error":
      return "!error!";
    case "list":
      return `list(${formatType(type.item)})`;
    case "map":
      return `map(${formatType(type.key)}, ${formatType(type.value)})`;
    case "object":
    case "param":
      return type.name;
    case "opaque":
      return type.of.length === 0 ? type.name : `${type.name}(${type.of.map(formatType).join(", ")})`;
    case "type":
      return type.of === undefined ? "type" : `type(${formatType(type.of)})`;
    default:
      return type.kind;
  }
}

/** The Go name of a type, which admission uses. */
export function formatTypeName(type: CelType): string {
  switch (type.kind) {
    case "null":
      return "null_type";
    case "duration":
      return "google.protobuf.Duration";
    case "timestamp":
      return "google.protobuf.Timestamp";
    case "list":
      return `list(${formatTypeName(type.item)})`;
    case "map":
      return `map(${formatTypeName(type.key)}, ${formatTypeName(type.value)})`;
    default:
      return formatType(type);
  }
}

/** True when both types are equal. */
export function isSameType(left: CelType, right: CelType): boolean {
  if (left === right) return true;
  if (left.kind !== right.kind) return false;
  const leftName = "name" in left ? left.name : "";
  const rightName = "name" in right ? right.name : "";
  if (leftName !== rightName) return false;
  const [leftParts, rightParts] = [partsOf(left), partsOf(right)];
  return leftParts.length === rightParts.length &&
    leftParts.every((part, index) => isSameType(part, rightParts[index] ?? errorType));
}

/**
 * Solves the type variables of one expression by unification, with the rules of cel-go's checker: `dyn` matches every type,
 * null matches objects, durations and timestamps, and of two matching types the more general one is kept.
 */
export class TypeSolver {
  #found = new Map<string, CelType>();
  #count = 0;

  /** A new open variable. */
  variable(): CelType {
    return { kind: "param", name: `_var${this.#count++}` };
  }

  /** True when a value of `left` is allowed where `right` is expected. Binds type variables if so. */
  isAssignable(left: CelType, right: CelType): boolean {
    return this.areAssignable([left], [right]);
  }

  /** The same for several types: binds variables only if all match. */
  areAssignable(left: readonly CelType[], right: readonly CelType[]): boolean {
    const before = new Map(this.#found);
    if (left.length === right.length && left.every((type, index) => this.#goes(type, right[index] ?? errorType))) {
      return true;
    }
    this.#found = before;
    return false;
  }

  /** The type with bound variables replaced. @param isFinal replaces open variables by dyn */
  resolve(type: CelType, isFinal = false): CelType {
    if (type.kind === "param") {
      const found = this.#found.get(type.name);
      if (found !== undefined) return this.resolve(found, isFinal);
      return isFinal ? dynType : type;
    }
    return withParts(type, (part) => this.resolve(part, isFinal));
  }

  /** The common type of both; undefined when they do not match. */
  join(previous: CelType, current: CelType): CelType | undefined {
    return this.isAssignable(previous, current) ? moreGeneral(previous, current) : undefined;
  }

  /** The type of a declaration with new variables in place of its own. */
  instantiate(type: CelType, variables: Map<string, CelType>): CelType {
    if (type.kind !== "param") return withParts(type, (part) => this.instantiate(part, variables));
    let variable = variables.get(type.name);
    if (variable === undefined) variables.set(type.name, variable = this.variable());
    return variable;
  }

  #goes(left: CelType, right: CelType): boolean {
    if (right.kind === "param") {
      const hasFound = this.#found.has(right.name);
      if (this.#bind(right.name, right, left)) return true;
      if (hasFound) return false;
    }
    if (left.kind === "param") return this.#bind(left.name, left, right);
    if (isWild(left) || isWild(right)) return true;
    if (left.kind === "null" || right.kind === "null") return isNullable(left.kind === "null" ? right : left);
    if (left.kind !== right.kind) return false;
    if (left.kind === "type") return true;
    if ("name" in left && "name" in right && left.name !== right.name) return false;
    const [leftParts, rightParts] = [partsOf(left), partsOf(right)];
    return leftParts.length === rightParts.length &&
      leftParts.every((part, index) => this.#goes(part, rightParts[index] ?? errorType));
  }

  #bind(name: string, variable: CelType, type: CelType): boolean {
    if (type.kind === "param" && type.name === name) return true;
    const found = this.#found.get(name);
    if (found === undefined) {
      if (this.#occurs(variable, type)) return false;
      this.#found.set(name, type);
      return true;
    }
    if (isSameType(found, type)) return true;
    if (!this.#goes(type, found)) return false;
    const general = moreGeneral(type, found);
    if (!this.#occurs(variable, general)) this.#found.set(name, general);
    return true;
  }

  #occurs(variable: CelType, inside: CelType): boolean {
    if (isSameType(variable, inside)) return true;
    if (inside.kind === "param") {
      const found = this.#found.get(inside.name);
      return found !== undefined && this.#occurs(variable, found);
    }
    return partsOf(inside).some((part) => this.#occurs(variable, part));
  }
}

function isWild(type: CelType): boolean {
  return type.kind === "dyn" || type.kind === "error";
}

function isNullable(type: CelType): boolean {
  switch (type.kind) {
    case "null":
    case "object":
    case "opaque":
    case "duration":
    case "timestamp":
      return true;
    default:
      return false;
  }
}

function moreGeneral(left: CelType, right: CelType): CelType {
  return isLessSpecific(left, right) ? left : right;
}

function isLessSpecific(left: CelType, right: CelType): boolean {
  if (left.kind === "dyn" || left.kind === "param") return true;
  if (right.kind === "dyn" || right.kind === "param") return false;
  if (left.kind !== right.kind) return false;
  if (left.kind === "type") return true;
  if ("name" in left && "name" in right && left.name !== right.name) return false;
  const rightParts = partsOf(right);
  return partsOf(left).every((part, index) => isLessSpecific(part, rightParts[index] ?? errorType));
}

function withParts(type: CelType, change: (part: CelType) => CelType): CelType {
  switch (type.kind) {
    case "list":
      return { kind: "list", item: change(type.item) };
    case "map":
      return { kind: "map", key: change(type.key), value: change(type.value) };
    case "opaque":
      return type.of.length === 0 ? type : { ...type, of: type.of.map(change) };
    case "type":
      return type.of === undefined ? type : { kind: "type", of: change(type.of) };
    default:
      return type;
  }
}
