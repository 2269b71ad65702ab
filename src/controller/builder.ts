/**
 * The builder: `controller("foo").for(Foo).owns(Deployment).reconcile(fn)` creates a ControllerDefinition. It collects what
 * a controller watches, with the types of the objects, and checks it. Nothing runs here.
 */
import { type Resource, resourceId, resourceName } from "../api/mod.ts";
import type { CustomResource } from "../schema/mod.ts";
import { withExternalIndex } from "./_external_index.ts";
import { createObjectReconciler } from "./_object_reconciler.ts";
import type { Watchable } from "./caches.ts";
import { isInHub } from "./clusters.ts";
import type { ReconcileContext } from "./context.ts";
import {
  type ControllerDefinition,
  type ControllerOptions,
  keyOfObject,
  type Permission,
  type Reconciler,
  type Verb,
  verbs as allVerbs,
  type WatchDefinition,
} from "./controller_definition.ts";
import { type DaemonContext, daemonDefinition, type DaemonOptions } from "./daemon.ts";
import { type DeletedContext, deletedReconciler } from "./deleted_objects.ts";
import type { Dependents } from "./dependents_state.ts";
import type { EventSource } from "./event_source.ts";
import type { AnyExternalSource, ExternalSource } from "./external.ts";
import { checkedImpersonation, type ImpersonationRules } from "./impersonation.ts";
import type { Result } from "./request.ts";
import {
  checkedKeys,
  checkedWatch,
  indexedByOwner,
  type MappedWatchOptions,
  ownedWatch,
  type OwnOptionsOf,
  type PrimaryOptionsOf,
  untyped,
} from "./watch_options.ts";

/**
 * The function of an object reconciler, which resolves with a {@link Result}; for a function that does not, the sentence
 * that the compiler prints.
 */
export type ReconcileFunction<Primary extends Resource, Declared extends Resource, Returned> = [Returned] extends [
  Result,
] ? (ctx: ReconcileContext<Primary, Declared>) => Promise<Returned>
  : "a reconciler returns `done` or requeueAfter(ms), from every path";

/**
 * Builds a controller for a primary kind. The controller may do only what is declared here: its RBAC rules are derived
 * from the declarations, and in tests a strict Manager rejects every other request. {@link controller} creates a Builder.
 */
export interface Builder<Primary extends Resource, Declared extends Resource> {
  /**
   * Watches a kind of dependents. After a change of one, the primary object that controls it is reconciled.
   *
   * @throws TypeError when the kind is already watched.
   */
  owns<R extends Watchable>(resource: R, options?: OwnOptionsOf<R>): Builder<Primary, Declared | R>;
  /**
   * Watches a kind that the reconciler reads. After a change, the keys that `to` returns are reconciled.
   *
   * @throws TypeError when the kind is already watched.
   */
  watches<R extends Watchable>(resource: R, options: MappedWatchOptions<R>): Builder<Primary, Declared | R>;
  /**
   * Declares dependents with an order and gates, see {@link dependents}: watches their kinds, and adds a finalizer, so that
   * they are deleted in reverse before the object goes. A kind for which changes are to be filtered, or that the reconciler
   * also uses otherwise, is declared with `owns` before.
   *
   * @throws TypeError when dependents are already declared, or they belong to another kind.
   */
  dependents<R extends Resource>(graph: Dependents<Resource, R>): Builder<Primary, Declared | R>;
  /**
   * Declares what the reconciler does besides the other declarations: requests through `ctx.client`, `ctx.patch` on a
   * kind that it does not own, and reads of a kind that is `notCached`.
   *
   * @param subresource The part of the objects that the verbs are about, such as "status". @default the whole objects
   */
  uses<R extends Resource>(
    resource: R,
    verbs: readonly Verb[],
    subresource?: string,
  ): Builder<Primary, Declared | Extract<R, { readonly isCached: false }>>;
  /**
   * Declares the users that the reconciler acts as with `ctx.as`. Several declarations replace each other.
   *
   * @throws TypeError when a ServiceAccount is not `namespace/name`, or groups are not named.
   */
  impersonates(rules: ImpersonationRules): Builder<Primary, Declared>;
  /** Adds a reason to reconcile that does not come from a watched kind, such as a {@link ticker}. */
  source(source: EventSource): Builder<Primary, Declared>;
  /**
   * Adds external resources of the objects, see {@link external}: they are polled, and an object is reconciled when its
   * resource differs. With `destroy`, a finalizer keeps each object until its resource is destroyed.
   */
  external<Item>(source: ExternalSource<Primary, Item>): Builder<Primary, Declared>;
  /**
   * Runs a function beside the reconciler for each object, for as long as the object exists: a connection, a subscription.
   * It is restarted with backoff when it throws. A finalizer keeps the object until its daemon has ended. A daemon sees the
   * kinds that were declared before it.
   *
   * @throws TypeError when the controller has a daemon already, RangeError when a time is out of range.
   */
  daemon(
    fn: (ctx: DaemonContext<Primary, Declared>) => Promise<void>,
    options?: DaemonOptions,
  ): Builder<Primary, Declared>;
  /**
   * Cleans up before an object is deleted, for what the garbage collector does not delete. A finalizer is added to each
   * object before it is first reconciled, and removed when `fn` has returned done; until then `fn` is called again.
   *
   * @param name The finalizer. @default `<group>/<controller>`, or `pintle.dev/<controller>` for the core group
   */
  finalize<const Returned = Result>(
    fn: ReconcileFunction<Primary, Declared, Returned>,
    name?: string,
  ): Builder<Primary, Declared>;
  /**
   * Sees the last state of each object that was deleted, for what needs no finalizer: metrics, caches of your own, a message.
   * It is best effort: `fn` is called again while it throws, but an object that is deleted while no process runs is never
   * reported. For cleaning up, use `finalize`.
   */
  deleted(fn: (ctx: DeletedContext<Primary, Declared>) => Promise<Result>): Builder<Primary, Declared>;
  /** Sets the object reconciler: it is called with an object that exists and is not being deleted. */
  reconcile<const Returned = Result>(fn: ReconcileFunction<Primary, Declared, Returned>): ControllerDefinition;
  /** Sets the raw reconciler: it is called with a key, also if no object has that key. */
  reconcileKey(fn: Reconciler): ControllerDefinition;
}

