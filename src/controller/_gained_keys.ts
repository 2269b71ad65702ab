/**
 * findGainedKeys(): the keys of objects that have become those of this process, because it has gained slots or a namespace.
 * Their last process may have ended before it reconciled them. The keys that certainly need work come first: otherwise they
 * would wait for thousands of others that need nothing.
 *
 * Guarantees: every accepted object gives its keys, and each key is there once; only the order follows from what the caches
 * show.
 */
import { isJsonObject, keyOf, type KubeObject, type ObjectKey } from "../api/mod.ts";
import { keysOfObject } from "./bounded_kinds.ts";
import type { Caches } from "./caches.ts";
import type { ControllerDefinition, WatchDefinition } from "./controller_definition.ts";
import type { Change } from "./predicate.ts";

/** A key to enqueue. */
export interface GainedKey {
  readonly key: ObjectKey;
  /** Its object is being deleted, is not observed in this generation, or has none of the dependents. */
  readonly isUrgent: boolean;
  /** The objects because of which it is enqueued, and the watches that accept them. */
  readonly reasons: readonly (readonly [WatchDefinition, Change])[];
}

/** Options of {@link findGainedKeys}. */
export interface GainedKeysOptions {
  readonly definition: Pick<ControllerDefinition, "name" | "watches">;
  readonly caches: Caches;
  /** The namespace of the objects; undefined for all namespaces. */
  readonly namespace: string | undefined;
  readonly isGained: (key: ObjectKey) => boolean;
  readonly isAccepted: (watch: WatchDefinition, change: Change) => boolean;
}

/** The gained keys of all cached objects that the watches accept, urgent ones first. */
export function findGainedKeys(options: GainedKeysOptions): readonly GainedKey[] {
  const { definition, caches, namespace, isGained, isAccepted } = options;
  const owners = new Set<ObjectKey>();
  const reasons = new Map<ObjectKey, [WatchDefinition, Change][]>();
  for (const watch of definition.watches) {
    for (const object of caches.findInformer(watch.resource)?.lister.list({ namespace }) ?? []) {
      const keys = keysOfObject(definition, watch, object, caches).filter(isGained);
      if (watch.role === "owns") { for (const key of keys) owners.add(key); }
      const change: Change = { kind: "added", object };
      if (keys.length === 0 || !isAccepted(watch, change)) continue;
      for (const key of keys) {
        const known = reasons.get(key);
        if (known === undefined) reasons.set(key, [[watch, change]]);
        else known.push([watch, change]);
      }
    }
  }
  const hasDependents = definition.watches.some(({ role }) => role === "owns");
  const found = [...reasons].map(([key, reasons]) => {
    const isUrgent = reasons.some(([{ role }, { object }]) =>
      role === "for" && needsWork(object, hasDependents && !owners.has(keyOf(object)))
    );
    return { key, isUrgent, reasons };
  });
  return [...found.filter(({ isUrgent }) => isUrgent), ...found.filter(({ isUrgent }) => !isUrgent)];
}

function needsWork(object: KubeObject, lacksDependents: boolean): boolean {
  const { generation, deletionTimestamp } = object.metadata;
  if (lacksDependents || deletionTimestamp !== undefined) return true;
  const status: unknown = Reflect.get(object, "status");
  const observed = isJsonObject(status) ? status.observedGeneration : undefined;
  return typeof observed === "number" && generation !== undefined && observed < generation;
}
