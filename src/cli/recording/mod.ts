/** The recording of a process in a file: `run` and `dev` write it, `why` and `replay` read it. */
export { RecordFile, type RecordFileOptions } from "./record_file.ts";
export { recordFlag } from "./record_flag.ts";
export { readRecordingFiles, type RecordedRun, type RecordingFilesOptions } from "./recording_files.ts";