/**
 * Starts building a controller.
 *
 * @param name Lower case, unique in a Manager; the name of its queue, field manager, logs and metrics.
 * @param options How the controller works: workers, backoff, time limits.
 * @returns The start of a builder: call `for` with the kind to reconcile.
 * @throws TypeError when the name is not a DNS label
 * @example
 * ```ts
 * import { ConfigMap, controller, done, manifest, Namespace } from "@pintle/controller";
 *
 * const greeter = controller("greeter").for(Namespace).owns(ConfigMap).reconcile(async (ctx) => {
 *   const namespace = ctx.object.metadata.name;
 *   await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name: "greeting" }, data: { text: "hello" } }));
 *   return done;
 * });
 * console.assert(greeter.watches.length === 2);
 * ```
 */
export function controller(
  name: string,
  options: ControllerOptions = {},
): { for<R extends Watchable>(resource: R, watch?: PrimaryOptionsOf<R>): Builder<R, R> } {
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) {
    throw new TypeError(`Cannot create controller "${name}": the name is not a DNS label (lower case, digits, "-")`);
  }
  return {
    for(resource, watch = {}) {
      assertInMember(name, resource, "reconcile");
      const primary = { role: "for", resource, keysOf: keyOfObject, writes: false, deletes: false } as const;
      return createBuilder({
        name,
        options,
        primary: resource,
        writesStatus: watch.writesStatus ?? hasStatus(resource),
        watches: [checkedWatch(name, { ...primary, ...untyped(watch) })],
        permissions: [],
        sources: [],
      });
    },
  };
}

type DefinitionDraft<Primary extends Resource> = Omit<ControllerDefinition, "reconciler" | "primary"> & {
  readonly primary: Primary;
};

type FinalizeFunction<Primary extends Resource, Declared extends Resource> = (
  ctx: ReconcileContext<Primary, Declared>,
) => Promise<Result>;

