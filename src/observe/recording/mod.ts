/** The recording of what a process saw, decided and did. `entries.ts` has its types. */
export type {
  CacheEntry,
  ChangeEntry,
  EnqueueEntry,
  Entry,
  EntryBase,
  EntryId,
  ErrorEntry,
  EventEntry,
  FailedAnswer,
  FieldChange,
  FieldWriter,
  LeaseEntry,
  ListEntry,
  NewEntry,
  NewRequestEntry,
  NewWriteEntry,
  NotedChange,
  NoteEntry,
  ObjectRef,
  QueueEntry,
  ReadEntry,
  ReconcileEndEntry,
  ReconcileStartEntry,
  RequestEntry,
  ReviewEntry,
  WriteAnswer,
  WriteEntry,
} from "./entries.ts";
export { type ChangedFields, changedFields } from "./changed_fields.ts";
export { maskedObject } from "./masked_object.ts";
export {
  defaultRecordingBytes,
  type Recorder,
  Recording,
  type RecordingOptions,
  type RecordingReader,
  type RecordingSink,
} from "./recorder.ts";
export {
  readRecording,
  type ReadRecordingOptions,
  RecordingError,
  recordingFormat,
  type RecordingHeader,
  type RecordingLine,
  RecordingLines,
} from "./recording_file.ts";
