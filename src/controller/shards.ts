/**
 * Shards, as a controller sees them: which keys this replica reconciles. Keys are divided between the replicas of an operator
 * by slots; `manager/sharding/` decides which replica has which slots.
 *
 * Guarantees: a key is taken only while its slot is held, and every write of its reconcile passes the fence of that slot.
 */
import type { KubeObject, ObjectKey, ObjectMeta, StringMap } from "../api/mod.ts";
import type { Client } from "../client/mod.ts";

/**
 * By which value the primary objects of a controller are divided between replicas. Objects with the same value are always in
 * the same replica. The value of an object must not change while the object exists: it would move without a hand-over.
 *
 * - `"uid"`: each object on its own. The server can select by it (KEP-5866).
 * - `"namespace"`: all objects of a namespace together, so that a reconciler may look at the others.
 * - `{ label }`: the value of a label, for example of a tenant; objects without the label are together.
 * - a function of the metadata; objects that it throws for are together.
 *
 * @example All objects of a tenant in one replica
 * ```ts
 * import { ConfigMap, controller, done, type ShardKey } from "@pintle/controller";
 *
 * const byTenant: ShardKey = { label: "example.dev/tenant" };
 * const tenants = controller("tenants", { shardKey: byTenant }).for(ConfigMap).reconcile(() => Promise.resolve(done));
 * console.assert(tenants.options.shardKey === byTenant);
 * ```
 */
export type ShardKey = "uid" | "namespace" | { readonly label: string } | ((metadata: ObjectMeta) => string);

/** The label with the slot of the owner, on dependents whose owner reference does not tell it. */
export const slotLabel = "pintle.dev/slot";

/** The right to reconcile one key, until it is disposed. */
export interface KeyHold extends Disposable {
  readonly slot: number;
  /** Aborts when the slot is lost. */
  readonly signal: AbortSignal;
  /** Aborts when the slot is lost, or is to be given away: it waits for this hold. */
  readonly draining: AbortSignal;
  /** False when the slot is lost; asks the server first if the process was paused. @throws the signal's reason */
  confirm(signal: AbortSignal): Promise<boolean>;
  /** A client that writes only while the slot is held. */
  fence(client: Client): Client;
}

/** Is told when the slots of a controller come and go. */
export interface KeyShardsListener {
  /** The keys of these slots may be reconciled from now on. */
  onActive(slots: ReadonlySet<number>): void;
  /** Some slots are not held any more. Called once for all that end at the same time. */
  onLost(): void;
}

/** The slots of one controller in this replica. The Manager implements it. */
export interface KeyShards {
  /** The slot of a primary object. */
  slotOf(object: KubeObject): number;
  /** The slot of a key whose object is unknown; undefined when only the object tells. */
  slotOfKey(key: ObjectKey): number | undefined;
  /** True while the keys of a slot may be reconciled: it is held, and the caches have its objects. */
  isActive(slot: number): boolean;
  /** Begins a reconcile. Undefined when the slot is not active. */
  begin(slot: number): KeyHold | undefined;
  /** Tells a listener of changes from now on. Dispose the result to end that. */
  listen(listener: KeyShardsListener): Disposable;
  /** Labels that the dependents of an object need, so that their slot can be told. */
  dependentLabels(owner: KubeObject): StringMap | undefined;
}

/** Most keys of deleted objects whose slot is remembered; the oldest are forgotten first. */
const maxDeleted = 10_000;

/** The keys of a controller that this replica has. */
export class ShardedKeys {
  readonly #shards: KeyShards;
  readonly #findPrimary: (key: ObjectKey) => KubeObject | undefined;
  /** The slots of deleted objects, whose keys are reconciled once more. */
  readonly #deleted = new Map<ObjectKey, number>();

  constructor(shards: KeyShards, findPrimary: (key: ObjectKey) => KubeObject | undefined) {
    this.#shards = shards;
    this.#findPrimary = findPrimary;
  }

  /** The slot of a key; undefined when its object is not in this replica. */
  slotOf(key: ObjectKey): number | undefined {
    const object = this.#findPrimary(key);
    return object === undefined ? this.#deleted.get(key) ?? this.#shards.slotOfKey(key) : this.#shards.slotOf(object);
  }

  /** True when this replica reconciles the key. */
  has(key: ObjectKey): boolean {
    const slot = this.slotOf(key);
    return slot !== undefined && this.#shards.isActive(slot);
  }

  /** A primary object was deleted. Its key belongs to this replica as before. */
  noteDeleted(key: ObjectKey, object: KubeObject): void {
    this.#deleted.delete(key);
    this.#deleted.set(key, this.#shards.slotOf(object));
    if (this.#deleted.size <= maxDeleted) return;
    for (const oldest of this.#deleted.keys()) return void this.#deleted.delete(oldest);
  }

  /** Begins a reconcile of the key. @returns undefined when this replica does not have it */
  begin(key: ObjectKey): KeyHold | undefined {
    const slot = this.slotOf(key);
    return slot === undefined ? undefined : this.#shards.begin(slot);
  }

  /** The key needs nothing more. */
  forget(key: ObjectKey): void {
    if (this.#deleted.size > 0) this.#deleted.delete(key);
  }
}
