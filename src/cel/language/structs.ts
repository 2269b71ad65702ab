/**
 * Types that expressions can create: `Type{field: value}`. An environment finds them by name, with the types of their fields; a
 * value of such a type is a CelStruct.
 */
import type { FunctionDecl } from "./functions.ts";
import type { ObjectType } from "./types.ts";
import type { CelError, CelStruct, Value } from "./values.ts";

/** A type that expressions can create. */
export interface StructType {
  readonly type: ObjectType;
  /** Makes a value of the fields that an expression sets. */
  create(fields: ReadonlyMap<string, Value>): CelStruct | CelError;
}

/** Finds a type by its name: `Object.spec`. */
export type FindStruct = (name: string) => StructType | undefined;

/** What an environment has besides the functions of all environments. */
export interface CelExtension {
  readonly functions: readonly FunctionDecl[];
  readonly findStruct: FindStruct;
  /** Whether expressions may bind names: `cel.bind(name, value, expression)`. @default false */
  readonly hasBindings?: boolean;
}
