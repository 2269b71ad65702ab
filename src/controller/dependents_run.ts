/**
 * applyDependents() and deleteDependents(): the work on the dependents of one owner in one attempt.
 *
 * Guarantees: nothing of a dependent is written while one that it comes after is not ready. A status of an older generation
 * opens no gate. An error closes the gates after it and no others. Deletions go in reverse: an object is deleted only when
 * no object of a later dependent exists; which those are is read from the objects (`afterAnnotation`), so the deletion does
 * not depend on the functions, and dependents that are no longer in the list have their place too. Each deletion follows a
 * live look at the owner and at the object (`prune.ts`).
 */
import { keyOf, type KubeObject, type Resource, resourceId, resourceName } from "../api/mod.ts";
import { errorText } from "../observe/mod.ts";
import { type Dependent, type Dependents, DependentsState, type DependentStatus } from "./dependents_state.ts";
import { findOwnerChange } from "./owner_errors.ts";
import type { Owner } from "./ownership.ts";
import type { OwnedObject, Pruner } from "./prune.ts";

/** The name of the dependent that an object belongs to. */
const nameAnnotation = "pintle.dev/dependent";
/** The names of all dependents that come before it, also indirectly, separated by spaces. */
const afterAnnotation = "pintle.dev/after";

/** What the work on dependents needs from a Toolbox. */
export interface DependentsTools {
  readonly owner: Owner;
  readonly pruner: Pruner;
  readonly signal: AbortSignal;
  /** Why a kind is not active, as the end of a sentence; undefined when it is. */
  whyInactive(resource: Resource): string | undefined;
  apply(resource: Resource, desired: object): Promise<KubeObject>;
  /** The error that ends an attempt whose owner is not the one on the server. */
  onOwnerChanged(live: KubeObject): Error;
}

/** An object of a dependent, with its place in the order. */
interface HeldObject extends OwnedObject {
  readonly name: string;
  readonly after: readonly string[];
}

/**
 * Applies the dependents whose gates are open, from the first to the last, and deletes what should no longer exist.
 *
 * @param ctx What the functions of the dependents get.
 * @throws OwnerChangedError when the owner on the server is not the one that is reconciled; the key comes back.
 */
export async function applyDependents(
  graph: Dependents,
  ctx: unknown,
  tools: DependentsTools,
): Promise<DependentsState> {
  const attempt = new DependentsAttempt(graph, ctx, tools);
  for (const step of graph.steps) await attempt.apply(step);
  await attempt.deleteExcluded();
  await attempt.deleteStale();
  return attempt.state();
}

/**
 * Deletes the dependents of an owner that is being deleted, the last ones first.
 *
 * @returns True when none exists any more.
 */
export async function deleteDependents(graph: Dependents, tools: DependentsTools): Promise<boolean> {
  return await deleteInReverse(
    () => heldObjects(graph, tools),
    (objects) => tools.pruner.removeOwned(objects, tools.owner),
  );
}

/**
 * Deletes objects in waves, each when the one before is gone from the cache, which has the controller's own deletions.
 *
 * @returns True when none exists any more; false when the rest must wait for a deletion that takes longer.
 */
async function deleteInReverse(
  find: () => readonly HeldObject[],
  remove: (objects: readonly OwnedObject[]) => Promise<unknown>,
): Promise<boolean> {
  const removed = new Set<string | undefined>();
  while (true) {
    const held = find();
    if (held.length === 0) return true;
    const due = deletable(held).filter(({ object: { metadata } }) =>
      metadata.deletionTimestamp === undefined && !removed.has(metadata.uid)
    );
    if (due.length === 0) return false;
    await remove(due);
    for (const { object } of due) removed.add(object.metadata.uid);
  }
}

class DependentsAttempt {
  readonly #graph: Dependents;
  readonly #ctx: unknown;
  readonly #tools: DependentsTools;
  /** The cached objects at the start. */
  readonly #held: readonly HeldObject[];
  readonly #statuses = new Map<string, DependentStatus>();
  readonly #shown = new Map<string, unknown>();
  /** The objects that a dependent names in this attempt, and that dependent. */
  readonly #named = new Map<string, string>();

