/** Leaves of Kubernetes' protobuf encoding: numbers, texts, and the types that have a message of their own. */
import { badRequest, type DraftValue } from "../model/mod.ts";
import type { WireScalarName } from "../kinds/mod.ts";
import { ProtoReader } from "./_proto_reader.ts";

/** Reads one leaf. */
export function readLeaf(scalar: WireScalarName, reader: ProtoReader): DraftValue {
  switch (scalar) {
    case "string":
      return reader.text();
    case "int32":
    case "int64":
      return reader.integer();
    case "float64":
      return reader.double();
    case "boolean":
      return reader.integer() !== 0;
    case "bytes":
      return reader.bytes().toBase64();
    case "time":
      return timeOf(reader.bytes(), "seconds");
    case "microTime":
      return timeOf(reader.bytes(), "microseconds");
    case "quantity":
      return partsOf(reader.bytes()).texts.get(1) ?? "0";
    case "intOrString":
      return intOrString(reader.bytes());
    case "raw":
    case "fields":
    case "json":
      return embedded(reader.bytes());
    default:
      return scalar satisfies never;
  }
}

interface Parts {
  readonly numbers: ReadonlyMap<number, number>;
  readonly texts: ReadonlyMap<number, string>;
}

function partsOf(bytes: Uint8Array): Parts {
  const reader = new ProtoReader(bytes);
  const numbers = new Map<number, number>();
  const texts = new Map<number, string>();
  for (let tag = reader.tag(); tag !== undefined; tag = reader.tag()) {
    if (tag.wire === 0) numbers.set(tag.field, reader.integer());
    else if (tag.wire === 2) texts.set(tag.field, reader.text());
    else reader.skip(tag);
  }
  return { numbers, texts };
}

/** An empty message is no time. */
function timeOf(bytes: Uint8Array, precision: "seconds" | "microseconds"): DraftValue {
  const { numbers } = partsOf(bytes);
  const seconds = numbers.get(1);
  if (seconds === undefined) return null;
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) throw badRequest(`the body of the request is no protobuf: ${seconds} s is no time`);
  const text = date.toISOString().replace(/\.\d+Z$/, "");
  if (precision === "seconds") return `${text}Z`;
  const micros = Math.floor((numbers.get(2) ?? 0) / 1000);
  return `${text}.${`${micros}`.padStart(6, "0")}Z`;
}

function intOrString(bytes: Uint8Array): DraftValue {
  const { numbers, texts } = partsOf(bytes);
  return numbers.get(1) === 1 ? texts.get(3) ?? "" : numbers.get(2) ?? 0;
}

/** JSON inside of protobuf. */
function embedded(bytes: Uint8Array): DraftValue {
  const text = partsOf(bytes).texts.get(1) ?? "";
  if (text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest("the body of the request is no protobuf: JSON inside of it cannot be parsed");
  }
}
