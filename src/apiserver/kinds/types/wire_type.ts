/**
 * WireType: the type of a value of a built-in kind, as the Go types of Kubernetes have it. OpenAPI describes what a client may
 * send. A wire type adds how the server treats the value: which zero values it drops, which fields it always writes, and the
 * name of the Go type in the message about a value of the wrong type.
 *
 * The types are generated (generated/*_v1.ts, read by wire_types.ts); a struct is read when it is first needed.
 */
import type { Json, JsonObject } from "../../model/mod.ts";

/** Scalars, by the form that the Go type decodes. */
export type WireScalarName =
  | "string"
  | "int32"
  | "int64"
  | "float64"
  | "boolean"
  | "bytes"
  | "time"
  | "microTime"
  | "quantity"
  | "intOrString"
  | "raw"
  | "fields"
  | "json";

/** A scalar. `goName` as in `cannot unmarshal number into ... of type v1.PullPolicy`. */
export interface WireScalar {
  readonly kind: "scalar";
  readonly scalar: WireScalarName;
  readonly goName: string;
}

/** A list. */
interface WireList {
  readonly kind: "list";
  readonly items: WireType;
  readonly goName: string;
}

/** An object with free keys. */
interface WireMap {
  readonly kind: "map";
  readonly values: WireType;
  readonly goName: string;
}

/** A reference to a struct by the name for {@link wireStruct}, e.g. `core/v1.PodSpec`. */
interface WireReference {
  readonly kind: "struct";
  readonly name: string;
  readonly goName: string;
}

/** The type of one value. */
export type WireType = WireScalar | WireList | WireMap | WireReference;

/** One field of a struct. */
export interface WireField {
  readonly name: string;
  readonly type: WireType;
  /** A Go pointer: absent and zero differ. */
  readonly isPointer: boolean;
  /** Written even when it is zero or absent (Go: no `omitempty`). */
  readonly isAlwaysWritten: boolean;
  /** A struct that is omitted when it is zero (Go: `omitzero`). */
  readonly isOmittedWhenZero: boolean;
  /** OpenAPI `required`. */
  readonly isRequired: boolean;
  /** OpenAPI extensions by name. */
  readonly extensions: JsonObject;
  /** Its OpenAPI is only a reference, since the server has no description for it. */
  readonly isBareReference: boolean;
  /** OpenAPI `enum`; empty when any value is allowed. */
  readonly allowed: readonly string[];
  /** The same for the items of a list or the values of a map. */
  readonly allowedElements: readonly string[];
  /** OpenAPI `default` of the field, if any. */
  readonly default: Json | undefined;
}

/** A group, version and kind. */
export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** A struct with its fields. */
export interface WireStruct {
  /** `core/v1.PodSpec`. */
  readonly name: string;
  /** `io.k8s.api.core.v1.PodSpec`: the name of its OpenAPI component. */
  readonly fullName: string;
  /** `PodSpec`. */
  readonly goName: string;
  readonly fields: ReadonlyMap<string, WireField>;
  /** x-kubernetes-group-version-kind; empty for most structs. */
  readonly kinds: readonly GroupVersionKind[];
  /** Further members of its OpenAPI schema; the whole schema for a struct without fields. */
  readonly extra: JsonObject;
}

/** The zero value of a scalar that has a plain JSON type; undefined for bytes, and for scalars that are named Go types. */
export function plainZeroOf(scalar: WireScalarName): Json | undefined {
  switch (scalar) {
    case "string":
      return "";
    case "int32":
    case "int64":
    case "float64":
      return 0;
    case "boolean":
      return false;
    default:
      return undefined;
  }
}
