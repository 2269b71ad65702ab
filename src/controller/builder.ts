/**
 * The builder: `controller("foo").for(Foo).owns(Deployment).reconcile(fn)`. Collects what a controller watches, typed
 * end to end, and gives a ControllerDefinition. Nothing runs.
 */
import { type Infer, type KubeObject, type ObjectKey, type Resource } from "../api/mod.ts";
import { comfortable } from "./_comfortable.ts";
import type { ReconcileContext } from "./context.ts";
import type { ControllerDefinition, ControllerOptions, Permission } from "./controller_definition.ts";
import type { EventSource } from "./event_source.ts";
import type { Predicate } from "./predicate.ts";
import type { Reconciler } from "./reconciler.ts";
import type { Result } from "./result.ts";
import { checkedKey, itsController, itself, type WatchDefinition } from "./watch_definition.ts";

/** Which changes of a kind count. */
export interface WatchOptionsOf<R extends Resource> {
  /** @default every change */
  readonly when?: Predicate<Infer<R>>;
}

/** Which changes of a kind count, and for whom. */
export interface MappedWatchOptions<R extends Resource> extends WatchOptionsOf<R> {
  /** The keys of the primary objects that a change of this object concerns. */
  readonly to: (object: Infer<R>) => readonly string[];
  /** The reconciler uses `ctx.applyFields` on these objects. @default false */
  readonly writes?: boolean;
}

/** A controller in the making, once its primary kind is known. */
export interface Builder<Primary extends Resource, Declared extends Resource> {
  /** Watches a kind whose objects the reconciler creates: a change concerns the object that controls it. */
  owns<R extends Resource>(resource: R, options?: WatchOptionsOf<R>): Builder<Primary, Declared | R>;
  /** Watches a kind that the reconciler reads: `to` says whom a change concerns. */
  watches<R extends Resource>(resource: R, options: MappedWatchOptions<R>): Builder<Primary, Declared | R>;
  /** Declares that the reconciler uses the client for this kind, so that its permissions are known. */
  uses(resource: Resource, verbs: readonly string[], subresource?: string): Builder<Primary, Declared>;
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
): { for<R extends Resource>(resource: R, watch?: WatchOptionsOf<R>): Builder<R, R> } {
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) {
    throw new TypeError(`Cannot create controller "${name}": the name is not a DNS label (lower case, digits, "-")`);
  }
  return {
    for: (resource, watch = {}) =>
      builder({
        name,
        options,
        primary: resource,
        watches: [{ role: "for", resource, keysOf: itself, writes: false, when: erase(watch.when) }],
        permissions: [],
        sources: [],
      }),
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
  const watching = <R extends Resource>(watch: WatchDefinition) => {
    // Whatever reads the kinds declared so far can be given a context that reads more.
    const wider = finalize as Finalize<Primary, Declared | R> | undefined;
    return builder<Primary, Declared | R>({ ...draft, watches: [...draft.watches, unique(draft, watch)] }, wider);
  };
  return {
    owns: (resource, options = {}) =>
      watching({
        role: "owns",
        resource,
        keysOf: itsController(draft.primary),
        writes: true,
        when: erase(options.when),
      }),
    watches: (resource, options) =>
      watching({
        role: "watches",
        resource,
        keysOf: mapped(draft, options.to),
        writes: options.writes ?? false,
        when: erase(options.when),
      }),
    uses(resource, verbs, subresource) {
      const permission: Permission = { resource, verbs, subresource };
      return builder({ ...draft, permissions: [...draft.permissions, permission] }, finalize);
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

/** Keys that users write are strings; they are checked here, once, and are ObjectKeys from then on. */
function mapped<R extends Resource>(draft: Draft<Resource>, to: (object: Infer<R>) => readonly string[]) {
  return (object: KubeObject): readonly ObjectKey[] =>
    to(object as Infer<R>).map((key) => checkedKey(draft.primary, key));
}

/** The cache delivers objects of the watched kind and no other, so the predicate may be called with its own type. */
function erase<R extends Resource>(predicate: Predicate<Infer<R>> | undefined): Predicate | undefined {
  return predicate as Predicate | undefined;
}
