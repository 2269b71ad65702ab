/**
 * The controller of a compiled graph: dependent() and dependents() with functions that evaluate its expressions.
 *
 * Guarantees: a value that a resource does not have yet is no error: the dependent waits, and the change that brings the value
 * brings the key back. An expression that fails on the owner alone is tried again when the owner changes.
 */
import { type Resource, resourceId, type UntypedObject, withCondition } from "../api/mod.ts";
import { CelList, celValueOf, isJsonObject, itemsOf, type Json, type JsonObject, type Value } from "../cel/mod.ts";
import {
  controller,
  type ControllerDefinition,
  type Dependent,
  dependent,
  type DependentContext,
  dependentList,
  dependents,
  type DependentsState,
  type Desired,
} from "../controller/mod.ts";
import { MissingValueError, ownerName, type Values } from "./expression.ts";
import { type CompiledResource, liveValue, type Loop } from "./resources.ts";
import { conditionFields, type StatusTemplate } from "./status.ts";
import type { ObjectSchema } from "./types.ts";

/** An object of a kind that a graph defines. */
export type GraphObject = UntypedObject & { readonly status?: JsonObject };

/** The parts of the controller of a graph. */
export interface GraphParts {
  /** The kind that the graph defines. */
  readonly primary: Resource<GraphObject>;
  /** What expressions see of its objects. */
  readonly owner: ObjectSchema;
  /** From the first to the last. */
  readonly resources: readonly CompiledResource[];
  readonly status: StatusTemplate;
}

/** Creates the controller. Its name is the kind in lower case. */
export function definitionOf(parts: GraphParts): ControllerDefinition {
  const { primary, resources, status } = parts;
  const steps = new Map<string, Dependent>();
  for (const compiled of resources) steps.set(compiled.id, dependentOf(compiled, parts, steps));
  const [first, ...others] = steps.values();
  if (first === undefined) throw new TypeError(`Cannot compile the graph of ${primary.kind}: it has no resources`);
  return controller(primary.kind.toLowerCase()).for(primary).dependents(dependents([first, ...others])).reconcile(
    async (ctx) => {
      const state = await ctx.applyDependents();
      const values = new Map(ownerValues(ctx, parts));
      for (const compiled of resources) {
        const dependent = steps.get(compiled.id);
        const shown = dependent && state.find(dependent);
        if (shown !== undefined) values.set(compiled.id, shownValue(compiled, shown));
      }
      await ctx.patchStatus(statusPatch(ctx.object, state, { fields: status.render(values), now: ctx.clock.now() }));
      return state.result();
    },
  );
}

type GraphContext = DependentContext<Resource<GraphObject>>;

function dependentOf(
  compiled: CompiledResource,
  parts: GraphParts,
  steps: ReadonlyMap<string, Dependent>,
): Dependent {
  const { id, kind: { resource }, loops, includeWhen } = compiled;
  const options = {
    of: parts.primary,
    after: compiled.after.flatMap((name) => steps.get(name) ?? []),
    when: (ctx: GraphContext) => includeWhen.every((one) => one.evaluate(ownerValues(ctx, parts)) === true),
    readyWhen: (live: UntypedObject, ctx: GraphContext) =>
      unmetCondition(compiled, live, ownerValues(ctx, parts)) ?? true,
    ...(isTracked(resource, parts) ? { track: "labels" } as const : {}),
  };
  const desired = (ctx: GraphContext, earlier: Readonly<Record<string, unknown>>) =>
    orWaiting(() => {
      const values = new Map(ownerValues(ctx, parts));
      for (const other of parts.resources) {
        if (Object.hasOwn(earlier, other.id)) values.set(other.id, shownValue(other, earlier[other.id]));
      }
      return combinations(loops, values).map((known) => desiredObject(compiled, known, ctx.object));
    });
  if (loops.length > 0) return dependentList(id, resource, { ...options, desired });
  return dependent(id, resource, {
    ...options,
    desired(ctx, earlier) {
      const objects = desired(ctx, earlier);
      return typeof objects === "string" ? objects : objects[0] ?? "it has no object";
    },
  });
}

/**
 * An owner reference cannot cover a kind of which an object may be in another namespace than its owner. All resources of one
 * kind are tracked the same way.
 */
