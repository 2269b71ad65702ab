/**
 * dependent() and dependents(): the objects of an owner with an order and gates, as a value that reads from top to bottom.
 *
 *   const page = dependent("page", ConfigMap, { of: Site, desired });
 *   const job = dependent("migration", Job, { of: Site, after: [page], readyWhen: isComplete, desired });
 *   const servers = dependent("servers", Deployment, { of: Site, after: [job], desired });
 *   const address = dependent("address", Service, { of: Site, after: [servers], when: isExposed, desired });
 *   controller("site").for(Site).dependents(dependents([page, job, servers, address])).reconcile(...)
 *
 * A dependent names those before it as values, so a cycle cannot be written, and its functions see exactly the live
 * objects that have passed their gates, with their types.
 */
import { type Infer, type Resource, resourceId, resourceName } from "../api/mod.ts";
import type { DeleteOptions } from "../client/mod.ts";
import type { ActivationCondition } from "./activation.ts";
import type { Watchable } from "./caches.ts";
import type { ReconcileContext } from "./context.ts";
import type { Dependent, Dependents, Earlier } from "./dependents_state.ts";
import type { Desired } from "./desired.ts";

/** What the functions of a dependent see: the owner, and reads of the owner's kind and of `reads`. */
export type DependentContext<Primary extends Resource, Reads extends Resource = never> = Pick<
  ReconcileContext<Primary, Primary | Reads>,
  "object" | "find" | "get" | "list" | "clock" | "log" | "signal"
>;

/** Options of {@link dependent}. Its functions must not write; they are called in each attempt. */
export interface DependentOptions<
  Primary extends Resource,
  R extends Resource,
  After extends readonly Dependent[] = readonly [],
  Reads extends Resource = never,
  Out = Desired<R>,
> {
  /** The kind of the owner. */
  readonly of: Primary;
  /**
   * The dependents that must be ready before this one is created or changed. While one of them is not ready, what exists of
   * this dependent stays as it is. In the deletion the order is reversed. @default none
   */
  readonly after?: After;
  /** The kinds that the functions read; the controller must watch them. @default none */
  readonly reads?: readonly Reads[];
  /**
   * Whether the dependent should exist, from the owner alone. If it is false, the dependent is deleted, after those that
   * have it in `after`. @default always
   */
  readonly when?: (ctx: DependentContext<Primary, Reads>) => boolean;
  /**
   * Whether the live object is ready; instead of false it may return a text that says what is missing. It is not called
   * with a status that belongs to an older generation of the object. @default the object exists
   */
  readonly readyWhen?: (
    live: Infer<R>,
    ctx: DependentContext<Primary, Reads>,
  ) => boolean | string;
  /**
   * The desired state. `earlier` has the live objects of `after`, by name. Instead it may return a text that says what it
   * waits for: then nothing is written, and what exists of the dependent stays as it is.
   */
  readonly desired: (ctx: DependentContext<Primary, Reads>, earlier: Earlier<After>) => Out | string;
  /** How the objects refer to the owner, see `owns`. @default by a controller reference */
  readonly track?: "labels";
  /**
   * The condition under which the kind is watched, see `whenServed`. While it does not hold, this dependent and those after
   * it are skipped: nothing is written, and nothing is deleted. @default it is always watched
   */
  readonly activation?: ActivationCondition;
  /**
   * How the objects are deleted. With "Foreground" an object is gone only when its own dependents are, so that the order
   * includes the Pods of a Deployment. @default "Foreground"
   */
  readonly propagationPolicy?: DeleteOptions["propagationPolicy"];
}

