/**
 * readRecordingFiles(): a recording from the files of `run --record`, in the order of time. A recording that was rotated is in
 * several files, and the one that is named is the newest of them:
 *
 *   FILE.2 (part 1) -> FILE.1 (part 2) -> FILE (part 3)
 *
 * Guarantees: files of another process, which also have such names, are left out; memory is bounded (512 MiB of files); what is
 * no recording is refused with its file and line. A last line without its end, as a crash leaves it, is left out and reported.
 */
import { type Entry, errorText, readRecording, RecordingError, type RecordingHeader } from "../../observe/mod.ts";
import { isRegularFile, readChunks } from "../../runtime/mod.ts";
import { CommandError, exitCode } from "../command/mod.ts";

/** A recording in memory. */
export interface RecordedRun {
  /** The header of its newest file. */
  readonly header: RecordingHeader;
  /** Oldest first. */
  readonly entries: readonly Entry[];
  /** True when its first files are gone: the recording is longer than what is kept. */
  readonly isFirstMissing: boolean;
  /** The line that was cut; undefined if the last one is whole. */
  readonly cutLine: number | undefined;
}

/** Options of {@link readRecordingFiles}. */
export interface RecordingFilesOptions {
  /** False drops the whole objects, which need most of the memory. */
  readonly keepsStates: boolean;
  /** Reads standard input, for the path `-`. @default "-" is a file */
  readonly readInput?: (maxBytes: number) => Promise<string>;
}

const maxBytes = 512 * 1024 * 1024;
const advice = "Name a file of run --record";

/** Reads the recording whose newest file is `path`. @throws CommandError when it cannot be read, or is no recording */
export async function readRecordingFiles(path: string, options: RecordingFilesOptions): Promise<RecordedRun> {
  try {
    if (path === "-" && options.readInput !== undefined) {
      const text = await options.readInput(maxBytes);
      const only = await readPart({ name: "standard input", chunks: [new TextEncoder().encode(text)] }, options);
      return joined([only]);
    }
    const newest = await readPart(partAt(path), options);
    return joined([...await olderParts(path, newest, options), newest]);
  } catch (cause) {
    if (cause instanceof CommandError) throw cause;
    const isRead = cause instanceof RecordingError;
    const message = isRead ? cause.message : `Cannot read recording "${path}": ${errorText(cause)}`;
    throw new CommandError(message, { code: exitCode.failed, cause, ...(isRead ? { advice } : {}) });
  }
}

/** One file. */
interface Part {
  readonly name: string;
  readonly header: RecordingHeader;
  readonly entries: readonly Entry[];
  readonly cutLine: number | undefined;
}

interface PartSource {
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

function partAt(path: string): PartSource {
  return { name: `"${path}"`, chunks: readChunks(path, { maxBytes }) };
}

async function readPart({ name, chunks }: PartSource, { keepsStates }: RecordingFilesOptions): Promise<Part> {
  let header: RecordingHeader | undefined;
  let cutLine: number | undefined;
  const entries: Entry[] = [];
  for await (const line of readRecording(chunks, { name })) {
    if (line.kind === "header") header = line.header;
    else if (line.kind === "truncated") cutLine = line.line;
    else entries.push(keepsStates ? line.entry : withoutState(line.entry));
  }
  if (header === undefined) throw new RecordingError(`Cannot read recording ${name}: its first line is no header`);
  return { name, header, entries, cutLine };
}

function withoutState(entry: Entry): Entry {
  if (!("state" in entry) || (entry.kind !== "change" && entry.kind !== "write" && entry.kind !== "read")) return entry;
  const { state: _, ...rest } = entry;
  return rest as Entry;
}

/** The files before `newest`, oldest first, as far as they are there. */
async function olderParts(path: string, newest: Part, options: RecordingFilesOptions): Promise<readonly Part[]> {
  const [, base = path, place = "0"] = /^(.*)\.([1-9]\d?)$/.exec(path) ?? [];
  const older: Part[] = [];
  let later = newest;
  for (let index = Number(place) + 1; (later.header.part ?? 1) > 1; index++) {
    const file = `${base}.${index}`;
    if (await isRegularFile(file) !== true) break;
    const part = await readPart(partAt(file), options);
    if (!isBefore(part.header, later.header)) break;
    older.unshift(part);
    later = part;
  }
  return older;
}

/** True for the file before another one of the same process. */
function isBefore(one: RecordingHeader, next: RecordingHeader): boolean {
  return one.operator === next.operator && one.version === next.version && one.startedAt === next.startedAt &&
    (one.part ?? 1) + 1 === next.part;
}

function joined(parts: readonly Part[]): RecordedRun {
  const last = parts.at(-1);
  const [first] = parts;
  if (first === undefined || last === undefined) throw new TypeError("Cannot join no parts");
  let lastId = 0;
  for (const { name, entries: [entry], cutLine } of parts) {
    if (cutLine !== undefined && name !== last.name) {
      throw new RecordingError(
        `Cannot read recording ${name}: line ${cutLine} has no end, and another file follows it`,
      );
    }
    if (entry !== undefined && entry.id <= lastId) {
      throw new RecordingError(`Cannot read recording ${name}: it begins with id ${entry.id} after ${lastId}`);
    }
    lastId = entry?.id ?? lastId;
  }
  return {
    header: last.header,
    entries: parts.length === 1 ? last.entries : parts.flatMap(({ entries }) => entries),
    isFirstMissing: (first.header.part ?? 1) > 1,
    cutLine: last.cutLine,
  };
}
