/** The recording of a process in a file, for `run` and `dev`. */
export { RecordFile, type RecordFileOptions } from "./record_file.ts";
export { recordFlag } from "./record_flag.ts";