/**
 * Creates one dependent for a list of {@link dependents}.
 *
 * @param name Lower case, unique in the list.
 * @param resource The kind of its objects.
 * @throws TypeError when the name is not a DNS label
 *
 * @example A Deployment after a Job has completed
 * ```ts
 * import { ConfigMap, dependent, dependents, isConditionTrue, Job, manifest, Namespace } from "@pintle/controller";
 *
 * const migration = dependent("migration", Job, {
 *   of: Namespace,
 *   readyWhen: (job) => isConditionTrue(job.status?.conditions, "Complete") || "has not completed",
 *   desired: ({ object }) =>
 *     manifest(Job, {
 *       metadata: { namespace: object.metadata.name, name: "migration" },
 *       spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "m", image: "migrate:1" }] } } },
 *     }),
 * });
 * const report = dependent("report", ConfigMap, {
 *   of: Namespace,
 *   after: [migration],
 *   desired: ({ object }, { migration }) =>
 *     manifest(ConfigMap, {
 *       metadata: { namespace: object.metadata.name, name: "report" },
 *       data: { completedAt: migration.status?.completionTime ?? "" },
 *     }),
 * });
 * console.assert(dependents([migration, report]).steps.length === 2);
 * ```
 */
export function dependent<
  const Name extends string,
  Primary extends Resource,
  R extends Watchable,
  const After extends readonly Dependent[] = readonly [],
  Reads extends Resource = never,
>(
  name: Name,
  resource: R,
  options: DependentOptions<Primary, R, After, Reads>,
): Dependent<R, Name, Infer<R>> {
  const desired = (ctx: DependentContext<Primary, Reads>, earlier: Earlier<After>) => {
    const one = options.desired(ctx, earlier);
    return typeof one === "string" ? one : [one];
  };
  return create(name, resource, options, desired, (live) => live[0]);
}

/**
 * Creates one dependent with any number of objects of one kind, such as one per shard. It is ready when all of them are,
 * and later dependents see the list. An object that `desired` no longer returns is deleted once everything is ready.
 *
 * @param name Lower case, unique in the list.
 * @param resource The kind of its objects.
 * @throws TypeError when the name is not a DNS label
 *
 * @example
 * ```ts
 * import { ConfigMap, dependentList, dependents, manifest, Namespace } from "@pintle/controller";
 *
 * const shards = dependentList("shards", ConfigMap, {
 *   of: Namespace,
 *   desired: ({ object }) =>
 *     ["a", "b"].map((name) => manifest(ConfigMap, { metadata: { namespace: object.metadata.name, name } })),
 * });
 * console.assert(dependents([shards]).steps[0]?.name === "shards");
 * ```
 */
export function dependentList<
  const Name extends string,
  Primary extends Resource,
  R extends Watchable,
  const After extends readonly Dependent[] = readonly [],
  Reads extends Resource = never,
>(
  name: Name,
  resource: R,
  options: DependentOptions<Primary, R, After, Reads, readonly Desired<R>[]>,
): Dependent<R, Name, readonly Infer<R>[]> {
  return create(name, resource, options, options.desired, (live) => live);
}

function create<
  Name extends string,
  Primary extends Resource,
  R extends Resource,
  After extends readonly Dependent[],
  Reads extends Resource,
  Live,
>(
  name: Name,
  resource: R,
  options: Omit<DependentOptions<Primary, R, After, Reads>, "desired">,
  desired: (ctx: DependentContext<Primary, Reads>, earlier: Earlier<After>) => readonly Desired<R>[] | string,
  show: (live: readonly unknown[]) => unknown,
): Dependent<R, Name, Live> {
  if (!/^[a-z0-9]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$/.test(name)) {
    throw new TypeError(
      `Cannot create dependent "${name}": the name has other characters than letters, digits and "-"`,
    );
  }
  const { of, after = [], reads = [], when, readyWhen, track, activation } = options;
  const { propagationPolicy = "Foreground" } = options;
  return Object.freeze({
    name,
    resource,
    of,
    after,
    reads,
    track,
    activation,
    propagationPolicy,
    // The runtime calls the functions with the context and the objects that the types above promise.
    run: {
      when: (ctx: unknown) => when?.(ctx as DependentContext<Primary, Reads>) ?? true,
      readyWhen: readyWhen === undefined
        ? undefined
        : (live: unknown, ctx: unknown) => readyWhen(live as never, ctx as DependentContext<Primary, Reads>),
      desired: (ctx: unknown, earlier: Readonly<Record<string, unknown>>) =>
        desired(ctx as DependentContext<Primary, Reads>, earlier as Earlier<After>),
      show,
    },
  });
}

