/** The messages of Kubernetes' protobuf encoding: which number is which field. Lines are read when they are first needed. */
import { protoFields } from "./_proto_fields_data.ts";

/** What stands behind a number. */
export type ProtoField =
  | { readonly kind: "field"; readonly name: string }
  /** A message whose fields JSON has in the outer object. */
  | { readonly kind: "nested"; readonly message: string };

let lines: ReadonlyMap<string, string> | undefined;
const messages = new Map<string, ReadonlyMap<number, ProtoField>>();

/** The fields of a message such as `core/v1.PodSpec`; undefined where there is none of that name. */
export function protoMessage(name: string): ReadonlyMap<number, ProtoField> | undefined {
  const known = messages.get(name);
  if (known !== undefined) return known;
  lines ??= new Map(protoFields.trim().split("\n").map((line) => [line.slice(0, line.indexOf(" ")), line] as const));
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
    : { kind: "field", name: rest };
  return [Number(word.slice(0, colon)), field];
}
