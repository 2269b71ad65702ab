/**
 * The field numbers of messages, by the names of wire types such as `core/v1.PodSpec`. The numbers are generated from the
 * published definitions; a message is parsed when it is first needed.
 */
import { hasWireStruct, readWireStruct, type WireStruct, wireStruct } from "../kinds/mod.ts";
import { protoFields, protoTypes } from "./generated/proto_fields.ts";

/** The message of a kind, such as `apps/v1.Deployment`. The options of all groups are in one package. */
export function messageOf(apiVersion: string, kind: string): string {
  if (/^(Create|Update|Patch|Delete|Get|List)Options$/.test(kind)) return `meta/v1.${kind}`;
  const slash = apiVersion.indexOf("/");
  if (slash < 0) return `core/${apiVersion}.${kind}`;
  const [group = ""] = apiVersion.slice(0, slash).split(".");
  return `${group}/${apiVersion.slice(slash + 1)}.${kind}`;
}

/**
 * The message of an object that a server writes: also a Status, a document of discovery, and partial metadata, whose types are
 * in meta/v1; undefined for a kind without one.
 */
export function writtenMessageOf(apiVersion: string, kind: string): string | undefined {
  const own = messageOf(apiVersion, kind);
  if (isWritten(own)) return own;
  const shared = `meta/v1.${kind}`;
  const isShared = apiVersion === "" || apiVersion === "v1" || apiVersion.startsWith("meta.k8s.io/");
  return isShared && isWritten(shared) ? shared : undefined;
}

function isWritten(name: string): boolean {
  return protoMessage(name) !== undefined && findStruct(name) !== undefined;
}

/** The meaning of a field number. */
export type ProtoField =
  | {
    readonly kind: "field";
    readonly name: string;
    /** A list that is a message of its own, with its items in field 1. */
    readonly isOwnMessage: boolean;
  }
  /** A message whose fields JSON has in the outer object. */
  | { readonly kind: "nested"; readonly message: string };

let lines: ReadonlyMap<string, string> | undefined;
const messages = new Map<string, ReadonlyMap<number, ProtoField>>();

/** The fields of a message such as `core/v1.PodSpec`, parsed on first use; undefined for an unknown message. */
export function protoMessage(name: string): ReadonlyMap<number, ProtoField> | undefined {
  const known = messages.get(name);
  if (known !== undefined) return known;
  lines ??= new Map(protoFields.trim().split("\n").map((line) => [line.split(" ", 1)[0] ?? "", line] as const));
  const line = lines.get(name);
  if (line === undefined) return undefined;
  const fields = new Map(line.split(" ").slice(1).map(readWord));
  messages.set(name, fields);
  return fields;
}

function readWord(word: string): readonly [number, ProtoField] {
  const colon = word.indexOf(":");
  const rest = word.slice(colon + 1);
  const field: ProtoField = rest.startsWith("=")
    ? { kind: "nested", message: rest.slice(1) }
    : { kind: "field", name: rest.replace("~", ""), isOwnMessage: rest.endsWith("~") };
  return [Number(word.slice(0, colon)), field];
}

/** The type of a message, also of one that OpenAPI does not publish. @throws RangeError for an unknown one */
export function protoStruct(name: string): WireStruct {
  const struct = findStruct(name);
  if (struct === undefined) throw new RangeError(`Cannot find the type ${name}: no such message`);
  return struct;
}

let unpublished: ReadonlyMap<string, WireStruct> | undefined;

function findStruct(name: string): WireStruct | undefined {
  if (hasWireStruct(name)) return wireStruct(name);
  unpublished ??= new Map(
    protoTypes.trim().split("\n").map((line) => {
      const dot = line.indexOf(".");
      const struct = readWireStruct(line.slice(0, dot), "", line.slice(dot + 1));
      return [struct.name, struct] as const;
    }),
  );
  // The list of v1beta1 has other numbers, and the same fields.
  return unpublished.get(name.replace("meta/v1beta1.", "meta/v1."));
}
