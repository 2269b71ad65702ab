/**
 * A recording as a file: JSON Lines. The first line is a {@link RecordingHeader}, each further line one sealed entry.
 * `RecordingLines` writes it through any function that takes text; `readRecording()` reads it.
 *
 * Guarantees of the reader: memory is bounded (`maxLineLength`, one line at a time); a last line without its end is left
 * out, because a crash leaves one behind; any other line that is no entry is an error with its number; a file of a newer
 * format is refused, fields and kinds of entries that this version does not know are kept.
 */
import type { Plain } from "../redaction/mod.ts";
import type { Entry } from "./entries.ts";
import { entryProblem } from "./entry_shape.ts";
import type { RecordingSink } from "./recorder.ts";

/** The version of the format. It grows when a reader of the previous version would misread the file. */
export const recordingFormat = 1;

/** The first line of a recording. */
export interface RecordingHeader {
  /** The version of the format. */
  readonly pintleRecording: number;
  /** The name of the operator. */
  readonly operator: string;
  /** Its version. */
  readonly version: string;
  /** The names of the recorded controllers. */
  readonly controllers: readonly string[];
  /** When the recording began, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** Which file of a rotated recording this is, from 1 up. @default 1 */
  readonly part?: number;
  /** What was simulated. Absent for the recording of a process. */
  readonly simulation?: SimulationHeader;
}

/** The schedule of a recorded simulation, and what it broke. */
export interface SimulationHeader {
  /** The name of the workload. */
  readonly workload: string;
  /** The seed. */
  readonly seed: number;
  /** The processes of the operator. */
  readonly replicas: number;
  /** The fault plan, as `simulate --plan` takes it. */
  readonly plan: Plain;
  /** The broken invariants; none if the schedule broke none. */
  readonly violations: readonly { readonly invariant: string; readonly message: string }[];
}

/** A line of a recording, or its header. */
export type RecordingLine =
  | { readonly kind: "header"; readonly header: RecordingHeader }
  | { readonly kind: "entry"; readonly entry: Entry }
  /** The last line had no end, as a crash leaves it. */
  | { readonly kind: "truncated"; readonly line: number };

/** Writes a recording as lines of text. */
export class RecordingLines implements RecordingSink {
  /** A file is what `replay` reads. */
  readonly keepsStates = true;
  readonly #write: (line: string) => void;

  /** @param write Takes one line, with its line feed. */
  constructor(header: Omit<RecordingHeader, "pintleRecording">, write: (line: string) => void) {
    this.#write = write;
    write(`${JSON.stringify({ pintleRecording: recordingFormat, ...header })}\n`);
  }

  /** Writes one entry. */
  write(entry: Entry): void {
    this.#write(`${JSON.stringify(entry)}\n`);
  }
}

/** The file is not a recording that can be read. */
export class RecordingError extends Error {
  override readonly name = "RecordingError";
}

/** Options of {@link readRecording}. */
export interface ReadRecordingOptions {
  /** The name of the file, for errors. */
  readonly name: string;
  /** The longest line in UTF-16 code units. @default 16777216 (16 Mi) */
  readonly maxLineLength?: number;
}

const defaultMaxLineLength = 16 * 1024 * 1024;

/**
 * Reads a recording from its bytes, in chunks of any size.
 *
 * @throws RecordingError for what is no recording, with the number of the line
 */
export async function* readRecording(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: ReadRecordingOptions,
): AsyncGenerator<RecordingLine, void, void> {
  const reader = new LineReader(options);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  for await (const chunk of chunks) yield* reader.push(decoded(() => decoder.decode(chunk, { stream: true }), options));
  yield* reader.end(decoded(() => decoder.decode(), options));
}

function decoded(decode: () => string, { name }: ReadRecordingOptions): string {
  try {
    return decode();
  } catch (cause) {
    throw new RecordingError(`Cannot read recording ${name}: it is not UTF-8 text`, { cause });
  }
}

class LineReader {
  readonly #name: string;
  readonly #maxLineLength: number;
  #pieces: string[] = [];
  #length = 0;
  #line = 1;
  #lastId = 0;

  constructor({ name, maxLineLength = defaultMaxLineLength }: ReadRecordingOptions) {
    this.#name = name;
    this.#maxLineLength = maxLineLength;
  }

  *push(text: string): Generator<RecordingLine, void, void> {
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      this.#append(text.slice(start, end));
      yield this.#parse(this.#take());
      start = end + 1;
    }
    this.#append(text.slice(start));
  }

  *end(text: string): Generator<RecordingLine, void, void> {
    yield* this.push(text);
    if (this.#line === 1) throw this.#error(this.#length === 0 ? "it is empty" : "its first line is no header");
    if (this.#length > 0) yield { kind: "truncated", line: this.#line };
  }

  #append(piece: string): void {
    if (piece === "") return;
    this.#pieces.push(piece);
    this.#length += piece.length;
    if (this.#length > this.#maxLineLength) {
      throw this.#error(`line ${this.#line} is longer than ${this.#maxLineLength} characters`);
    }
  }

  #take(): string {
    const line = this.#pieces.join("");
    this.#pieces = [];
    this.#length = 0;
    return line;
  }

  #parse(text: string): RecordingLine {
    const line = this.#line++;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (cause) {
      throw this.#error(line === 1 ? "its first line is no header" : `line ${line} is not JSON`, cause);
    }
    if (line === 1) return { kind: "header", header: this.#header(value) };
    const problem = entryProblem(value, text);
    if (problem !== undefined) throw this.#error(`line ${line} is no entry: ${problem}`);
    const entry = value as Entry;
    if (entry.id <= this.#lastId) throw this.#error(`line ${line} has id ${entry.id} after ${this.#lastId}`);
    this.#lastId = entry.id;
    return { kind: "entry", entry };
  }

  #header(value: unknown): RecordingHeader {
    if (!isMap(value) || typeof value.pintleRecording !== "number") throw this.#error("its first line is no header");
    const { pintleRecording: format, operator, version, controllers, startedAt } = value;
    if (format !== recordingFormat) {
      throw this.#error(
        `it has format ${format}, and this program reads format ${recordingFormat}. Use a newer program`,
      );
    }
    const isComplete = typeof operator === "string" && typeof version === "string" && typeof startedAt === "number" &&
      Array.isArray(controllers) && controllers.every((name) => typeof name === "string");
    if (!isComplete) throw this.#error("its header lacks operator, version, controllers or startedAt");
    return value as unknown as RecordingHeader;
  }

  #error(state: string, cause?: unknown): RecordingError {
    return new RecordingError(`Cannot read recording ${this.#name}: ${state}`, { cause });
  }
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
