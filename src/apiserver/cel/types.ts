/**
 * Types of the Common Expression Language, as the checker reckons with them and as messages show them.
 */

/** A type. */
export type CelType =
  | { readonly kind: SimpleKind }
  | { readonly kind: "list"; readonly item: CelType }
  | { readonly kind: "map"; readonly key: CelType; readonly value: CelType }
  /** An object with known fields, e.g. the schema of a CustomResourceDefinition. */
  | { readonly kind: "object"; readonly name: string; readonly fields: ReadonlyMap<string, CelType> }
  /** A type of a library. `isObject` for those that the real server declares as objects. */
  | { readonly kind: "opaque"; readonly name: string; readonly of: readonly CelType[]; readonly isObject?: boolean }
  | { readonly kind: "type"; readonly of?: CelType }
  /** A variable of a declaration, or one that is still open. */
  | { readonly kind: "param"; readonly name: string };

/** Types without parts. `error` is that of a part which has been reported already. */
export type SimpleKind =
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

/** A list of items of a type. */
export function listOf(item: CelType): CelType {
  return { kind: "list", item };
}

/** A map. */
export function mapOf(key: CelType, value: CelType): CelType {
  return { kind: "map", key, value };
}

/** A value that may be missing. */
export function optionalOf(of: CelType): CelType {
  return { kind: "opaque", name: "optional_type", of: [of] };
}

/** A variable of a declaration. */
export function paramOf(name: string): CelType {
  return { kind: "param", name };
}

/** What an optional holds; undefined for other types. */
export function optionalContent(type: CelType): CelType | undefined {
  return type.kind === "opaque" && type.name === "optional_type" ? type.of[0] : undefined;
}

/** The parts that a type is made of. */
export function partsOf(type: CelType): readonly CelType[] {
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

/** A type as messages show it. */
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

/** A type by its name in Go, which is how admission names it. */
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

/** True when both are the same, part for part. */
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
