/**
 * The text of src/schema/generated/embedded_types.ts, which tasks/types.ts writes: the types that a CRD can embed, as
 * structural schemas that refer to each other by name. They come from the same stored facts as src/api/generated.
 */
import { wireStruct } from "../src/apiserver/kinds/mod.ts";
import type { WireField, WireType } from "../src/apiserver/kinds/types/wire_type.ts";
import type { TypeFile } from "./_type_files.ts";

/** Where the file is, relative to the repository. */
export const embeddedTypesFile = "src/schema/generated/embedded_types.ts";

/** The types that `schemas` offers; all that they refer to is written too. */
const roots = [
  "batch/v1.JobTemplateSpec",
  "core/v1.EphemeralVolumeSource",
  "core/v1.ObjectReference",
  "core/v1.PersistentVolumeClaimSpec",
  "core/v1.PodTemplateSpec",
  "core/v1.SecretReference",
  "core/v1.ServiceSpec",
  "networking/v1.IngressSpec",
  "networking/v1.NetworkPolicySpec",
  "policy/v1.PodDisruptionBudgetSpec",
  "rbac/v1.PolicyRule",
  "meta/v1.Condition",
];

/** Fields of metadata that an embedded object can have: the rest belongs to stored objects. */
const templateMetadata: ReadonlySet<string> = new Set([
  "name",
  "generateName",
  "namespace",
  "labels",
  "annotations",
  "finalizers",
]);

/** A node of a schema; a reference is the name of a type. */
type Node = { readonly [key: string]: unknown };

/** The file. */
export function embeddedTypes(): TypeFile {
  const lines = new Map<string, string>();
  const open = [...roots];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (lines.has(name)) continue;
    lines.set(name, JSON.stringify(structSchema(name, open)));
  }
  const sorted = [...lines].sort(([left], [right]) => left < right ? -1 : 1).map(([name, json]) => `${name}\t${json}`);
  const text =
    `/** The types that a CRD can embed, one a line. Written by tasks/types.ts from the schemas that kube-apiserver 1.36 publishes. Do not edit. */
// deno-fmt-ignore-file
export const text: string = String.raw\`
${sorted.join("\n")}
\`;
`;
  return { path: embeddedTypesFile, text };
}

/** @param found Receives the names of the types that it refers to */
function structSchema(name: string, found: string[]): Node {
  const struct = wireStruct(name);
  const isMetadata = name === "meta/v1.ObjectMeta";
  const fields = [...struct.fields.values()].filter((field) => !isMetadata || templateMetadata.has(field.name));
  const required = fields.filter((field) => field.isRequired).map((field) => field.name);
  return {
    type: "object",
    properties: Object.fromEntries(fields.map((field) => [field.name, fieldSchema(field, found)])),
    ...(required.length === 0 ? {} : { required }),
    ...kept(struct.extra),
  };
}

function fieldSchema(field: WireField, found: string[]): Node {
  const schema = typeSchema(field.type, found, field.allowedElements);
  return {
    ...schema,
    ...(field.allowed.length === 0 ? {} : { enum: field.allowed }),
    ...(isOwnDefault(field) ? { default: field.default } : {}),
    ...kept(field.extensions),
  };
}

/** A default that the server sets, and not the zero value of a field that Go always writes. */
function isOwnDefault({ type, default: value, isAlwaysWritten }: WireField): boolean {
  if (value === undefined || type.kind !== "scalar") return false;
  return !isAlwaysWritten || (value !== "" && value !== 0 && value !== false);
}

/** The extensions that a CRD knows. */
function kept(extensions: Node): Node {
  const known = ["x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"];
  return Object.fromEntries(
    Object.entries(extensions).filter(([key, value]) => known.includes(key) && value !== "granular"),
  );
}

function typeSchema(type: WireType, found: string[], allowed: readonly string[] = []): Node {
  const element = (inner: WireType) => ({
    ...typeSchema(inner, found),
    ...(allowed.length === 0 ? {} : { enum: allowed }),
  });
  switch (type.kind) {
    case "struct":
      found.push(type.name);
      return { $ref: type.name };
    case "list":
      return { type: "array", items: element(type.items) };
    case "map":
      return { type: "object", additionalProperties: element(type.values) };
    case "scalar":
      return scalarSchema(type.scalar);
    default:
      return type satisfies never;
  }
}

function scalarSchema(scalar: Extract<WireType, { kind: "scalar" }>["scalar"]): Node {
  switch (scalar) {
    case "string":
    case "boolean":
      return { type: scalar };
    case "int32":
    case "int64":
      return { type: "integer", format: scalar };
    case "float64":
      return { type: "number" };
    case "bytes":
      return { type: "string", format: "byte" };
    case "time":
    case "microTime":
      return { type: "string", format: "date-time" };
    case "quantity":
    case "intOrString":
      return { format: scalar };
    case "raw":
    case "fields":
    case "json":
      return { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    default:
      return scalar satisfies never;
  }
}
