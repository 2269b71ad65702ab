/**
 * Writers of watch events: JSON, one event per line, or protobuf, one event per frame; of objects as they are, or as tables and
 * partial metadata.
 *
 * Guarantees: an event that many watches send is written once in each format.
 */
import { printExactJson } from "../../api/mod.ts";
import type { JsonObject, Kind } from "../model/mod.ts";
import { encodeProtobuf, watchFrame } from "../protobuf/mod.ts";
import { isShownAsStored, type ObjectEvent, represent, representAll, type Representation } from "../registry/mod.ts";
import type { StoredObject } from "../storage/mod.ts";
import { encodedObject } from "./encoded_messages.ts";
import type { Transform } from "./media_types.ts";
import { type TableOptions, transformObject } from "./table.ts";

/** Writes the events of one watch. */
export interface EventWriter {
  /** The bytes of some events; a promise when a conversion webhook must be called. */
  write(events: readonly ObjectEvent[]): Uint8Array | Promise<Uint8Array>;
  writeBookmark(object: JsonObject): Uint8Array;
  writeError(status: object): Uint8Array;
}

/** How the events of a watch are encoded. */
export type EventFormat = "json" | "protobuf";

const encoder = new TextEncoder();

/** The bytes of the newest event. All watches share them, because a change wakes them one directly after the other. */
export class SharedEvents {
  readonly #newest: Record<EventFormat, { stored?: StoredObject; type: string; bytes: Uint8Array }> = {
    json: { type: "", bytes: new Uint8Array() },
    protobuf: { type: "", bytes: new Uint8Array() },
  };

  /** An event in the stored version. */
  of({ stored, type }: ObjectEvent, format: EventFormat): Uint8Array {
    const known = this.#newest[format];
    if (known.stored === stored && known.type === type) return known.bytes;
    const bytes = format === "json"
      ? encoder.encode(lineOf(type, stored.json))
      : watchFrame(type, encodedObject(stored));
    this.#newest[format] = { stored, type, bytes };
    return bytes;
  }
}

/** Writes objects in the version of a kind. */
export function objectEventWriter(kind: Kind, format: EventFormat, shared: SharedEvents): EventWriter {
  const join = (events: readonly ObjectEvent[], shown: readonly Representation[]): Uint8Array => {
    const typeAt = (index: number) => events[index]?.type ?? "";
    if (format === "protobuf") return joined(shown.map((one, index) => watchFrame(typeAt(index), encodedObject(one))));
    return encoder.encode(shown.map(({ json }, index) => lineOf(typeAt(index), json)).join(""));
  };
  return {
    write: (events) => {
      const [event] = events;
      if (event !== undefined && events.length === 1 && isShownAsStored(event.stored, kind)) {
        return shared.of(event, format);
      }
      const shown = representAll(events.map(({ stored }) => stored), kind);
      return shown instanceof Promise ? shown.then((all) => join(events, all)) : join(events, shown);
    },
    writeBookmark: (object) => eventBytes(format, "BOOKMARK", object),
    writeError: (status) => errorBytes(format, status),
  };
}

/** The form of the objects in a watch. */
export interface TransformTarget {
  readonly transform: Transform;
  readonly options: TableOptions;
  readonly now: () => number;
}

/** Writes tables or partial metadata. */
export function transformedEventWriter(kind: Kind, format: EventFormat, target: TransformTarget): EventWriter {
  let table = target.options;
  const bytesOf = (type: string, object: JsonObject): Uint8Array => {
    const bytes = eventBytes(format, type, transformObject(kind, object, target.transform, table, target.now()));
    // Only the first table of a watch has the column definitions.
    table = { ...table, isHeadless: true };
    return bytes;
  };
  return {
    write: async (events) => {
      const parts: Uint8Array[] = [];
      for (const { stored, type } of events) parts.push(bytesOf(type, (await represent(stored, kind)).object));
      return joined(parts);
    },
    writeBookmark: (object) => bytesOf("BOOKMARK", object),
    writeError: (status) => errorBytes(format, status),
  };
}

function eventBytes(format: EventFormat, type: string, object: JsonObject): Uint8Array {
  if (format === "protobuf") return watchFrame(type, encodeProtobuf(object));
  return encoder.encode(lineOf(type, printExactJson(object)));
}

function errorBytes(format: EventFormat, status: object): Uint8Array {
  const object: JsonObject = JSON.parse(JSON.stringify(status));
  return eventBytes(format, "ERROR", object);
}

function lineOf(type: string, json: string): string {
  return `{"type":"${type}","object":${json}}\n`;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.byteLength;
  }
  return bytes;
}
