/** InformerOptions: what an Informer is created with; `informer.ts` reads them. */
import type { KubeObject, ListWatch, ObjectKey, ResourceVersion } from "../api/mod.ts";
import type { Clock, Random } from "../async/mod.ts";
import type { Logger, Recorder } from "../observe/mod.ts";
import type { CacheLimit } from "./bounded_bodies.ts";
import type { CachePart } from "./cache_part.ts";
import type { ExpectedKind } from "./object_filter.ts";
import type { CacheMetrics } from "./metrics.ts";
import type { ReflectorTiming, ServerRecovery } from "./reflector_state.ts";
import type { Indexers } from "./store.ts";
import type { Transform } from "./transform.ts";

/** Where an error was thrown that the cache caught. */
export interface CacheErrorOrigin {
  /** The name of the informer. */
  readonly informer: string;
  /** The handler that threw. */
  readonly handler?: string;
  /** The index whose function threw. */
  readonly index?: string;
}

/** How a cache is bounded. */
export interface CacheBounds<T extends KubeObject> {
  /** How many bodies stay. */
  readonly limit: CacheLimit;
  /** Reads one object from the server; undefined when it has none. */
  readonly read: (key: ObjectKey, signal: AbortSignal) => Promise<T | undefined>;
}

/** Options that the informers of a program usually share. */
export interface InformerDefaults {
  /** Request a stream of the full state before falling back to lists. @default true */
  readonly watchList?: boolean;
  /** Items per page of a list. @default 500 */
  readonly pageSize?: number;
  /** Milliseconds between resyncs of handlers without an own `resyncMs`; 0: none. @default 0 */
  readonly resyncMs?: number;
  /** Freeze objects, so that a write to one throws; for tests. @default false */
  readonly freeze?: boolean;
  /** Compare with an exact LIST after each sync; for tests. @default false */
  readonly checkConsistency?: boolean;
  /** Knows when the server responds again after an outage. @default each informer waits for its own backoff */
  readonly recovery?: ServerRecovery;
  /** Time limits and backoff of the reflector. @default defaultTiming */
  readonly timing?: Partial<ReflectorTiming>;
  /** Measures time limits, backoff and resyncs. @default systemClock */
  readonly clock?: Clock;
  /** Varies delays, so that many programs do not retry at the same time. @default systemRandom */
  readonly random?: Random;
  /** Receives the log records of the cache. @default logger("cache") */
  readonly log?: Logger;
  /** Receives the measurements of the cache. @default none */
  readonly metrics?: CacheMetrics;
  /** Records what changes in the cache, in the recording of the process. @default nothing is recorded */
  readonly recorder?: Recorder;
  /** Called with errors of handlers and index functions, and with inconsistencies. @default they are only logged */
  readonly onError?: (error: unknown, origin: CacheErrorOrigin) => void;
}

/** Options of an {@link Informer}. */
export interface InformerOptions<T extends KubeObject> extends InformerDefaults {
  /** For logs, metrics, errors and readiness, e.g. `foos.samplecontroller.k8s.io in namespace x`. */
  readonly name: string;
  /** How objects are listed and watched, for example `client.listWatch(ConfigMap)`. */
  readonly listWatch: ListWatch<T>;
  /** The kind, in recordings: its name as in `deployments.apps`, and `Deployment`. @default the name of the informer */
  readonly recordedAs?: { readonly resource: string; readonly kind: string };
  /** Objects of any other kind are skipped. @default any kind is cached */
  readonly expected?: ExpectedKind;
  /** Called once for each object before it is cached. @default dropManagedFields */
  readonly transform?: Transform<T>;
  /** The version from which on the cache must contain all changes: the first list is not older. @default any */
  readonly notOlderThan?: ResourceVersion;
  /** True for an object that `listWatch` would show; decides which own writes enter the cache. @default every object */
  readonly selects?: (object: T) => boolean;
  /** Makes what `listWatch` would show from a whole object, for own writes. @default the whole object */
  readonly project?: (object: T) => T;
  /** The part of the objects that is cached; `listWatch` shows the others too. @default all objects */
  readonly part?: CachePart;
  /** Keeps only some bodies, and reads the others when they are needed. @default all bodies are kept */
  readonly bounds?: CacheBounds<T>;
  /** Functions that compute index values, by index name, for {@link Lister.byIndex}. @default none */
  readonly indexers?: Indexers<T>;
}
