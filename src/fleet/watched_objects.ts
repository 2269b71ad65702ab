/**
 * watchedObjects(): the objects of one kind as a sequence of whole lists, for providers: one when the first list is complete,
 * and one after each change.
 *
 * Guarantees: changes that follow each other at once give one list. The watch ends with the sequence. What the server refuses
 * is no list without objects: the sequence fails, and its provider begins anew, perhaps with another version of the kind.
 */
import type { Infer, KubeObject, LabelSelector, Resource } from "../api/mod.ts";
import { type Clock, scope, systemClock } from "../async/mod.ts";
import type { Client } from "../client/mod.ts";
import type { SharedInformer, WaitReason } from "../cache/mod.ts";
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

/** Milliseconds between two looks at whether the server refuses the watch. */
const lookEveryMs = 2_000;

/** What waiting does not end: another version is served, or a permission is missing. */
const refusals: ReadonlySet<WaitReason> = new Set(["missing", "forbidden", "unauthorized"]);

/** Watches until `signal` aborts. @throws the error of a server that refuses to show the objects */
export async function* watchedObjects<R extends Resource>(
  client: Client,
  resource: R,
  options: WatchedObjectsOptions & { readonly signal: AbortSignal },
): AsyncGenerator<readonly Infer<R>[], void, void> {
  const { namespace, labelSelector, reduce, clock = systemClock, signal } = options;
  using watching = scope(signal);
  const informers = informersOf(client, {
    clock,
    ...(namespace === undefined ? {} : { namespaces: [namespace] }),
    // A reduced object is one of the same kind.
    ...(reduce === undefined ? {} : { transformFor: () => (object) => reduce(object as KubeObject) as typeof object }),
  });
  const informer = informers.informer(resource, { labelSelector });
  let isNew = true;
  let wake = () => {};
  const onChange = () => {
    isNew = true;
    wake();
  };
  const registration = informer.addHandler({ onAdd: onChange, onUpdate: onChange, onDelete: onChange });
  const running = informers.run(watching.signal);
  registration.synced(watching.signal).then(onChange, () => undefined);
  try {
    while (!watching.signal.aborted) {
      assertServed(informer);
      if (isNew && registration.hasSynced) {
        isNew = false;
        yield [...informer.lister.list()];
        continue;
      }
      const changed = new Promise<void>((resolve) => wake = resolve);
      using looking = scope(watching.signal);
      await Promise.race([changed, clock.sleep(lookEveryMs, looking.signal).catch(() => undefined)]);
    }
  } finally {
    watching.abort();
    await running;
  }
}

/** @throws the error of the last attempt, when the server refuses again and again */
function assertServed(informer: SharedInformer<KubeObject>): void {
  for (const { reflector } of informer.statuses()) {
    if (reflector.kind === "waiting" && reflector.attempts > 1 && refusals.has(reflector.reason)) throw reflector.error;
  }
}
