/**
 * ObjectFilter: which objects enter a cache, and in which form. An object that does not pass is reported and skipped; it
 * neither stops the stream nor affects other objects.
 */
import { keyOf, type KubeObject, type ObjectKey } from "../api/mod.ts";
import { SharedValues } from "./shared_values.ts";
import { deepFreeze, type Transform } from "./transform.ts";

/** The kind of the objects of one cache. */
export interface ExpectedKind {
  /** The API group and version, as `apps/v1`. */
  readonly apiVersion: string;
  /** The kind, as `Deployment`. */
  readonly kind: string;
  /** The namespace of all objects. @default any */
  readonly namespace?: string;
}

/** Options of an {@link ObjectFilter}. */
export interface ObjectFilterOptions<T extends KubeObject> {
  /** Undefined: any kind. */
  readonly expected: ExpectedKind | undefined;
  readonly transform: Transform<T>;
  readonly freeze: boolean;
  /** True for an object that the list and the watch of the cache would show. */
  readonly selects: (object: T) => boolean;
  /** Makes what the list and the watch of the cache would show from a whole object. */
  readonly project: (object: T) => T;
  /** Called for each object that was skipped. */
  readonly onSkip: (reason: string, fields: Readonly<Record<string, unknown>>) => void;
}

/**
 * Checks and transforms each object before it enters the cache: its kind, its name, the transform, the values that it
 * shares with other objects, the freezing in tests.
 */
export class ObjectFilter<T extends KubeObject> {
  readonly #options: ObjectFilterOptions<T>;
  readonly #shared = new SharedValues();

  constructor(options: ObjectFilterOptions<T>) {
    this.#options = options;
  }

  /** The key of an object that belongs to this cache; undefined, and a report, for any other. */
  keyOf(object: T): ObjectKey | undefined {
    const name = object?.metadata?.name;
    if (typeof name !== "string" || name === "") {
      this.#options.onSkip("it has no name", { apiVersion: object?.apiVersion, kind: object?.kind });
      return undefined;
    }
    const { expected } = this.#options;
    if (expected !== undefined && !isOfKind(expected, object)) {
      const { apiVersion, kind } = object;
      const key = keyOf(object);
      this.#options.onSkip("it is of another kind", { apiVersion, kind, expected: expected.kind, key });
      return undefined;
    }
    if (expected?.namespace !== undefined && object.metadata.namespace !== expected.namespace) {
      this.#options.onSkip("it is in another namespace", { expected: expected.namespace, key: keyOf(object) });
      return undefined;
    }
    return keyOf(object);
  }

  /** True for an object in the scope of the cache. The server decides it for what it sends. */
  selects(object: T): boolean {
    return this.#options.selects(object);
  }

  /** A whole object in the form of this cache. */
  project(object: T): T {
    return this.#options.project(object);
  }

  /** The object to be cached; undefined, and a report, when the transform throws. */
  transform(key: ObjectKey, object: T): T | undefined {
    const { transform, expected, freeze, onSkip } = this.#options;
    try {
      // Servers omit kind and apiVersion from the items of a list of a built-in kind.
      const { apiVersion, kind } = expected ?? object;
      const named = expected !== undefined && !object.kind ? { ...object, apiVersion, kind } : object;
      const transformed = this.#shared.share(transform(named), expected);
      return freeze ? deepFreeze(transformed) : transformed;
    } catch (error) {
      onSkip("its transform failed", { key, error });
      return undefined;
    }
  }
}

function isOfKind(expected: ExpectedKind, object: KubeObject): boolean {
  if (!object.kind) return true;
  return object.kind === expected.kind && (!object.apiVersion || object.apiVersion === expected.apiVersion);
}
