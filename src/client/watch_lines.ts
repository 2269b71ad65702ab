/**
 * watchLines(): from the bytes of a watch to events. The hottest code of the client: each of 50,000 objects of a first
 * sync comes through here once, and every change after that.
 *
 * Guarantees: one batch per read of the connection, in the server's order; nothing is skipped: a line that is no event
 * becomes MALFORMED, a stream that ends inside a line throws; chunk borders may fall anywhere, in a character too; the
 * body is cancelled on every way out. A line costs one decode (shared by its chunk), one search and one JSON.parse.
 */
import { onAbort } from "../async/mod.ts";
import type { WatchEvent } from "../api/mod.ts";
import { releaseBytes } from "../runtime/mod.ts";
import { dropManagedFields, isObject, parseJson } from "./_decode.ts";
import { LineSplitter } from "./_line_splitter.ts";
import { withoutManagedFields } from "./_managed_fields.ts";
import { unreachable, UnreachableError } from "./unreachable_error.ts";

/** Options of {@link watchLines}. */
export interface WatchLinesOptions {
  /** Infinitive for messages: `watch Foo`. */
  readonly action: string;
  /** Leaves `metadata.managedFields` out of the objects. @default true */
  readonly dropManagedFields?: boolean;
  /** Longest line in UTF-16 code units. @default 67108864 (64 Mi) */
  readonly maxLineLength?: number;
}

const defaultLineLength = 64 * 1024 * 1024;

/**
 * Reads watch events until the body ends or the consumer leaves.
 *
 * @throws UnreachableError when the stream breaks, RangeError when a line is too long, the signal's reason when aborted.
 */
export async function* watchLines<T>(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  options: WatchLinesOptions,
): AsyncGenerator<readonly WatchEvent<T>[], void, void> {
  const { action, dropManagedFields = true, maxLineLength = defaultLineLength } = options;
  const splitter = new LineSplitter(maxLineLength);
  const reader = body.getReader();
  // Reading does not end by itself on all runtimes when the signal of a request aborts mid-stream.
  using _cancelling = onAbort(signal, () => void reader.cancel(signal.reason).catch(() => {}));
  try {
    while (true) {
      signal.throwIfAborted();
      const { done, value } = await read(reader, signal, action);
      if (done) break;
      const events: WatchEvent<T>[] = [];
      splitter.push(value, (line) => events.push(parseEvent<T>(line, dropManagedFields)));
      releaseBytes(value);
      if (events.length > 0) yield events;
    }
    const rest = splitter.end();
    if (rest.trim() !== "") yield [lastEvent<T>(rest, dropManagedFields, action)];
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

/** One line as an event. `cause` of a MALFORMED one is a SyntaxError for no JSON, a TypeError for JSON that is no event. */
function parseEvent<T>(line: string, dropsManagedFields: boolean): WatchEvent<T> {
  let event: unknown;
  try {
    event = parseJson(dropsManagedFields ? withoutManagedFields(line, "event") : line);
  } catch (cause) {
    return { type: "MALFORMED", line, cause };
  }
  if (!isEvent<T>(event)) {
    return {
      type: "MALFORMED",
      line,
      cause: new TypeError("Cannot use watch event: its type is unknown or it has no object"),
    };
  }
  if (dropsManagedFields && event.type !== "ERROR") dropManagedFields(event.object);
  return event;
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

/** What stands behind the last line break: whole, or the sign that the stream was cut. */
function lastEvent<T>(line: string, dropsManagedFields: boolean, action: string): WatchEvent<T> {
  const event = parseEvent<T>(line, dropsManagedFields);
  if (event.type !== "MALFORMED") return event;
  throw new UnreachableError({
    action,
    reason: { kind: "unreachable", detail: "reset" },
    state: `the stream broke off inside a line, after ${line.length} characters of it`,
    cause: event.cause,
  });
}