function createBuilder<Primary extends Resource, Declared extends Resource>(
  draft: DefinitionDraft<Primary>,
  finalize?: FinalizeFunction<Primary, Declared>,
): Builder<Primary, Declared> {
  // A finalize function for the kinds declared so far also accepts a context with more kinds.
  const declare = <R extends Resource>(changed: DefinitionDraft<Primary>) =>
    createBuilder<Primary, Declared | R>(changed, finalize as FinalizeFunction<Primary, Declared | R> | undefined);
  const addWatch = <R extends Resource>(watch: WatchDefinition) => {
    assertNotWatched(draft, watch.resource);
    return declare<R>({ ...draft, watches: [...draft.watches, checkedWatch(draft.name, watch)] });
  };
  return {
    owns: (resource, options = {}) => {
      assertInMember(draft.name, resource, "own");
      return addWatch(ownedWatch(draft, resource, options));
    },
    watches: (resource, options) => {
      assertReadInHub(draft.name, resource, options);
      return addWatch({
        role: "watches",
        resource,
        keysOf: checkedKeys(draft.primary, options.to),
        writes: options.writes ?? false,
        deletes: false,
        ...(options.activation === undefined ? {} : { activation: options.activation }),
        ...untyped(options),
      });
    },
    dependents: (graph) => declare(withDependents(draft, graph)),
    uses(resource, verbs, subresource) {
      const permission: Permission = { resource, verbs: verbs.map(checkedVerb), subresource };
      return declare({ ...draft, permissions: [...draft.permissions, permission] });
    },
    impersonates: (rules) =>
      createBuilder({ ...draft, impersonates: checkedImpersonation(draft.name, rules) }, finalize),
    source: (source) => createBuilder({ ...draft, sources: [...draft.sources, source] }, finalize),
    external(declared) {
      const source = declared as AnyExternalSource;
      const watches = withExternalIndex(draft.name, source, draft.watches);
      return createBuilder({ ...draft, watches, externals: [...draft.externals ?? [], source] }, finalize);
    },
    daemon(fn, options = {}) {
      if (draft.daemon !== undefined) {
        throw new TypeError(`Cannot declare a daemon in controller "${draft.name}": it has one already`);
      }
      const declared = draft.watches.map(({ resource }) => resource);
      return createBuilder({ ...draft, daemon: daemonDefinition({ ...draft, declared }, fn, options) }, finalize);
    },
    finalize: (fn, name = defaultFinalizer(draft)) =>
      createBuilder({ ...draft, finalizer: checkedFinalizer(name) }, returning(fn)),
    deleted: (fn) => createBuilder({ ...draft, deleted: deletedReconciler(draft.primary, fn) }, finalize),
    reconcile(fn) {
      const declared = draft.watches.map((watch) => watch.resource).filter((resource) => !isInHub(resource));
      assertReadsDeclared(draft);
      const deletesItself = draft.daemon !== undefined || draft.dependents !== undefined ||
        draft.watches.some(isTracked) ||
        draft.externals?.some(({ options }) => options.destroy !== undefined) === true;
      const finalizer = draft.finalizer ?? (deletesItself ? defaultFinalizer(draft) : undefined);
      const definition = { ...draft, finalizer };
      return {
        ...definition,
        reconciler: createObjectReconciler({ ...definition, declared, reconcile: returning(fn), finalize }),
      };
    },
    reconcileKey(reconciler) {
      if (draft.dependents !== undefined) {
        throw new TypeError(
          `Cannot order dependents in controller "${draft.name}": reconcileKey() does not apply them. Use reconcile()`,
        );
      }
      if (draft.daemon !== undefined) {
        throw new TypeError(
          `Cannot run a daemon in controller "${draft.name}": reconcileKey() has no finalizer. Use reconcile()`,
        );
      }
      const destroying = draft.externals?.find(({ options }) => options.destroy !== undefined);
      if (destroying !== undefined) {
        throw new TypeError(
          `Cannot destroy external resources "${destroying.name}" in controller "${draft.name}": reconcileKey() has no ` +
            "finalizer. Use reconcile()",
        );
      }
      const tracked = draft.watches.find(isTracked);
      if (tracked === undefined) return { ...draft, reconciler };
      throw new TypeError(
        `Cannot track ${
          resourceName(tracked.resource)
        } by labels in controller "${draft.name}": reconcileKey() has no ` +
          "finalizer that deletes them. Use reconcile()",
      );
    },
  };
}

/** The function in an argument. The other case of its type exists only in messages of the compiler. */
function returning<Primary extends Resource, Declared extends Resource, Returned>(
  fn: ReconcileFunction<Primary, Declared, Returned>,
): FinalizeFunction<Primary, Declared> {
  return fn as FinalizeFunction<Primary, Declared>;
}

