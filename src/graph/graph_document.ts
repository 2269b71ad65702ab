/**
 * The document of a graph: a ResourceGraphDefinition of kro (`kro.run/v1alpha1`), so that one file runs with both. Here its
 * parts are checked, and not what they mean.
 */
import { isJsonArray, isJsonObject, type JsonObject } from "../cel/mod.ts";
import { boundedParse, z } from "../schema/mod.ts";
import { GraphError, partOf, type Place } from "./graph_error.ts";

/** A document of a file, as the reader of files gives it. */
export interface GraphFileDocument {
  /** The value in JSON. */
  readonly value: unknown;
  /** The file. */
  readonly name: string;
  /** Returns the line of a path in the file, from 1. */
  readonly lineOf: (path: readonly (string | number)[]) => number;
}

const jsonObject = z.custom<JsonObject>(isJsonObject, { error: "it is no object" });
const id = z.string().regex(/^[a-z][a-zA-Z0-9]{0,62}$/, {
  error: "an id begins with a small letter and has only letters and digits",
});

const resourceSchema = z.strictObject({
  id,
  template: jsonObject,
  readyWhen: z.array(z.string()).default([]),
  includeWhen: z.array(z.string()).default([]),
  forEach: z.array(z.record(z.string(), z.string())).default([]),
});

const graphSchema = z.strictObject({
  apiVersion: z.literal("kro.run/v1alpha1"),
  kind: z.literal("ResourceGraphDefinition"),
  metadata: z.looseObject({ name: z.string() }),
  spec: z.strictObject({
    schema: z.strictObject({
      apiVersion: z.string(),
      kind: z.string(),
      group: z.string().default("kro.run"),
      plural: z.string().optional(),
      scope: z.enum(["Namespaced", "Cluster"]).default("Namespaced"),
      shortNames: z.array(z.string()).default([]),
      categories: z.array(z.string()).default([]),
      types: jsonObject.prefault({}),
      spec: jsonObject.prefault({}),
      status: jsonObject.prefault({}),
      additionalPrinterColumns: z.array(z.strictObject({
        name: z.string(),
        jsonPath: z.string(),
        type: z.enum(["string", "integer", "number", "boolean", "date"]),
        description: z.string().optional(),
        format: z.string().optional(),
        priority: z.int().optional(),
      })).default([]),
      metadata: z.strictObject({
        labels: z.record(z.string(), z.string()).optional(),
        annotations: z.record(z.string(), z.string()).optional(),
      }).prefault({}),
    }),
    resources: z.array(resourceSchema).min(1, { error: "a graph needs at least one resource" }),
  }),
});

/** The parts of a graph. */
export type GraphSpec = z.output<typeof graphSchema>["spec"];

/** A resource of a graph. */
export type GraphResource = GraphSpec["resources"][number];

/** A graph with its place. */
export interface GraphDocument extends GraphSpec {
  readonly place: Place;
}

/** The place of a document. */
export function placeOf({ name, lineOf }: GraphFileDocument): Place {
  return { file: name, path: [], lineOf };
}

/** True for the document of a graph. */
export function isGraph({ value }: GraphFileDocument): boolean {
  return isJsonObject(value) && value.kind === "ResourceGraphDefinition";
}

/** Reads a graph. @throws GraphError with the line of the first part that is wrong */
export function readGraphDocument(document: GraphFileDocument): GraphDocument {
  const place = placeOf(document);
  refuseUnsupported(document.value, place);
  const result = boundedParse(graphSchema, document.value);
  if (result.kind === "valid") return { ...result.value.spec, place };
  const [issue] = result.issues;
  const path = (issue?.path ?? []).flatMap((step) => typeof step === "symbol" ? [] : [step]);
  throw new GraphError(partOf(place, ...path), `${issue?.message ?? "it is invalid"}. Correct it`);
}

/** Parts that kro has and this program does not. */
const unsupported = ["externalRef", "finalizers", "omitWhen"];

function refuseUnsupported(value: unknown, place: Place): void {
  const spec = isJsonObject(value) ? value.spec : undefined;
  const resources = isJsonObject(spec) && isJsonArray(spec.resources) ? spec.resources : [];
  for (const [at, resource] of resources.entries()) {
    const found = unsupported.find((key) => isJsonObject(resource) && Object.hasOwn(resource, key));
    if (found === undefined) continue;
    throw new GraphError(partOf(place, "spec", "resources", at, found), `${found} is not supported. Leave it out`);
  }
}
