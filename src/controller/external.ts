/**
 * external(): resources outside of the cluster, one for each object, as a source of a controller. It polls them, keeps what
 * it found for `ctx.external`, asks for a reconcile when something differs, and destroys them when their object is deleted.
 * `_external_poller.ts` runs one in a controller.
 *
 * Guarantees: the resource of one key is never read twice at the same time, neither by polls nor by reconciles. A poll that
 * fails is repeated with backoff, and keeps what was found before. Only the replica that reconciles an object polls for it.
 * What a reconciler has set is not replaced by a read that began before. A reconciler is told that a resource does not exist only
 * after a live look at its object, so an old cache does not create what belongs to a deleted object.
 * Caveats: a process that has lost its Lease may still call the external system, which no fence protects. What was found is lost with the process; the first reconcile of an object reads it again.
 * A call that ignores its signal is not waited for after `timeoutMs`, and may then run beside the next one. With shards, a replica does not know the objects of others: those with the same resource need the same `shardKey`.
 */
import type { Infer, KubeObject, Resource } from "../api/mod.ts";
import type { Clock } from "../async/mod.ts";

/** What the functions of an {@link external} source get besides a key. */
export interface ExternalCall {
  /** Aborts after `timeoutMs`, when the object is deleted, and when the process stops. */
  readonly signal: AbortSignal;
  /** The clock of the process; that of the World in a test. */
  readonly clock: Clock;
}

/**
 * How external resources are found, compared and destroyed. One of `fetch` and `fetchAll` is needed; with both, polls use
 * `fetchAll`, and reconcilers that need one resource use `fetch`.
 */
export interface ExternalOptions<R extends Resource, Item> {
  /** Returns the key of the resource in the external system, from what never changes; undefined for an object without one. */
  readonly key: (object: Infer<R>) => string | undefined;
  /** Milliseconds between the polls of one resource, and how old the answer of `ctx.external(...).get()` can be. */
  readonly everyMs: number;
  /** Reads one resource; undefined if it does not exist. @default it is in the result of `fetchAll` */
  readonly fetch?: (key: string, call: ExternalCall) => Promise<Item | undefined>;
  /** Reads all resources, by key. @default each one is read by `fetch` */
  readonly fetchAll?: (call: ExternalCall) => Promise<ReadonlyMap<string, Item>>;
  /** Returns true for a difference that a reconcile has to look at. @default any difference of the values */
  readonly diff?: (before: Item | undefined, after: Item | undefined) => boolean;
  /**
   * Destroys the resource of a deleted object, unless another object has the same; the object stays until it returns. It must
   * accept one that is gone. @default nothing
   */
  readonly destroy?: (key: string, call: ExternalCall) => Promise<void>;
  /** Milliseconds after which a call of these functions is aborted, and not waited for any more. @default 30_000 */
  readonly timeoutMs?: number;
  /** Polls that run at the same time. @default 4 */
  readonly maxConcurrentPolls?: number;
  /** The most polls per second in the long run, and after a quiet time. @default no limit */
  readonly rateLimit?: { readonly qps: number; readonly burst: number };
}

/** External resources of the objects of one kind; {@link external} creates it. */
export interface ExternalSource<R extends Resource, Item> {
  /** For logs, causes and metrics. */
  readonly name: string;
  /** The kind of the objects that have the resources. */
  readonly primary: R;
  /** How they are found, compared and destroyed. */
  readonly options: ExternalOptions<R, Item>;
}

/** The external resource of the object of one attempt; `ctx.external` returns it. */
export interface ExternalItem<Item> {
  /** Its key in the external system; undefined when the object has none. */
  readonly key: string | undefined;
  /**
   * What the last read has found, or the reconciler has set. Reads the resource if nothing is known of it.
   *
   * @returns undefined when it does not exist; the object was then read live, and if it is gone, the attempt ends here
   * @throws what `fetch` throws
   */
  get(): Promise<Item | undefined>;
  /** Reads the resource now. @throws what `fetch` throws */
  refresh(): Promise<Item | undefined>;
  /** Notes what the reconciler has just written; undefined after it has removed the resource. */
  set(item: Item | undefined): void;
}

/** A source whose types are erased. The builder checks that it belongs to the kind of the controller. */
export type AnyExternalSource = ExternalSource<Resource, unknown>;

