/**
 * readRecordingFile(): the entries of a recording in a file of `run --record`: one JSON object per line, oldest first.
 *
 * Guarantees: at most 1 GiB is read; a line that is no entry is refused with its number, except for the last one, which a
 * process that ended in the middle of a write has cut.
 */
import { type Entry, errorText } from "../../observe/mod.ts";
import { readText } from "../../runtime/mod.ts";
import { CommandError, exitCode } from "../command/mod.ts";

const maxBytes = 1024 * 1024 * 1024;

/** Reads the file. @throws CommandError when it cannot be read, or is no recording */
export async function readRecordingFile(path: string): Promise<readonly Entry[]> {
  const text = await readText(path, { isRegular: true, maxBytes }).catch((cause: unknown) => {
    throw new CommandError(`Cannot read recording "${path}": ${errorText(cause)}`, { code: exitCode.failed, cause });
  });
  const lines = text.split("\n");
  return lines.flatMap((line, index) => {
    if (line.trim() === "") return [];
    const value = parsed(line);
    if (isEntry(value)) return [value];
    if (isHeader(value) || index === lines.length - 1) return [];
    throw new CommandError(`Cannot read recording "${path}": line ${index + 1} is no entry`, {
      code: exitCode.failed,
      advice: "Name a file of run --record",
    });
  });
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** The fields that every entry has; the rest is as the same program wrote it. */
function isEntry(value: unknown): value is Entry {
  return isMap(value) && typeof value.id === "number" && typeof value.at === "number" &&
    typeof value.kind === "string" && Array.isArray(value.causes);
}

/** A line about the recording itself: it has no id. */
function isHeader(value: unknown): boolean {
  return isMap(value) && value.id === undefined;
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
