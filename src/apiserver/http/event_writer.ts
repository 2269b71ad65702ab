/**
 * EventWriter: watch events as lines of bytes. Watchers that take objects as they are stored share the bytes of an event:
 * the one who is told of a change first makes them, and the others are told right after.
 */
import type { JsonObject, Kind } from "../model/mod.ts";
import { isShownAsStored, type ObjectEvent, represent, representAll } from "../registry/mod.ts";
import type { StoredObject } from "../storage/mod.ts";
import type { Transform } from "./media_types.ts";
import { type TableOptions, transformObject } from "./table.ts";

/** Writes the events of one watch. */
export interface EventWriter {
  /** The lines of some events; later where a conversion webhook has to be asked. */
  write(events: readonly ObjectEvent[]): Uint8Array | Promise<Uint8Array>;
  writeBookmark(object: JsonObject): Uint8Array;
  writeError(status: object): Uint8Array;
}

const encoder = new TextEncoder();

/** The bytes of the newest event, for all watchers of a server. */
export class SharedLine {
  #stored: StoredObject | undefined;
  #type = "";
  #bytes: Uint8Array = new Uint8Array();

  /** The line of an event as it is stored. */
  of(event: ObjectEvent): Uint8Array {
    const { stored, type } = event;
    if (stored !== this.#stored || type !== this.#type) {
      this.#bytes = encoder.encode(lineOf(type, stored.json));
      this.#stored = stored;
      this.#type = type;
    }
    return this.#bytes;
  }
}

/** Writes objects as the kind shows them. */
export function objectEventWriter(kind: Kind, shared: SharedLine): EventWriter {
  return {
    write: (events) => {
      const [event] = events;
      if (event !== undefined && events.length === 1 && isShownAsStored(event.stored, kind)) return shared.of(event);
      const shown = representAll(events.map(({ stored }) => stored), kind);
      const lines = (texts: readonly { readonly json: string }[]) =>
        encoder.encode(texts.map(({ json }, index) => lineOf(events[index]?.type ?? "", json)).join(""));
      return shown instanceof Promise ? shown.then(lines) : lines(shown);
    },
    writeBookmark: (object) => encoder.encode(lineOf("BOOKMARK", JSON.stringify(object))),
    writeError: errorLine,
  };
}

/** Writes tables or partial metadata. */
export function transformedEventWriter(
  kind: Kind,
  transform: Transform,
  options: TableOptions,
  now: () => number,
): EventWriter {
  let table = options;
  const textOf = (object: JsonObject): string => {
    const text = JSON.stringify(transformObject(kind, object, transform, table, now()));
    // Only the first table of a watch says what its columns are.
    table = { ...table, isHeadless: true };
    return text;
  };
  return {
    write: async (events) => {
      let lines = "";
      for (const { stored, type } of events) lines += lineOf(type, textOf((await represent(stored, kind)).object));
      return encoder.encode(lines);
    },
    writeBookmark: (object) => encoder.encode(lineOf("BOOKMARK", textOf(object))),
    writeError: errorLine,
  };
}

function lineOf(type: string, json: string): string {
  return `{"type":"${type}","object":${json}}\n`;
}

function errorLine(status: object): Uint8Array {
  return encoder.encode(lineOf("ERROR", JSON.stringify(status)));
}
