/** The storage: objects, their history, consistent snapshots, paged lists, cursors for watches, and the file that keeps them. */
export { type Change, Cursor, type CursorOptions, type Reading, type Snapshot } from "./change_log.ts";
export type { Durability } from "./durability.ts";
export { Follower } from "./follower.ts";
export { ObjectDatabase, StoredDataError, type StoredSettings } from "./object_database.ts";
export {
  continueAfter,
  type ContinueToken,
  decodeContinue,
  encodeContinue,
  listObjects,
  type ListQuery,
  type ListResult,
  type ParsedVersion,
  parseResourceVersion,
  resourceVersionTooLarge,
} from "./list.ts";
export {
  atRevision,
  ObjectStorage,
  ObjectTooLargeError,
  type StorageChange,
  StorageFullError,
  type StorageOptions,
} from "./storage.ts";
export { storageKey, StoredObject } from "./stored_object.ts";
