/** The types of built-in kinds: decoding, defaulting, publishing, and reading their fields. */
export { DecodeError, decodeStruct, wasSentEmpty } from "./decoder.ts";
export {
  booleanAt,
  findNumber,
  findObject,
  has,
  numberAt,
  objectAt,
  objectsAt,
  textAt,
  textsAt,
  valuesAt,
} from "../../../cel/mod.ts";
export {
  base64Bytes,
  draftAt,
  draftsAt,
  findDraft,
  fromBase64,
  metadataOf,
  nameOf,
  objectIn,
  restoreField,
  restoreMetadata,
  setIfAbsent,
  setIfEmpty,
  setIfZero,
  textMapAt,
  toBase64,
} from "./fields.ts";
export { openApiOf, referencesOf } from "./open_api.ts";
export { inFieldOrder } from "./field_order.ts";
export {
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  integerOf,
  parseQuantity,
  sumOfQuantities,
} from "./quantity.ts";
export { formatTime } from "../../model/mod.ts";
export { type DefaultingFunction, type DefaultingFunctions, TypeDefaulter } from "./type_defaulter.ts";
export {
  type GroupVersionKind,
  plainZeroOf,
  type WireField,
  type WireScalarName,
  type WireStruct,
  type WireType,
} from "./wire_type.ts";
export { fullNameOf, hasWireStruct, packageNames, readWireStruct, structNames, wireStruct } from "./wire_types.ts";
export { unionFieldOf, unionFields } from "./unions.ts";
