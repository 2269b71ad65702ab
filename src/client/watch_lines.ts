/**
 * watchLines(): the events of a watch from its bytes. This is the hottest code of the client: each of the 50,000 objects
 * of an initial list passes through it once, and so does every later change.
 *
 * Guarantees: one batch per read of the connection, in the order of the server; nothing is skipped: a line that is not
 * an event becomes MALFORMED, a stream that ends inside a line throws; chunks may end anywhere, also inside a character;
 * the body is cancelled in every case. A line costs one decode (shared by its chunk), one search and one JSON.parse.
 */
import { checkObject, type FieldManager, InvalidResponseError, toStatus, type WatchEvent } from "../api/mod.ts";
import { onAbort } from "../async/mod.ts";
import { releaseBytes } from "../runtime/mod.ts";
import { dropManagedFields, isObject, parseJson, withoutManagedFields } from "./decoder.ts";
import { managersIn, newestManagers } from "./field_managers.ts";
import { unreachable, UnreachableError } from "./unreachable_error.ts";

/** Options of {@link watchLines}. */
export interface WatchLinesOptions {
  /** Infinitive for messages: `watch Foo`. */
  readonly action: string;
  /** Removes `metadata.managedFields` from the objects. @default true */
  readonly dropManagedFields?: boolean;
  /** Adds to each event who wrote the newest state, as far as managedFields are removed. @default false */
  readonly reportManagers?: boolean;
  /** Longest line in UTF-16 code units. @default 16777216 (16 Mi): an object has at most 3 MiB (kube-apiserver's limit) */
  readonly maxLineLength?: number;
}

const defaultMaxLineLength = 16 * 1024 * 1024;

/**
 * Reads watch events until the body ends or the consumer leaves.
 *
 * @throws UnreachableError when the stream breaks, InvalidResponseError when a line is too long, the reason of the signal.
 */
export async function* watchLines<T>(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  options: WatchLinesOptions,
): AsyncGenerator<readonly WatchEvent<T>[], void, void> {
  const { action, maxLineLength = defaultMaxLineLength } = options;
  const { dropManagedFields: drops = true, reportManagers: reports = false } = options;
  const parse = drops && reports ? parseReportedEvent<T> : (line: string) => parseEvent<T>(line, drops);
  const splitter = new LineSplitter(maxLineLength);
  const reader = body.getReader();
  // On some runtimes an abort of the request does not end a read in the middle of the stream.
  using _cancelling = onAbort(signal, () => void reader.cancel(signal.reason).catch(() => {}));
  try {
    while (true) {
      signal.throwIfAborted();
      const { done, value } = await read(reader, signal, action);
      if (done) break;
      const events: WatchEvent<T>[] = [];
      const excess = splitter.push(value, (line) => events.push(parse(line)));
      releaseBytes(value);
      if (events.length > 0) yield events;
      if (excess !== undefined) throw excess;
    }
    const rest = splitter.end();
    if (typeof rest !== "string") throw rest;
    if (rest.trim() !== "") yield [lastEvent<T>(parse(rest), rest.length, action)];
  } finally {
    reader.cancel().catch(() => {});
  }
}

async function read(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  signal: AbortSignal,
  action: string,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  try {
    const result = await reader.read();
    signal.throwIfAborted();
    return result;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw unreachable(error, action);
  }
}

/** As {@link parseEvent}, without managedFields, but with who wrote the newest state. */
function parseReportedEvent<T>(line: string): WatchEvent<T> {
  let managers: readonly FieldManager[] | undefined;
  const text = withoutManagedFields(line, "event", (start, end) => managers = managersIn(line, start, end));
  const event = parseEvent<T>(text, false);
  if (event.type !== "ADDED" && event.type !== "MODIFIED" && event.type !== "DELETED") return event;
  // managedFields in another form than kube-apiserver writes them.
  managers ??= newestManagers(event.object);
  dropManagedFields(event.object);
  return managers === undefined ? event : { ...event, managers };
}

