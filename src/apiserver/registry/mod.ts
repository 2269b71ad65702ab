/** The registry: the verbs of the API on all kinds, without HTTP, and the kinds that are served. */
export {
  type Body,
  type Call,
  type ComputedObjects,
  type FieldValidation,
  loopbackCall,
  type LoopbackTarget,
  loopbackUser,
  type Representation,
  represented,
  type WriteResponse,
} from "./call.ts";
export { decodeObject, type ParsedBody, summary, unregistered } from "./decode_object.ts";
export type { DeleteOptions } from "./delete.ts";
export { EventExpiry, type EventExpiryOptions } from "./event_expiry.ts";
export { type KindFamily, type KindListener, KindRegistry, type KnownKind } from "./kind_registry.ts";
export { type Matcher, parseLabelSelector, SelectorError } from "./label_selector.ts";
export {
  decodingTitle,
  generatedName,
  metadataText,
  metadataTexts,
  newUid,
  readMetadata,
  timestamp,
} from "./metadata.ts";
export { embeddedMetadataErrors } from "./metadata_rules.ts";
export { decodeObjectMeta, mistyped, ObjectMetaError } from "./object_meta.ts";
export { namespaceLifecycle, type NamespaceLifecycleOptions } from "./namespace_lifecycle.ts";
export type { PatchBody, PatchType } from "./patch.ts";
export type { ListOptions, Page } from "./read.ts";
export {
  type ActionCall,
  type ActionResponse,
  Registry,
  type RegistryOptions,
  type ReviewHandler,
  type SubresourceHandler,
} from "./registry.ts";
export { checkUid } from "./update.ts";
export { isShownAsStored, represent, representAll } from "./represent.ts";
export {
  eventOf,
  type FieldTerm,
  type ObjectEvent,
  parseFieldSelector,
  requiredValue,
  type Selection,
  selectionOf,
  type Selectors,
} from "./selection.ts";
