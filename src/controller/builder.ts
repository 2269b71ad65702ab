/**
 * The builder: `controller("foo").for(Foo).owns(Deployment).reconcile(fn)`. Collects what a controller watches, typed
 * end to end, and gives a ControllerDefinition. Nothing runs.
 */
import { type Infer, type KubeObject, type ObjectKey, type Resource, resourceName } from "../api/mod.ts";
import type { CustomResource } from "../schema/mod.ts";
import { comfortable } from "./_comfortable.ts";
import type { CacheReader } from "./cache_reader.ts";
import type { ReconcileContext } from "./context.ts";
import type { ControllerDefinition, ControllerOptions, Permission } from "./controller_definition.ts";
import type { EventSource } from "./event_source.ts";
import type { Predicate } from "./predicate.ts";
import { isNotCached, type Watchable } from "./reading.ts";
import type { Reconciler } from "./reconciler.ts";
import type { Result } from "./result.ts";
import { type Verb, verbs as knownVerbs } from "./verb.ts";
import { checkedKey, itsController, itself, type WatchDefinition } from "./watch_definition.ts";

/** Which changes of a kind count. */
export interface WatchOptionsOf<R extends Resource> {
  /** @default every change */
  readonly when?: Predicate<Infer<R>>;
  /**
   * Finds objects by what a function says about them: `ctx.list(Pod, { index: { name: "node", value: "n1" } })`. Controllers
   * of one Manager share a kind's indices, so a name stands for one function. @default none
   */
  readonly indices?: Readonly<Record<string, (object: Infer<R>) => readonly string[]>>;
}

/** What is done with the primary kind, besides reconciling it. */
export interface PrimaryOptionsOf<R extends Resource> extends WatchOptionsOf<R> {
  /** The reconciler uses `ctx.patchStatus`. @default whether the kind is a custom one with a status */
  readonly writesStatus?: boolean;
}

/** What is done with a kind of children, besides applying them. */
export interface OwnOptionsOf<R extends Resource> extends WatchOptionsOf<R> {
  /** The reconciler uses `ctx.delete` on these objects. @default false */
  readonly deletes?: boolean;
  /**
   * Whom else a change concerns, besides the object that controls the child: one that waits until a name is free, for
   * instance. @default nobody
   */
  readonly to?: (object: Infer<R>, caches: CacheReader) => readonly string[];
}

/** Which changes of a kind count, and for whom. */
export interface MappedWatchOptions<R extends Resource> extends WatchOptionsOf<R> {
  /**
   * The keys of the primary objects that a change of this object concerns.
   *
   * @param caches What the controller watches, for asking who refers to the object. Not all of it may be there yet.
   */
  readonly to: (object: Infer<R>, caches: CacheReader) => readonly string[];
  /** The reconciler uses `ctx.applyFields` on these objects. @default false */
  readonly writes?: boolean;
}

/**
 * A controller in the making, once its primary kind is known. What is declared is what it may do: its RBAC rules are
 * derived from it, and in tests a Manager refuses everything else.
 */
export interface Builder<Primary extends Resource, Declared extends Resource> {
  /** Watches a kind whose objects the reconciler creates: a change concerns the object that controls it. */
  owns<R extends Watchable>(resource: R, options?: OwnOptionsOf<R>): Builder<Primary, Declared | R>;
  /** Watches a kind that the reconciler reads: `to` says whom a change concerns. */
  watches<R extends Watchable>(resource: R, options: MappedWatchOptions<R>): Builder<Primary, Declared | R>;
  /**
   * Declares what the reconciler does beyond what the other declarations say: requests of its own through `ctx.client`,
   * `ctx.patch` on a kind that it does not own, and reads of a kind that is `notCached`.
   */
  uses<R extends Resource>(
    resource: R,
    verbs: readonly Verb[],
    subresource?: string,
  ): Builder<Primary, Declared | Extract<R, { readonly isCached: false }>>;
  /** Adds a reason to reconcile that is no watched kind. */
  source(source: EventSource): Builder<Primary, Declared>;
  /**
   * Cleans up what the garbage collector does not know, before an object goes. A finalizer is put on each object
   * before it is first reconciled, and taken off when `fn` has returned done; until then `fn` is called again.
   *
   * @param name The finalizer. @default `<group>/<controller>`, or `pintle.dev/<controller>` for the core group
   */
  finalize(
    fn: (ctx: ReconcileContext<Primary, Declared>) => Promise<Result>,
    name?: string,
  ): Builder<Primary, Declared>;
  /** The comfortable form: called with an object that exists and is not being deleted. */
  reconcile(fn: (ctx: ReconcileContext<Primary, Declared>) => Promise<Result>): ControllerDefinition;
  /** The raw, level-based form: called with a key, whether or not there is an object. */
  reconcileKey(fn: Reconciler): ControllerDefinition;
}

