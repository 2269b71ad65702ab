/**
 * GraphKinds: the kinds that the templates of graphs can have, with their schemas: those of Kubernetes, and those of the graphs
 * themselves, which are compiled when another graph first names them.
 */
import { apiVersionOf, builtin, type Resource, type UntypedObject, untypedResource } from "../api/mod.ts";
import { KindTypes } from "../apiserver/mod.ts";
import { isJsonObject, type JsonObject, objectAt } from "../cel/mod.ts";
import { GraphError, type Place } from "./graph_error.ts";
import { type ObjectSchema, objectSchema } from "./types.ts";

/** A kind of a template. */
export interface GraphKind {
  readonly resource: Resource<UntypedObject>;
  readonly schema: ObjectSchema;
}

const kindTypes = new KindTypes([]);

/** Finds a kind of Kubernetes. */
export function builtinKind(apiVersion: string, kind: string): GraphKind | undefined {
  const found = Object.values(builtin).find((one): one is typeof one & Resource =>
    typeof one === "object" && "plural" in one && apiVersionOf(one) === apiVersion && one.kind === kind
  );
  if (found === undefined) return undefined;
  const json = kindTypes.find(found.group, found.version, found.kind)?.schema();
  return json && { resource: untypedResource(found), schema: objectSchema(json, kind) };
}

/** The schema of `metadata` of all objects. */
export function metadataSchema(): JsonObject {
  const json = kindTypes.find("", "v1", "ConfigMap")?.schema() ?? {};
  return objectAt(objectAt(json, "properties"), "metadata");
}

/** The schema of the objects of a kind with a definition: its own schema, and the whole metadata. */
export function customKindSchema(json: unknown, kind: string, fields?: readonly string[]): ObjectSchema {
  const own = isJsonObject(json) ? objectAt(json, "properties") : {};
  const text = { type: "string" };
  const selected = Object.fromEntries(Object.entries(own).filter(([name]) => fields?.includes(name) ?? true));
  const properties = { ...selected, apiVersion: text, kind: text, metadata: metadataSchema() };
  return objectSchema({ type: "object", properties }, kind);
}

/** @throws GraphError when nothing defines the kind */
export function unknownKind(apiVersion: string, kind: string, place: Place): GraphError {
  return new GraphError(
    place,
    `the kind ${kind} of ${apiVersion} is unknown. Use a kind of Kubernetes, or of a graph in the same files`,
  );
}
