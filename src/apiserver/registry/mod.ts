/** The verbs of the API, and the kinds they work on. */
export { type Answer, type Body, type Call, type FieldValidation, type Representation, represented } from "./call.ts";
export { decodeObject, type ParsedBody, summary, unregistered } from "./decode_object.ts";
export type { DeleteOptions } from "./delete.ts";
export { type FieldTerm, parseFieldSelector, requiredValue } from "./field_selector.ts";
export type { ActionAnswer, ActionCall, ReviewHandler, SubresourceHandler } from "./handlers.ts";
export { type KindFamily, type KindListener, KindRegistry, type KnownKind } from "./kind_registry.ts";
export { type Matcher, parseLabelSelector, SelectorError } from "./label_selector.ts";
export { generatedName, metadataText, metadataTexts, newUid, readMetadata, timestamp } from "./metadata.ts";
export { metadataErrors, metadataUpdateErrors } from "./metadata_rules.ts";
export { namespaceLifecycle, type NamespaceLifecycleOptions } from "./namespace_lifecycle.ts";
export type { PatchBody, PatchType } from "./patch.ts";
export type { ListOptions, Page } from "./read.ts";
export { Registry, type RegistryOptions } from "./registry.ts";
export { isShownAsStored, represent, representAll } from "./represent.ts";
export { type Selection, selectionOf, type Selectors } from "./selection.ts";
export { eventOf, type ObjectEvent } from "./watch_event.ts";
