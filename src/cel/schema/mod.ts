/** OpenAPI schemas of custom resources: reading them, their paths, and matching new with old values. */
export {
  Correlation,
  isRatcheted,
  OldItems,
  type Ratchet,
  ratchetOfAllOf,
  ratchetOfItem,
  ratchetOfKey,
  rootRatchet,
} from "./correlation.ts";
export { fieldPath, itemPath, parseFieldPath, shownPath, stepsOf, valueAt } from "./field_paths.ts";
export {
  readSchema,
  schemaOf,
  type SchemaProps,
  type UnsupportedKeyword,
  type ValidationRule,
  valueSchema,
} from "./schema_props.ts";
export { goTypeOf, isInt64, kindOf, typesOf, usedFormat } from "./value_types.ts";
