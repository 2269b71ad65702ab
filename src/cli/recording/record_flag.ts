/** The flag `--record`, which `run` and `dev` have. */
import { flag, text } from "../flags/mod.ts";
import { maxOldParts, maxPartBytes } from "./record_file.ts";

/** The file of the recording. */
export const recordFlag = flag(text().optional(), {
  flags: "--record <path>",
  about: [
    "record what happens to this file, for replay and why --file: whole objects, without secrets;",
    `at ${
      maxPartBytes / 1024 / 1024
    } MiB, and when the next process starts, it becomes PATH.1, up to PATH.${maxOldParts}`,
  ].join(" "),
  example: "--record incident.jsonl",
  completes: "file",
});
