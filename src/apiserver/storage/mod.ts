/** What the server stores: objects, their history, consistent snapshots, and cursors for those who watch. */
export { type Change, type Snapshot } from "./change.ts";
export { Cursor, type CursorOptions, type Reading } from "./cursor.ts";
export { continueAfter, type ContinueToken, decodeContinue, encodeContinue } from "./continue_token.ts";
export { listObjects, type ListQuery, type ListResult, tooLarge } from "./list.ts";
export { type ParsedVersion, parseResourceVersion } from "./resource_version.ts";
export { atRevision, ObjectStorage, ObjectTooLargeError, type StorageChange, type StorageOptions } from "./storage.ts";
export { storageKey, StoredObject } from "./stored_object.ts";
