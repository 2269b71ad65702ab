/**
 * graphControllers(): turns the graphs of files into controllers. A graph defines a kind and the resources of each of its
 * objects as templates; the controller is the one that somebody would write with dependent() and dependents(), so gates,
 * deletion in reverse, permissions and simulation are the same.
 *
 * Guarantees: everything is checked before a controller exists: schemas, expressions and their types, and the order of the
 * resources. An error has the file and the line.
 */
import type { KubeObject, Resource } from "../api/mod.ts";
import { isJsonObject } from "../cel/mod.ts";
import { type OperatorController, withSamples } from "../manager/mod.ts";
import { type CustomResource, defineResource, structuralSchema, z } from "../schema/mod.ts";
import { definitionOf, type GraphObject } from "./graph_definition.ts";
import { type GraphDocument, type GraphFileDocument, isGraph, placeOf, readGraphDocument } from "./graph_document.ts";
import { GraphError, partOf, type Place } from "./graph_error.ts";
import { builtinKind, customKindSchema, type GraphKind, unknownKind } from "./kinds.ts";
import { compileResources } from "./resources.ts";
import { simpleSchema } from "./simple_schema.ts";
import { commonFields, compileStatus, type StatusTemplate } from "./status.ts";
import type { ObjectSchema } from "./types.ts";

/**
 * Makes one controller for each graph of the documents. Objects of the kinds of the graphs are the samples of the controllers,
 * which `simulate` and `dev --samples` create.
 *
 * @param documents The documents of the files; each one is a ResourceGraphDefinition or an object of one.
 * @throws GraphError with the file and the line of the first problem
 */
export function graphControllers(documents: readonly GraphFileDocument[]): readonly OperatorController[] {
  const graphs = new GraphCompiler(documents.filter(isGraph).map(readGraphDocument));
  const samples = documents.filter((document) => !isGraph(document)).map((document) => ({
    object: sampleOf(document, graphs),
  }));
  return graphs.compileAll().map((definition) => {
    const own = samples.filter(({ object }) =>
      object.kind === definition.primary.kind && object.apiVersion.startsWith(`${definition.primary.group}/`)
    );
    return own.length === 0 ? definition : withSamples(definition, own.map(({ object }) => object));
  });
}

function sampleOf(document: GraphFileDocument, graphs: GraphCompiler): KubeObject {
  const { value } = document;
  const place = placeOf(document);
  const { apiVersion, kind, metadata } = isJsonObject(value) ? value : {};
  if (
    typeof apiVersion === "string" && typeof kind === "string" && graphs.find(apiVersion, kind) &&
    isJsonObject(metadata)
  ) {
    return { ...(isJsonObject(value) ? value : {}), apiVersion, kind, metadata };
  }
  throw new GraphError(place, "it is neither a ResourceGraphDefinition nor an object of one. Leave it out");
}

/** A compiled graph. */
interface CompiledGraph {
  readonly kind: GraphKind;
  readonly definition: OperatorController;
}

/** Compiles graphs, each before those whose templates have its kind. */
class GraphCompiler {
  readonly #documents: ReadonlyMap<string, GraphDocument>;
  readonly #compiled = new Map<string, CompiledGraph>();
  /** The kinds that are being compiled. */
  readonly #open: string[] = [];

  constructor(documents: readonly GraphDocument[]) {
    const byKind = new Map<string, GraphDocument>();
    for (const document of documents) {
      const id = kindId(document);
      const { place } = document;
      if (byKind.has(id)) {
        throw new GraphError(partOf(place, "spec", "schema"), `another graph defines ${id}. Remove one`);
      }
      byKind.set(id, document);
    }
    this.#documents = byKind;
  }

  compileAll(): readonly OperatorController[] {
    return [...this.#documents].map(([id, document]) => this.#compile(id, document).definition);
  }

  /** The graph that defines a kind. */
  find(apiVersion: string, kind: string): GraphDocument | undefined {
    return this.#documents.get(`${apiVersion} ${kind}`);
  }

  #kindOf(apiVersion: string, kind: string, place: Place): GraphKind {
    const document = this.find(apiVersion, kind);
    if (document === undefined) return builtinKind(apiVersion, kind) ?? throwing(unknownKind(apiVersion, kind, place));
    const id = kindId(document);
    if (!this.#open.includes(id)) return this.#compile(id, document).kind;
    const circle = [...this.#open.slice(this.#open.indexOf(id)), id].map((one) => one.split(" ")[1]).join(" -> ");
    throw new GraphError(place, `the graphs contain each other in a circle: ${circle}. Remove one of these resources`);
  }

  #compile(id: string, document: GraphDocument): CompiledGraph {
    const known = this.#compiled.get(id);
    if (known !== undefined) return known;
    this.#open.push(id);
    const compiled = compileGraph(document, (...kind) => this.#kindOf(...kind));
    this.#open.pop();
    this.#compiled.set(id, compiled);
    return compiled;
  }
}

function throwing(error: Error): never {
  throw error;
}

/** `example.dev/v1 Site`. */
function kindId({ schema: { group, apiVersion, kind } }: GraphDocument): string {
  return `${group}/${apiVersion} ${kind}`;
}

function compileGraph(
  document: GraphDocument,
  kindOf: (apiVersion: string, kind: string, place: Place) => GraphKind,
): CompiledGraph {
  const { schema, place } = document;
  const at = partOf(place, "spec", "schema");
  const spec = simpleSchema(schema.spec, partOf(at, "spec"), {
    declared: schema.types,
    place: partOf(at, "types"),
  });
  const owner = ownerSchema(spec, document);
  const { resources, variables } = compileResources({ document, owner, kindOf });
  const status = compileStatus(schema.status, variables, partOf(at, "status"));
  const primary = defined(document, spec, status);
  const json = primary.crd.spec.versions[0]?.schema.openAPIV3Schema;
  const resource: Resource<GraphObject> = { ...primary };
  return {
    kind: { resource, schema: customKindSchema(json, schema.kind) },
    definition: definitionOf({ primary: resource, owner, resources, status }),
  };
}

/** What expressions see of the owner: everything but its status. */
function ownerSchema(spec: z.ZodType, { schema, place }: GraphDocument): ObjectSchema {
  const at = partOf(place, "spec", "schema", "spec");
  const json = orGraphError(at, () => structuralSchema(z.object({ spec }), schema.kind));
  return customKindSchema(json, schema.kind);
}

function defined(document: GraphDocument, spec: z.ZodType, status: StatusTemplate): CustomResource {
  const { schema, place } = document;
  const { group, apiVersion: version, kind, plural, scope, shortNames, categories } = schema;
  return orGraphError(partOf(place, "spec", "schema"), () =>
    defineResource({
      ...{ group, version, kind, scope, shortNames, categories, spec },
      ...(plural === undefined ? {} : { plural }),
      ...schema.metadata,
      status: z.object({ ...status.fields, ...commonFields }),
      printerColumns: [
        ...schema.additionalPrinterColumns,
        { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
        { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
      ],
    }));
}

/** Gives an error of a definition the line of the graph. */
function orGraphError<T>(place: Place, define: () => T): T {
  try {
    return define();
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new GraphError(place, cause.message, { cause });
  }
}
