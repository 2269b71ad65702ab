/**
 * The field numbers of messages, by the names of wire types such as `core/v1.PodSpec`. The numbers are generated from the
 * published definitions; a message is parsed when it is first needed.
 */
import { protoFields } from "./generated/proto_fields.ts";

/** The message of a kind, such as `apps/v1.Deployment`. The options of all groups are in one package. */
export function messageOf(apiVersion: string, kind: string): string {
  if (/^(Create|Update|Patch|Delete|Get|List)Options$/.test(kind)) return `meta/v1.${kind}`;
  const slash = apiVersion.indexOf("/");
  if (slash < 0) return `core/${apiVersion}.${kind}`;
  const [group = ""] = apiVersion.slice(0, slash).split(".");
  return `${group}/${apiVersion.slice(slash + 1)}.${kind}`;
}

/** The meaning of a field number. */
export type ProtoField =
  | { readonly kind: "field"; readonly name: string }
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
    : { kind: "field", name: rest };
  return [Number(word.slice(0, colon)), field];
}