/**
 * Begins a controller.
 *
 * @param name Lower case, unique in a Manager; names its queue, its field manager, its logs and metrics.
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
      const primary = { role: "for", resource, keysOf: itself, writes: false, deletes: false } as const;
      return builder({
        name,
        options,
        primary: resource,
        writesStatus: watch.writesStatus ?? hasStatus(resource),
        watches: [watchable(name, { ...primary, ...erased(watch) })],
        permissions: [],
        sources: [],
      });
    },
  };
}

type Draft<Primary extends Resource> = Omit<ControllerDefinition, "reconciler" | "primary"> & {
  readonly primary: Primary;
};

type Finalize<Primary extends Resource, Declared extends Resource> = (
  ctx: ReconcileContext<Primary, Declared>,
) => Promise<Result>;

function builder<Primary extends Resource, Declared extends Resource>(
  draft: Draft<Primary>,
  finalize?: Finalize<Primary, Declared>,
): Builder<Primary, Declared> {
  // Whatever reads the kinds declared so far can be given a context that reads more.
  const wider = <R extends Resource>(wide: Draft<Primary>) =>
    builder<Primary, Declared | R>(wide, finalize as Finalize<Primary, Declared | R> | undefined);
  const watching = <R extends Resource>(watch: WatchDefinition) =>
    wider<R>({ ...draft, watches: [...draft.watches, unique(draft, watchable(draft.name, watch))] });
  return {
    owns: (resource, options = {}) =>
      watching({
        role: "owns",
        resource,
        keysOf: options.to === undefined
          ? itsController(draft.primary)
          : both(draft.primary, mapped(draft, options.to)),
        writes: true,
        deletes: options.deletes ?? false,
        ...erased(options),
      }),
    watches: (resource, options) =>
      watching({
        role: "watches",
        resource,
        keysOf: mapped(draft, options.to),
        writes: options.writes ?? false,
        deletes: false,
        ...erased(options),
      }),
    uses(resource, verbs, subresource) {
      const permission: Permission = { resource, verbs: verbs.map(known), subresource };
      return wider({ ...draft, permissions: [...draft.permissions, permission] });
    },
    source: (source) => builder({ ...draft, sources: [...draft.sources, source] }, finalize),
    finalize: (fn, name = finalizerOf(draft)) => builder({ ...draft, finalizer: qualified(name) }, fn),
    reconcile(fn) {
      const declared = draft.watches.map((watch) => watch.resource);
      return { ...draft, reconciler: comfortable({ ...draft, declared, reconcile: fn, finalize }) };
    },
    reconcileKey: (reconciler) => ({ ...draft, reconciler }),
  };
}

function finalizerOf(draft: Draft<Resource>): string {
  return `${draft.primary.group === "" ? "pintle.dev" : draft.primary.group}/${draft.name}`;
}

/** The server wants finalizers of custom controllers to name a domain. */
function qualified(finalizer: string): string {
  if (/^[a-z0-9.-]+\/[A-Za-z0-9._-]+$/.test(finalizer)) return finalizer;
  throw new TypeError(`Cannot finalize with "${finalizer}": a finalizer has the form domain/name`);
}

function unique<Primary extends Resource>(draft: Draft<Primary>, watch: WatchDefinition): WatchDefinition {
  const { kind, group } = watch.resource;
  if (draft.watches.some((other) => other.resource.kind === kind && other.resource.group === group)) {
    throw new TypeError(`Cannot watch ${kind} in controller "${draft.name}": it is watched already`);
  }
  return watch;
}

function watchable(name: string, watch: WatchDefinition): WatchDefinition {
  if (!isNotCached(watch.resource)) return watch;
  const kind = resourceName(watch.resource);
  throw new TypeError(`Cannot watch ${kind} in controller "${name}": it is not cached; declare it with uses()`);
}

/** For callers without types, and for the typing error that a `*` would be. */
function known(verb: Verb): Verb {
  if (knownVerbs.includes(verb)) return verb;
  throw new TypeError(`Cannot declare verb "${verb}": there are ${knownVerbs.join(", ")}`);
}

function hasStatus(resource: Resource): boolean {
  if (!isCustomResource(resource)) return false;
  const version = resource.crd.spec.versions.find(({ name }) => name === resource.version);
  return version?.subresources?.status !== undefined;
}

function isCustomResource(resource: Resource): resource is CustomResource {
  return "crd" in resource;
}

function both(primary: Resource, to: WatchDefinition["keysOf"]): WatchDefinition["keysOf"] {
  const controlling = itsController(primary);
  return (object, caches) => [...controlling(object), ...to(object, caches)];
}

/** Keys that users write are strings; they are checked here, once, and are ObjectKeys from then on. */
function mapped<R extends Resource>(draft: Draft<Resource>, to: MappedWatchOptions<R>["to"]) {
  return (object: KubeObject, caches: CacheReader): readonly ObjectKey[] =>
    to(object as Infer<R>, caches).map((key) => checkedKey(draft.primary, key));
}

/** The cache delivers objects of the watched kind and no other, so its functions may be called with their own type. */
function erased<R extends Resource>(options: WatchOptionsOf<R>): Pick<WatchDefinition, "when" | "indices"> {
  return { when: options.when as Predicate | undefined, indices: options.indices as WatchDefinition["indices"] };
}