/**
 * Declares external resources: databases, buckets, DNS records, one for each object. Give it to `.external(...)` of a
 * controller.
 *
 * @param name For logs, causes and metrics.
 * @param primary The kind of the objects.
 * @throws RangeError when a time or a limit is not greater than 0, TypeError when nothing can be fetched
 * @example
 * ```ts
 * import { ConfigMap, controller, done, external } from "@pintle/controller";
 * import { World } from "@pintle/controller/testing";
 *
 * const provider = new Map<string, { size: number }>(); // in a program: an API
 * const disks = external("disks", ConfigMap, {
 *   key: ({ metadata, data }) => data?.size === undefined ? undefined : `disk-${metadata.uid}`,
 *   everyMs: 60_000,
 *   fetch: (key) => Promise.resolve(provider.get(key)),
 *   destroy: (key) => Promise.resolve(void provider.delete(key)),
 * });
 * const sizes = controller("disks").for(ConfigMap).external(disks).reconcile(async (ctx) => {
 *   const disk = ctx.external(disks);
 *   const size = Number(ctx.object.data?.size);
 *   if (disk.key === undefined || (await disk.get())?.size === size) return done;
 *   provider.set(disk.key, { size });
 *   disk.set({ size });
 *   return done;
 * });
 *
 * await using world = await World.start({ controllers: [sizes], cluster: false });
 * await world.create(ConfigMap, { name: "a", data: { size: "8" } });
 * await world.settled();
 * for (const key of provider.keys()) provider.set(key, { size: 4 }); // somebody changes it at the provider
 * await world.clock.advance(120_000);
 * console.assert([...provider.values()].every(({ size }) => size === 8));
 * await world.delete(ConfigMap, "default/a");
 * await world.settled();
 * console.assert(provider.size === 0);
 * ```
 */
export function external<R extends Resource, Item>(
  name: string,
  primary: R,
  options: ExternalOptions<R, Item>,
): ExternalSource<R, Item> {
  const { everyMs, timeoutMs = 1, maxConcurrentPolls = 1, rateLimit = { qps: 1, burst: 1 }, fetch, fetchAll } = options;
  const wrong = (state: string) => `Cannot create external source "${name}": ${state}`;
  const limits = { everyMs, timeoutMs, maxConcurrentPolls, qps: rateLimit.qps };
  for (const [limit, value] of Object.entries(limits)) {
    if (!(value > 0)) throw new RangeError(wrong(`${limit} ${value} is not greater than 0`));
  }
  if (everyMs === Infinity) throw new RangeError(wrong("everyMs is not finite"));
  if (!(maxConcurrentPolls >= 1)) throw new RangeError(wrong(`maxConcurrentPolls ${maxConcurrentPolls} is below 1`));
  if (!(rateLimit.burst >= 1)) throw new RangeError(wrong(`burst ${rateLimit.burst} is below 1`));
  if (fetch === undefined && fetchAll === undefined) throw new TypeError(wrong("it has neither fetch nor fetchAll"));
  return { name, primary, options };
}

/** The external resources of a controller. Its runtime gives it to each Toolbox. */
export interface ExternalItems {
  /** @throws TypeError when the controller did not declare the source */
  of(source: AnyExternalSource, object: KubeObject, signal: AbortSignal): ExternalItem<unknown>;
  /** Destroys the resources of an object that is being deleted. @throws what `destroy` throws */
  destroy(object: KubeObject): Promise<void>;
}

/** One attempt, for {@link itemOf}. */
interface ItemAttempt {
  readonly object: KubeObject;
  readonly signal: AbortSignal;
  /** Reads the object live. @throws OwnerChangedError when the cached one is old */
  checkOwner(): Promise<void>;
}

/** The external resource of the object of an attempt. @param items undefined where nothing is polled, as in a replay */
export function itemOf<R extends Resource, Item>(
  items: ExternalItems | undefined,
  source: ExternalSource<R, Item>,
  { object, signal, checkOwner }: ItemAttempt,
): ExternalItem<Item> {
  if (items === undefined) {
    throw new TypeError(`Cannot read external resources "${source.name}": nothing is polled in this process`);
  }
  // The builder has checked the kind of the source, whose functions make the items.
  const item = items.of(source as AnyExternalSource, object, signal) as ExternalItem<Item>;
  const checked = async (reading: Promise<Item | undefined>) => {
    const found = await reading;
    if (found === undefined && item.key !== undefined) await checkOwner();
    return found;
  };
  return { ...item, get: () => checked(item.get()), refresh: () => checked(item.refresh()) };
}
