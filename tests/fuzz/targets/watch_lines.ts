/**
 * Bytes of a watch to watchLines().
 *
 * Promises: the stream ends with the error of a cut line or with none; the chunks of the bytes do not matter; each line is
 * the event that JSON.parse reads in it, without the managed fields, or MALFORMED.
 */
import fc from "fast-check";
import { checkObject, parseExactJson, printExactJson, type WatchEvent } from "../../../src/api/mod.ts";
import { dropManagedFields, isObject } from "../../../src/client/decoder.ts";
import { InvalidResponseError, UnreachableError } from "../../../src/client/mod.ts";
import { watchLines } from "../../../src/client/watch_lines.ts";
import { type FuzzTarget, promise, textOf } from "../target.ts";

const event = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`;
const map = {
  kind: "ConfigMap",
  metadata: { name: "a", managedFields: [{ manager: "x]" }] },
  data: { managedFields: "[" },
};

async function eventsIn(pieces: readonly Uint8Array[]): Promise<readonly string[]> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) if (piece.length > 0) controller.enqueue(piece);
      controller.close();
    },
  });
  const events: string[] = [];
  try {
    const batches = watchLines(body, new AbortController().signal, { action: "watch Foo", maxLineLength: 4096 });
    for await (const batch of batches) events.push(...batch.map(shown));
  } catch (error) {
    if (!(error instanceof UnreachableError || error instanceof InvalidResponseError)) throw error;
    events.push(error.name);
  }
  return events;
}

function shown(event: WatchEvent<unknown>): string {
  return event.type === "MALFORMED" ? `MALFORMED ${event.line}` : printExactJson(event);
}

/** What the line means to a reader that parses first. @returns undefined for malformed JSON */
function plainEvent(line: string): string | undefined {
  try {
    const event = parseExactJson(line);
    if (!isObject(event) || !isObject(event.object)) return undefined;
    // The object of an error becomes a Status.
    if (event.type === "ERROR") return undefined;
    // Drops fields of the metadata that are null.
    if (checkObject(event.object) !== undefined) return undefined;
    dropManagedFields(event.object);
    return printExactJson(event);
  } catch {
    return undefined;
  }
}

/** The target. */
export const target: FuzzTarget = {
  seeds: [event("ADDED", map) + event("BOOKMARK", { metadata: {} }), `${event("ERROR", { code: 410 })}\r\n\n{`],
  arbitrary: fc.array(fc.tuple(fc.constantFrom("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "X"), fc.json()))
    .map((events) =>
      events.map(([type, object]) => `{"type":"${type}","object":${object}}\n`).join("") + event("ADDED", map)
    ),
  words: [
    '"managedFields":[',
    '"metadata":{',
    '"object":',
    '"type":"ADDED"',
    "\n",
    "\r\n",
    "]",
    "},",
    '\\"',
    "\\u0022",
    "\\ud800",
  ],
  async check(input) {
    const whole = await eventsIn([input.slice()]);
    const bytes = await eventsIn(Array.from(input, (byte) => Uint8Array.of(byte)));
    promise(bytes.join("\n") === whole.join("\n"), "The chunks of the bytes change the events");
    const lines = textOf(input).split("\n").filter((line) => line !== "" && line !== "\r");
    for (const [index, found] of whole.entries()) {
      if (!found.startsWith("{")) continue;
      const plain = plainEvent(lines[index] ?? "");
      promise(plain === undefined || plain === found, "The early removal of managed fields changes an event");
    }
  },
};
