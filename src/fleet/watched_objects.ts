/**
 * watchedObjects(): the objects of one kind as a sequence of whole lists, for providers: one when the first list is complete,
 * and one after each change.
 *
 * Guarantees: changes that follow each other at once give one list. The watch ends with the sequence.
 */
import type { Infer, KubeObject, LabelSelector, Resource } from "../api/mod.ts";
import { aborted, type Clock, scope, systemClock } from "../async/mod.ts";
import type { Client } from "../client/mod.ts";
import { informersOf } from "../manager/mod.ts";

/** Which objects are watched. */
export interface WatchedObjectsOptions {
  /** @default all */
  readonly namespace?: string;
  /** @default all */
  readonly labelSelector?: LabelSelector;
  /** Returns what is kept of an object. @default all but managedFields */
  readonly reduce?: (object: KubeObject) => KubeObject;
  /** @default systemClock */
  readonly clock?: Clock;
}

/** Watches until `signal` aborts. */
export async function* watchedObjects<R extends Resource>(
  client: Client,
  resource: R,
  options: WatchedObjectsOptions & { readonly signal: AbortSignal },
): AsyncGenerator<readonly Infer<R>[], void, void> {
  const { namespace, labelSelector, reduce, clock = systemClock, signal } = options;
  using watching = scope(signal);
  using stopped = aborted(watching.signal);
  const informers = informersOf(client, {
    clock,
    ...(namespace === undefined ? {} : { namespaces: [namespace] }),
    // A reduced object is one of the same kind.
    ...(reduce === undefined ? {} : { transformFor: () => (object) => reduce(object as KubeObject) as typeof object }),
  });
  const informer = informers.informer(resource, { labelSelector });
  let changed = Promise.withResolvers<void>();
  const onChange = () => changed.resolve();
  const registration = informer.addHandler({ onAdd: onChange, onUpdate: onChange, onDelete: onChange });
  const running = informers.run(watching.signal);
  try {
    await registration.synced(watching.signal);
    while (!watching.signal.aborted) {
      changed = Promise.withResolvers<void>();
      yield [...informer.lister.list()];
      await Promise.race([changed.promise, stopped]);
    }
  } finally {
    watching.abort();
    await running;
  }
}