  constructor(graph: Dependents, ctx: unknown, tools: DependentsTools) {
    this.#graph = graph;
    this.#ctx = ctx;
    this.#tools = tools;
    this.#held = heldObjects(graph, tools);
    // What is deleted, and in which order, is decided here and not by ctx.prune().
    for (const { resource, object } of this.#held) tools.pruner.keep(resource, object);
  }

  state(): DependentsState {
    const statuses = this.#graph.steps.flatMap(({ name }) => this.#statuses.get(name) ?? []);
    return new DependentsState(this.#tools.owner.object, statuses, this.#shown);
  }

  /** Applies one dependent if its gates are open. */
  async apply(step: Dependent): Promise<void> {
    const { name, run } = step;
    const cached = this.#objectsOf(name).map(({ object }) => object);
    try {
      const gate = this.#inactiveGate(step) ?? this.#closedGate(step) ??
        (run.when(this.#ctx) ? this.#awaitedGate(step) : excludedHere);
      const desired = gate ?? this.#desiredBy(step);
      if ("kind" in desired) {
        if (cached.length > 0) this.#shown.set(name, run.show(cached));
        this.#statuses.set(name, { name, objects: cached, ...desired });
        return;
      }
      const objects = await this.#applyAll(step, desired);
      this.#shown.set(name, run.show(objects));
      const reason = this.#missing(step, objects);
      this.#statuses.set(
        name,
        reason === undefined ? { name, kind: "ready", objects } : { name, kind: "notReady", reason, objects },
      );
    } catch (error) {
      if (this.#tools.signal.aborted || findOwnerChange(error) !== undefined) throw error;
      this.#statuses.set(name, { name, kind: "failed", reason: `failed: ${errorText(error)}`, error, objects: cached });
    }
  }

  /** Deletes the objects of excluded dependents, the last ones first. */
  async deleteExcluded(): Promise<void> {
    const isExcluded = ({ name }: HeldObject) => this.#statuses.get(name)?.kind === "excluded";
    if (!this.#held.some(isExcluded)) return;
    const find = () => heldObjects(this.#graph, this.#tools).filter(isExcluded);
    await this.#delete(find);
    const rest = new Set(find().map(({ name }) => name));
    for (const [name, status] of this.#statuses) {
      if (status.kind !== "excluded" || !rest.has(name)) continue;
      this.#statuses.set(name, { ...status, kind: "deleting", reason: `is being deleted: it ${status.reason}` });
    }
  }

  /** Deletes the objects that no dependent names any more, once everything is ready. */
  async deleteStale(): Promise<void> {
    if (!this.state().isReady) return;
    const isStale = ({ resource, object, name }: HeldObject) =>
      !this.#named.has(idOf(resource, object)) && this.#statuses.get(name)?.kind !== "inactive";
    if (this.#held.some(isStale)) await this.#delete(() => heldObjects(this.#graph, this.#tools).filter(isStale));
  }

  async #delete(find: () => readonly HeldObject[]): Promise<void> {
    const { pruner, owner, onOwnerChanged } = this.#tools;
    await deleteInReverse(find, (objects) => pruner.removeUnlessOwnerChanged(objects, owner, onOwnerChanged));
  }

  /** Why the kind of the dependent, or of an earlier one, is not active. */
  #inactiveGate({ resource, after }: Dependent): Gate | undefined {
    const why = this.#tools.whyInactive(resource);
    if (why !== undefined) return { kind: "inactive", reason: `is not active: ${why}` };
    const before = after.find(({ name }) => this.#statuses.get(name)?.kind === "inactive");
    return before && { kind: "inactive", reason: `comes after ${before.name}, which is not active` };
  }

  /** The exclusion of an earlier dependent, which excludes this one. */
  #closedGate({ after }: Dependent): Gate | undefined {
    const excluded = after.find(({ name }) => this.#statuses.get(name)?.kind === "excluded");
    return excluded && { kind: "excluded", reason: `comes after ${excluded.name}, which is excluded` };
  }

  /** The earlier dependent that is not ready. */
  #awaitedGate({ after }: Dependent): Gate | undefined {
    for (const { name } of after) {
      const status = this.#statuses.get(name);
      if (status?.kind === "ready") continue;
      const why = status === undefined || !("reason" in status) ? "" : `, which ${status.reason}`;
      return { kind: "waiting", reason: `waits for ${name}${status?.kind === "waiting" ? "" : why}` };
    }
    return undefined;
  }

  /** The desired objects, or what the dependent waits for. */
  #desiredBy({ after, run }: Dependent): readonly object[] | Gate {
    const earlier = Object.fromEntries(after.map(({ name }) => [name, this.#shown.get(name)]));
    const desired = run.desired(this.#ctx, earlier);
    return typeof desired === "string" ? { kind: "waiting", reason: `waits: ${desired}` } : desired;
  }

  async #applyAll(step: Dependent, desired: readonly object[]): Promise<readonly KubeObject[]> {
    const live: KubeObject[] = [];
    for (const one of desired) {
      const object = one as KubeObject;
      const id = idOf(step.resource, object);
      const other = this.#named.get(id);
      if (other !== undefined) throw new TypeError(`Cannot apply ${id}: ${other} and ${step.name} both name it`);
      this.#named.set(id, step.name);
      live.push(await this.#tools.apply(step.resource, withPlace(object, step)));
    }
    return live;
  }

  /** Why the dependent is not ready; undefined when it is. */
  #missing({ resource, run }: Dependent, objects: readonly KubeObject[]): string | undefined {
    for (const object of objects) {
      const text = `${resource.kind} "${keyOf(object)}"`;
      if (object.metadata.deletionTimestamp !== undefined) return `is not ready: ${text} is being deleted`;
      if (run.readyWhen === undefined) continue;
      const { generation = 0 } = object.metadata;
      const { observedGeneration = generation } = (object as StatusHolder).status ?? {};
      if (observedGeneration < generation) return `is not ready: the status of ${text} is of an older generation`;
      const ready = run.readyWhen(object, this.#ctx);
      if (ready !== true) return `is not ready: ${text}${ready === false ? "" : ` ${ready}`}`;
    }
    return undefined;
  }

  #objectsOf(name: string): readonly HeldObject[] {
    return this.#held.filter((held) => held.name === name);
  }
}

type Gate = { readonly kind: "inactive" | "excluded" | "waiting"; readonly reason: string };

const excludedHere: Gate = { kind: "excluded", reason: "is excluded by its when" };

interface StatusHolder {
  readonly status?: { readonly observedGeneration?: number };
}

/** The cached objects of all dependents of the owner, also of those that are no longer in the list; the last ones first. */
function heldObjects(graph: Dependents, { pruner, owner }: DependentsTools): readonly HeldObject[] {
  const known = new Map(graph.steps.map((step) => [step.name, ancestorsOf(step)]));
  const resources = [...graph.steps.map(({ resource }) => resource), ...pruner.prunedKinds];
  const kinds = new Map(resources.map((resource) => [resourceId(resource), resource]));
  const held = [...kinds.values()].flatMap((resource) =>
    pruner.ownedBy(resource, owner).flatMap((object) => {
      const name = object.metadata.annotations?.[nameAnnotation];
      if (name === undefined) return [];
      const after = known.get(name) ?? object.metadata.annotations?.[afterAnnotation]?.split(" ") ?? [];
      const { propagationPolicy = "Foreground" } = graph.steps.find((step) => step.name === name) ?? {};
      return [{ resource, object, name, after, propagationPolicy }];
    })
  );
  // Unknown names come first: whatever knew their place is gone.
  const rank = new Map(graph.steps.map(({ name }, at) => [name, at]));
  return held.sort((left, right) => (rank.get(right.name) ?? Infinity) - (rank.get(left.name) ?? Infinity) || 0);
}

/** The objects after which no other one comes. */
function deletable(held: readonly HeldObject[]): readonly HeldObject[] {
  return held.filter(({ name }) => !held.some(({ after }) => after.includes(name)));
}

/** The names of all dependents that come before `step`, also indirectly. */
function ancestorsOf(step: Dependent): readonly string[] {
  return [...new Set(step.after.flatMap((one) => [one.name, ...ancestorsOf(one)]))].sort();
}

/** The object with the annotations that say where it stands. */
function withPlace(object: KubeObject, step: Dependent): KubeObject {
  const after = ancestorsOf(step).join(" ");
  const place = { [nameAnnotation]: step.name, ...(after === "" ? {} : { [afterAnnotation]: after }) };
  return {
    ...object,
    metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...place } },
  };
}

function idOf(resource: Resource, object: KubeObject): string {
  return `${resourceName(resource)} ${keyOf(object)}`;
}
