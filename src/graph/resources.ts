/**
 * The resources of a graph: each template with its conditions, compiled against the schema of its kind, in the order in which
 * they are created. A resource comes after those that its expressions read.
 */
import {
  type CelType,
  celValueOf,
  dynType,
  isJsonObject,
  type JsonObject,
  listOf,
  readSchema,
  type SchemaProps,
} from "../cel/mod.ts";
import {
  compileCondition,
  compileExpression,
  type Expression,
  ownerName,
  partsOf,
  type Variables,
} from "./expression.ts";
import type { GraphDocument, GraphResource } from "./graph_document.ts";
import { GraphError, partOf, type Place } from "./graph_error.ts";
import type { GraphKind } from "./kinds.ts";
import { compileTemplate, type Template } from "./template.ts";
import type { ObjectSchema } from "./types.ts";

/** The variable of one object in the conditions of a resource with `forEach`. */
const eachName = "each";

/** One loop of a resource: it has one object for each item. */
export interface Loop {
  readonly name: string;
  readonly items: Expression;
}

/** A compiled resource. */
export interface CompiledResource {
  readonly id: string;
  readonly kind: GraphKind;
  readonly template: Template;
  /** Empty when the resource is a single object. */
  readonly loops: readonly Loop[];
  readonly includeWhen: readonly Expression[];
  readonly readyWhen: readonly Expression[];
  /** The variable of the live object in `readyWhen`. */
  readonly selfName: string;
  /** The ids of the resources that it reads. */
  readonly after: readonly string[];
  /** The schema of its value in other expressions: of one object, or of a list. */
  readonly valueProps: SchemaProps;
  /** True when its objects may be in another namespace than the owner. */
  readonly namesNamespace: boolean;
  readonly place: Place;
}

/** What the resources of a graph share. */
export interface ResourceContext {
  readonly document: GraphDocument;
  readonly owner: ObjectSchema;
  /** Finds the kind of a template. @throws GraphError when it is unknown */
  readonly kindOf: (apiVersion: string, kind: string, place: Place) => GraphKind;
}

/** The resources, and the variables that the status sees. */
export interface CompiledResources {
  /** From the first to the last. */
  readonly resources: readonly CompiledResource[];
  readonly variables: Variables;
}

/** Compiles the resources. @throws GraphError with the line of the first problem; a cycle is named */
export function compileResources(context: ResourceContext): CompiledResources {
  const { document, owner } = context;
  const named = document.resources.map((resource, at) => {
    const place = partOf(document.place, "spec", "resources", at);
    return { resource, place, kind: kindOfTemplate(resource, place, context) };
  });
  const variables = new Map<string, CelType>([[ownerName, owner.type]]);
  for (const { resource: { id, forEach }, kind, place } of named) {
    if (variables.has(id) || id === eachName) {
      throw new GraphError(partOf(place, "id"), `the id "${id}" is taken. Rename it`);
    }
    variables.set(id, forEach.length === 0 ? kind.schema.type : listOf(kind.schema.type));
  }
  const compiled = named.map(({ resource, kind, place }) => compileResource(resource, { kind, place, variables }));
  return { resources: ordered(compiled), variables };
}

function kindOfTemplate({ template }: GraphResource, place: Place, { kindOf }: ResourceContext): GraphKind {
  const { apiVersion, kind } = template;
  const inside = partOf(place, "template");
  if (typeof apiVersion !== "string" || typeof kind !== "string" || /\$\{/.test(apiVersion + kind)) {
    throw new GraphError(inside, "apiVersion and kind must be there, without expressions");
  }
  return kindOf(apiVersion, kind, partOf(inside, "kind"));
}

interface Compiling {
  readonly kind: GraphKind;
  readonly place: Place;
  readonly variables: Variables;
}

function compileResource(resource: GraphResource, { kind, place, variables }: Compiling): CompiledResource {
  const { id, template, forEach } = resource;
  const others = new Map([...variables].filter(([name]) => name !== id));
  const loops = forEach.map((loop, at) => compileLoop(loop, others, partOf(place, "forEach", at)));
  const local = new Map([...others, ...loops.map(({ name, items }) => [name, itemType(items)] as const)]);
  const at = partOf(place, "template");
  const compiled = compileTemplate(template, { props: kind.schema.props, variables: local, place: at });
  const metadata = metadataOf(template, at);
  const [selfName, selfType] = loops.length === 0 ? [id, kind.schema.type] : [eachName, kind.schema.type];
  const owner = new Map([...variables].filter(([name]) => name === ownerName));
  const conditions = (key: "includeWhen" | "readyWhen", visible: Variables) =>
    resource[key].map((text, index) => compileCondition(text, visible, partOf(place, key, index)));
  const used = new Set([...compiled.used, ...loops.flatMap(({ items }) => [...items.used])]);
  const { json } = kind.schema.props;
  return {
    ...{ id, kind, place, loops, template: compiled, selfName },
    includeWhen: conditions("includeWhen", owner),
    readyWhen: conditions("readyWhen", new Map([...owner, [selfName, selfType]])),
    after: [...used].filter((name) => name !== ownerName && variables.has(name)),
    valueProps: loops.length === 0 ? kind.schema.props : readSchema({ type: "array", items: json }),
    namesNamespace: metadata.namespace !== undefined && metadata.namespace !== "${schema.metadata.namespace}",
  };
}

/** @throws GraphError when the objects have no name */
function metadataOf({ metadata }: JsonObject, place: Place): JsonObject {
  if (isJsonObject(metadata) && typeof metadata.name === "string") return metadata;
  throw new GraphError(place, "metadata.name is missing. Set it, for example to ${schema.metadata.name}");
}

function compileLoop(loop: Readonly<Record<string, string>>, variables: Variables, place: Place): Loop {
  const [[name, text] = ["", ""], another] = Object.entries(loop);
  const [part, more] = partsOf(text, partOf(place, name));
  if (another !== undefined || part?.kind !== "expression" || more !== undefined) {
    throw new GraphError(place, "a loop is one name with an expression: name: ${list}");
  }
  if (variables.has(name)) throw new GraphError(place, `the name "${name}" is taken. Rename it`);
  const items = compileExpression(part.source, variables, partOf(place, name));
  if (["list", "dyn"].includes(items.type.kind)) return { name, items };
  throw new GraphError(partOf(place, name), "a loop goes over a list. Make a list of it");
}

function itemType({ type }: Expression): CelType {
  return type.kind === "list" ? type.item : dynType;
}

/** The resources, each after those that it reads, otherwise as in the file. @throws GraphError that names a cycle */
function ordered(resources: readonly CompiledResource[]): readonly CompiledResource[] {
  const byId = new Map(resources.map((resource) => [resource.id, resource]));
  const done = new Map<string, CompiledResource>();
  const visit = (resource: CompiledResource, open: readonly string[]) => {
    if (done.has(resource.id)) return;
    const path = [...open, resource.id];
    const start = open.indexOf(resource.id);
    if (start >= 0) {
      throw new GraphError(
        partOf(resource.place, "id"),
        `the resources read each other in a circle: ${path.slice(start).join(" -> ")}. Remove one of these expressions`,
      );
    }
    for (const id of resource.after) visit(byId.get(id) ?? resource, path);
    done.set(resource.id, resource);
  };
  for (const resource of resources) visit(resource, []);
  return [...done.values()];
}

/** The value of live objects in expressions. */
export function liveValue({ valueProps, loops }: CompiledResource, live: readonly JsonObject[]) {
  return celValueOf(loops.length === 0 ? live[0] ?? null : live, valueProps);
}