function isTracked(resource: Resource, { primary, resources }: GraphParts): boolean {
  return primary.scope !== "Cluster" &&
    resources.some(({ kind, namesNamespace }) =>
      resourceId(kind.resource) === resourceId(resource) && (resource.scope === "Cluster" || namesNamespace)
    );
}

function ownerValues({ object }: Pick<GraphContext, "object">, { owner }: GraphParts): Values {
  return new Map([[ownerName, isJsonObject(object) ? celValueOf(object, owner.props) : null]]);
}

/** The value of what later functions see of a resource: an object, or a list of objects. */
function shownValue(compiled: CompiledResource, shown: unknown): Value {
  return liveValue(compiled, (Array.isArray(shown) ? shown : [shown]).filter(isJsonObject));
}

/** The objects, or the text that says which value is missing. */
function orWaiting<T>(render: () => T): T | string {
  try {
    return render();
  } catch (error) {
    if (error instanceof MissingValueError) return error.message;
    throw error;
  }
}

/** Why an object is not ready; undefined when it is. */
function unmetCondition(compiled: CompiledResource, live: UntypedObject, owner: Values): string | undefined {
  const { readyWhen, selfName, kind } = compiled;
  if (readyWhen.length === 0 || !isJsonObject(live)) return undefined;
  const values = new Map([...owner, [selfName, celValueOf(live, kind.schema.props)]]);
  for (const condition of readyWhen) {
    const result = orWaiting(() => condition.evaluate(values));
    if (typeof result === "string") return `waits: ${result}`;
    if (result !== true) return `does not meet \${${condition.source}}`;
  }
  return undefined;
}

/** The values of each round of the loops: one for each combination of their items. */
function combinations(loops: readonly Loop[], values: Values): readonly Values[] {
  return loops.reduce<readonly Values[]>((rounds, { name, items }) => {
    const list = items.evaluate(values);
    if (!(list instanceof CelList)) throw new Error(`Cannot loop over \${${items.source}}: it is no list`);
    return rounds.flatMap((round) => [...itemsOf(list)].map((item) => new Map([...round, [name, item]])));
  }, [values]);
}

/** The object of a template. In the namespace of the owner, unless the template names one. */
function desiredObject(
  { template, kind: { resource }, id }: CompiledResource,
  values: Values,
  owner: UntypedObject,
): Desired<Resource<UntypedObject>> {
  const rendered = template.render(values);
  const { apiVersion, kind, metadata, ...rest } = isJsonObject(rendered) ? rendered : {};
  const { name, namespace = owner.metadata.namespace, ...others } = isJsonObject(metadata) ? metadata : {};
  if (typeof apiVersion !== "string" || typeof kind !== "string" || typeof name !== "string" || name === "") {
    throw new Error(`Cannot create the object of "${id}": metadata.name is empty`);
  }
  const inside = resource.scope === "Cluster" ? {} : { namespace: String(namespace) };
  return { ...rest, apiVersion, kind, metadata: { ...others, name, ...inside } };
}

/** The merge patch of the status: a field that no longer has a value is removed. */
function statusPatch(
  owner: UntypedObject,
  state: DependentsState,
  { fields, now }: { readonly fields: JsonObject; readonly now: number },
): JsonObject {
  const status = isJsonObject(owner.status) ? owner.status : {};
  const { conditions: before, observedGeneration: _, ...old } = status;
  const known = conditionFields.safeParse(before);
  const ready = { ...state.condition, type: "Ready" };
  const conditions = withCondition(known.success ? known.data : undefined, ready, now);
  const { generation: observedGeneration = 0 } = owner.metadata;
  return { ...mergePatch(old, fields), conditions: conditions.map((one) => ({ ...one })), observedGeneration };
}

/** The merge patch from one object to another. */
function mergePatch(from: JsonObject, to: JsonObject): JsonObject {
  const removed = Object.keys(from).filter((key) => !Object.hasOwn(to, key)).map((key): [string, Json] => [key, null]);
  const set = Object.entries(to).map(([key, value]): [string, Json] => {
    const before = from[key];
    return [key, isJsonObject(before) && isJsonObject(value) ? mergePatch(before, value) : value];
  });
  return Object.fromEntries([...removed, ...set]);
}