/** Parses one line. The `cause` of a MALFORMED event is a SyntaxError for malformed JSON, else an InvalidResponseError. */
function parseEvent<T>(line: string, dropsManagedFields: boolean): WatchEvent<T> {
  let event: unknown;
  try {
    event = parseJson(dropsManagedFields ? withoutManagedFields(line, "event") : line);
  } catch (cause) {
    return { type: "MALFORMED", line, cause };
  }
  const problem = isEvent<T>(event) ? problemOf(event) : "its type is unknown or it has no object";
  if (!isEvent<T>(event) || problem !== undefined) {
    return { type: "MALFORMED", line, cause: new InvalidResponseError(`Cannot use watch event: ${problem}`) };
  }
  if (event.type === "ERROR") return { type: "ERROR", object: toStatus(event.object) };
  if (dropsManagedFields) dropManagedFields(event.object);
  return event;
}

/** What is wrong with the object of an event; undefined if nothing is. */
function problemOf(event: Exclude<WatchEvent<unknown>, { type: "MALFORMED" }>): string | undefined {
  if (event.type === "ERROR") return undefined;
  const problem = checkObject(event.object);
  if (problem !== undefined || event.type !== "BOOKMARK") return problem;
  return event.object.metadata.resourceVersion === undefined ? "a bookmark has no version" : undefined;
}

function isEvent<T>(value: unknown): value is Exclude<WatchEvent<T>, { type: "MALFORMED" }> {
  if (!isObject(value) || !isObject(value.object)) return false;
  switch (value.type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
    case "BOOKMARK":
    case "ERROR":
      return true;
    default:
      return false;
  }
}

/** The event of the text behind the last line feed: of a complete line, or of a part, which means that the stream was cut. */
function lastEvent<T>(event: WatchEvent<T>, length: number, action: string): WatchEvent<T> {
  if (event.type !== "MALFORMED") return event;
  throw new UnreachableError({
    action,
    reason: { kind: "unreachable", detail: "reset" },
    state: `the stream broke off inside a line, after ${length} characters`,
    cause: event.cause,
  });
}

/**
 * LineSplitter: lines of text from chunks of bytes. It takes linear time, also for one line in many chunks: a chunk is
 * decoded once and searched once, and the pieces of an incomplete line are joined when it is complete. Empty lines are
 * left out. A carriage return before the line feed stays, because JSON.parse accepts it as white space.
 */
class LineSplitter {
  readonly #decoder = new TextDecoder();
  readonly #maxLength: number;
  /** The pieces of an incomplete line. */
  #pieces: string[] = [];
  #piecesLength = 0;

  /** @param maxLength Longest line in UTF-16 code units. */
  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** Takes a chunk and calls `emit` for each complete line. @returns the error when a line is too long, behind the others */
  push(chunk: Uint8Array, emit: (line: string) => void): InvalidResponseError | undefined {
    const text = this.#decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      const line = this.#pieces.length === 0 ? text.slice(start, end) : this.#complete(text.slice(start, end));
      start = end + 1;
      if (line.length > this.#maxLength) return this.#tooLong();
      if (line.length > 1 || (line !== "" && line !== "\r")) emit(line);
    }
    return start < text.length ? this.#append(start === 0 ? text : text.slice(start)) : undefined;
  }

  /** The text behind the last line feed, or the error when it is too long. */
  end(): string | InvalidResponseError {
    return this.#append(this.#decoder.decode()) ?? this.#complete("");
  }

  #append(piece: string): InvalidResponseError | undefined {
    this.#pieces.push(piece);
    this.#piecesLength += piece.length;
    return this.#piecesLength > this.#maxLength ? this.#tooLong() : undefined;
  }

  #complete(last: string): string {
    this.#pieces.push(last);
    const line = this.#pieces.join("");
    this.#pieces = [];
    this.#piecesLength = 0;
    return line;
  }

  #tooLong(): InvalidResponseError {
    return new InvalidResponseError(`Cannot read watch: a line is longer than ${this.#maxLength} characters`);
  }
}