/** The draft with the watches of the dependents. */
function withDependents<Primary extends Resource>(
  draft: DefinitionDraft<Primary>,
  graph: Dependents,
): DefinitionDraft<Primary> {
  const problem = draft.dependents !== undefined
    ? "it has dependents already"
    : resourceId(graph.primary) !== resourceId(draft.primary)
    ? `they belong to ${resourceName(graph.primary)}`
    : undefined;
  if (problem !== undefined) {
    throw new TypeError(`Cannot declare dependents in controller "${draft.name}": ${problem}`);
  }
  const watches = graph.steps.reduce((watches, { resource, track, activation }) => {
    const existing = watches.find((watch) => resourceId(watch.resource) === resourceId(resource));
    if (existing === undefined) {
      const watch = ownedWatch(draft, resource, { deletes: true, track, activation });
      return [...watches, checkedWatch(draft.name, indexedByOwner(watch))];
    }
    if (existing.role === "owns" && existing.track === track && existing.activation === activation) {
      return watches.map((watch) => watch === existing ? indexedByOwner({ ...watch, deletes: true }) : watch);
    }
    const kind = resourceName(resource);
    throw new TypeError(
      `Cannot declare dependents in controller "${draft.name}": ${kind} is watched in another way. Declare it with owns() ` +
        "and the same `track` and `activation`, or not at all",
    );
  }, draft.watches);
  return { ...draft, watches, dependents: graph };
}

/** The kinds that dependents read must be watched, because a change of such an object must bring the key back. */
function assertReadsDeclared({ name, dependents, watches }: DefinitionDraft<Resource>): void {
  const watched = new Set(watches.map(({ resource }) => resourceId(resource)));
  for (const step of dependents?.steps ?? []) {
    const missing = step.reads.find((resource) => !watched.has(resourceId(resource)));
    if (missing === undefined) continue;
    throw new TypeError(
      `Cannot read ${
        resourceName(missing)
      } in the dependent "${step.name}" of controller "${name}": it is not watched. ` +
        `Declare it with watches(${missing.kind}, { to })`,
    );
  }
}

function isTracked({ track }: WatchDefinition): boolean {
  return track === "labels";
}

function defaultFinalizer(draft: DefinitionDraft<Resource>): string {
  return `${draft.primary.group === "" ? "pintle.dev" : draft.primary.group}/${draft.name}`;
}

/** The server accepts finalizers of custom controllers only with a domain. */
function checkedFinalizer(finalizer: string): string {
  if (/^[a-z0-9.-]+\/[A-Za-z0-9._-]+$/.test(finalizer)) return finalizer;
  throw new TypeError(`Cannot finalize with "${finalizer}": a finalizer has the form domain/name`);
}

function assertInMember(name: string, resource: Resource, what: "reconcile" | "own"): void {
  if (!isInHub(resource)) return;
  throw new TypeError(
    `Cannot ${what} ${resource.kind} of the hub in controller "${name}": a controller of a Fleet reconciles and owns ` +
      "objects of its cluster. Watch it with watches(), or run the controller in the hub",
  );
}

function assertReadInHub(name: string, resource: Resource, { writes = false }: { readonly writes?: boolean }): void {
  if (!isInHub(resource) || !writes) return;
  throw new TypeError(
    `Cannot apply fields of ${resource.kind} of the hub in controller "${name}": all clusters would own the same fields. ` +
      "Use ctx.hub.client, and declare it with uses()",
  );
}

function assertNotWatched({ name, watches }: DefinitionDraft<Resource>, resource: Resource): void {
  const { kind, group } = resource;
  const isWatched = ({ resource: other }: WatchDefinition) =>
    other.kind === kind && other.group === group && isInHub(other) === isInHub(resource);
  if (watches.some(isWatched)) {
    throw new TypeError(`Cannot watch ${kind} in controller "${name}": it is already watched`);
  }
}

/** For callers without type checks: `*` is not a verb. */
function checkedVerb(verb: Verb): Verb {
  if (allVerbs.includes(verb)) return verb;
  throw new TypeError(`Cannot declare verb "${verb}": the verbs are ${allVerbs.join(", ")}`);
}

function hasStatus(resource: Resource): boolean {
  if (!isCustomResource(resource)) return false;
  const version = resource.crd.spec.versions.find(({ name }) => name === resource.version);
  return version?.subresources?.status !== undefined;
}

function isCustomResource(resource: Resource): resource is CustomResource {
  return "crd" in resource;
}
