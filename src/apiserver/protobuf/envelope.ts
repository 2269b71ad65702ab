/**
 * What surrounds a message in the protobuf encoding of Kubernetes: the envelope (the bytes `k8s\0` and a runtime.Unknown with
 * apiVersion, kind and the message), the message of a list from those of its items, and the frame of a watch event.
 *
 * Guarantees: the result is written once, into memory of its exact size, so a list costs one copy of its items.
 */
import type { JsonObject } from "../model/mod.ts";
import { encodeMessage } from "./encode_protobuf.ts";
import { protoMessage, writtenMessageOf } from "./messages.ts";
import { varintSize } from "./proto_writer.ts";

/** The first bytes of each object: `k8s\0`. */
export const magic: readonly number[] = [0x6b, 0x38, 0x73, 0x00];

const encoder = new TextEncoder();
/** Empty contentEncoding and contentType, which Go writes also when they are empty. */
const unknownEnd = [0x1a, 0x00, 0x22, 0x00];
const heads = new Map<string, Uint8Array>();

/** Encodes a whole object, whose kind it states. @throws StatusError 406 for a kind without a message */
export function encodeProtobuf(object: JsonObject): Uint8Array<ArrayBuffer> {
  const apiVersion = String(object["apiVersion"] ?? "");
  const kind = String(object["kind"] ?? "");
  return envelope(apiVersion, kind, encodeMessage(apiVersion, kind, object));
}

/** The envelope with a message. */
export function envelope(apiVersion: string, kind: string, message: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = headOf(apiVersion, kind);
  const target = new Target(head.length + sizeOfField(message.length) + unknownEnd.length);
  target.put(head);
  target.field(2, message);
  target.put(unknownEnd);
  return target.bytes;
}

/** A list from the messages of its items. @throws StatusError 406 for a kind without a message */
export function encodeList(
  apiVersion: string,
  kind: string,
  metadata: JsonObject,
  items: readonly Uint8Array[],
): Uint8Array<ArrayBuffer> {
  const name = writtenMessageOf(apiVersion, kind) ?? "";
  const rest = encodeMessage(apiVersion, kind, { metadata });
  const number = [...protoMessage(name) ?? []].find(([, field]) => field.kind === "field" && field.name === "items")
    ?.[0];
  const isBefore = number === 1;
  const size = rest.length + items.reduce((sum, item) => sum + sizeOfField(item.length), 0);
  const head = headOf(apiVersion, kind);
  const target = new Target(head.length + sizeOfField(size) + unknownEnd.length);
  target.put(head);
  target.tag(2, size);
  if (!isBefore) target.put(rest);
  for (const item of items) target.field(number ?? 2, item);
  if (isBefore) target.put(rest);
  target.put(unknownEnd);
  return target.bytes;
}

/** The frame of a watch event: its length in four bytes, and a WatchEvent with the whole object. */
export function watchFrame(type: string, object: Uint8Array): Uint8Array<ArrayBuffer> {
  const name = encoder.encode(type);
  const raw = sizeOfField(object.length);
  const size = sizeOfField(name.length) + sizeOfField(raw);
  const target = new Target(4 + size);
  target.put([size >>> 24, (size >>> 16) & 0xff, (size >>> 8) & 0xff, size & 0xff]);
  target.field(1, name);
  target.tag(2, raw);
  target.field(1, object);
  return target.bytes;
}

/** The start of the envelope of a kind, up to the message. Kinds of custom resources are not in here, so it is small. */
function headOf(apiVersion: string, kind: string): Uint8Array {
  const key = `${apiVersion} ${kind}`;
  const known = heads.get(key);
  if (known !== undefined) return known;
  const [version, name] = [encoder.encode(apiVersion), encoder.encode(kind)];
  const size = sizeOfField(version.length) + sizeOfField(name.length);
  const target = new Target(magic.length + sizeOfField(size));
  target.put(magic);
  target.tag(1, size);
  target.field(1, version);
  target.field(2, name);
  heads.set(key, target.bytes);
  return target.bytes;
}

/** The bytes of a field with a length: its tag, its length and its value. */
function sizeOfField(length: number): number {
  return 1 + varintSize(length) + length;
}

/** Memory that is filled from its start. */
class Target {
  readonly bytes: Uint8Array<ArrayBuffer>;
  #at = 0;

  constructor(size: number) {
    this.bytes = new Uint8Array(size);
  }

  put(bytes: ArrayLike<number>): void {
    this.bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  tag(number: number, length: number): void {
    this.bytes[this.#at++] = number * 8 + 2;
    let rest = length;
    for (; rest > 0x7f; rest >>>= 7) this.bytes[this.#at++] = (rest & 0x7f) | 0x80;
    this.bytes[this.#at++] = rest;
  }

  field(number: number, bytes: Uint8Array): void {
    this.tag(number, bytes.length);
    this.put(bytes);
  }
}