/**
 * Puts dependents in order: each one stands after those in its `after`. Declare the value with `.dependents(...)` of the
 * builder, and call `ctx.applyDependents()` in the reconciler.
 *
 * - A dependent is created and changed only while all dependents in its `after` are ready.
 * - While its `activation` does not hold, it and all that come after it stay as they are.
 * - When `when` is false, it and all that come after it are deleted, the last one first. They are deleted in the same order
 *   when the owner is deleted: a finalizer keeps the owner, and each waits until those after it are gone. What exists, and
 *   after what, is read from annotations of the objects, so a dependent that is no longer in the list is deleted too.
 * - An object that its dependent no longer names is deleted once everything is ready.
 *
 * Objects of a kind that no dependent in the list has any more are found only if the controller still declares the kind with
 * `owns(..., { prunes: true })`. An owner that is deleted with `--cascade=foreground` is the exception: the garbage collector then deletes all objects at
 * once, except for those with `track: "labels"`. A World with `cluster: false` has no garbage collector, so "Foreground"
 * deletions do not end there.
 *
 * @throws TypeError when a name occurs twice, one stands before what it is after, or their owners are of several kinds
 *
 * @example
 * ```ts
 * import { ConfigMap, controller, dependent, dependents, manifest, Namespace } from "@pintle/controller";
 * import { World } from "@pintle/controller/testing";
 *
 * const first = dependent("first", ConfigMap, {
 *   of: Namespace,
 *   readyWhen: (live) => live.data?.approved === "yes" || "is not approved",
 *   desired: ({ object }) => manifest(ConfigMap, { metadata: { namespace: object.metadata.name, name: "first" } }),
 * });
 * const second = dependent("second", ConfigMap, {
 *   of: Namespace,
 *   after: [first],
 *   desired: ({ object }) => manifest(ConfigMap, { metadata: { namespace: object.metadata.name, name: "second" } }),
 * });
 * const gated = controller("gated").for(Namespace).dependents(dependents([first, second])).reconcile(async (ctx) => {
 *   const state = await ctx.applyDependents();
 *   ctx.log.info("applied", { isReady: state.isReady, message: state.condition.message });
 *   return state.result();
 * });
 * await using world = await World.start({ controllers: [gated] });
 * await world.create(Namespace, { name: "team-a" });
 * await world.settled();
 * console.assert(world.find(ConfigMap, "team-a/second") === undefined);
 * await world.patch(ConfigMap, "team-a/first", { kind: "merge", value: { data: { approved: "yes" } } });
 * await world.settled();
 * console.assert(world.find(ConfigMap, "team-a/second") !== undefined);
 * ```
 */
export function dependents<const Steps extends readonly [Dependent, ...Dependent[]]>(
  steps: Steps,
): Dependents<Resource, Steps[number]["resource"]> {
  const [{ of: primary }] = steps;
  const before = new Map<string, Dependent>();
  const tracks = new Map<string, Dependent>();
  for (const step of steps) {
    const problem = problemOf(step, { primary, before, tracks });
    if (problem !== undefined) throw new TypeError(`Cannot order the dependents: ${problem}`);
    before.set(step.name, step);
    tracks.set(resourceId(step.resource), step);
  }
  return Object.freeze({ primary, steps });
}

interface Above {
  readonly primary: Resource;
  /** The steps above, by name. */
  readonly before: ReadonlyMap<string, Dependent>;
  /** One of the steps above of each kind. */
  readonly tracks: ReadonlyMap<string, Dependent>;
}

function problemOf(step: Dependent, { primary, before, tracks }: Above): string | undefined {
  const { name } = step;
  if (before.has(name)) return `"${name}" occurs twice`;
  if (resourceId(step.of) !== resourceId(primary)) {
    return `"${name}" belongs to ${resourceName(step.of)}, those before it to ${resourceName(primary)}`;
  }
  const missing = step.after.find((one) => before.get(one.name) !== one);
  if (missing !== undefined) return `"${name}" is after "${missing.name}", which does not stand before it`;
  const other = tracks.get(resourceId(step.resource));
  if (other === undefined) return undefined;
  const both = `"${name}" and "${other.name}" are of the kind ${step.resource.kind}`;
  if (other.track !== step.track) return `${both}, and only one has track: "labels"`;
  return other.activation === step.activation ? undefined : `${both}, and have another activation`;
}
