/**
 * Evicted bodies: what a bounded cache keeps of an object whose body it has dropped. The object has its apiVersion, kind and
 * metadata, so that names, versions, labels and owners are known as before; a read of any other field throws an
 * EvictedBodyError. An absent field would be a wrong answer, which nobody notices.
 */
import { keyOf, type KubeObject } from "../api/mod.ts";

/**
 * Thrown by a read of a field that the cache has dropped, because the cache of the kind is bounded. A predicate that throws
 * it accepts the change.
 *
 * @example
 * ```ts
 * import { EvictedBodyError } from "@pintle/controller/cache";
 *
 * const error = new EvictedBodyError("data", "ConfigMap", "default/a");
 * console.assert(error.message.startsWith('Cannot read "data" of ConfigMap "default/a": its body was evicted'));
 * ```
 */
export class EvictedBodyError extends Error {
  /** The name of the class. */
  override readonly name = "EvictedBodyError";

  /**
   * Creates the error.
   *
   * @param field The field that was read.
   */
  constructor(field: string, kind: string, key: string) {
    super(
      `Cannot read "${field}" of ${kind} "${key}": its body was evicted from the cache. ` +
        `Read it with ctx.find or ctx.list, with the Resource that bounded() returned`,
    );
  }
}

/** The values of index functions, as they were when the body was evicted. */
export type KeptIndexValues = ReadonlyMap<string, readonly string[]>;

/** What remains of an object. */
interface Remains {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: KubeObject["metadata"];
  readonly indexValues: KeptIndexValues;
}

const remainsOf = Symbol("evicted");

const fieldsThatThrow: ProxyHandler<Remains> = {
  get(remains, field) {
    switch (field) {
      case "apiVersion":
      case "kind":
      case "metadata":
        return remains[field];
      case remainsOf:
        return remains;
      case "then": // A promise asks for it.
        return undefined;
      default:
        return typeof field === "symbol" ? undefined : rejectRead(remains, field);
    }
  },
  has: (remains, field) =>
    field === "metadata" || field === "kind" || field === "apiVersion" ||
    (typeof field === "string" && rejectRead(remains, field)),
  ownKeys: (remains) => rejectRead(remains, "*"),
  getOwnPropertyDescriptor: (remains, field) => rejectRead(remains, String(field)),
  set: () => false,
};

function rejectRead(remains: Remains, field: string): never {
  throw new EvictedBodyError(field, remains.kind, keyOf(remains));
}

/** The object without its body. */
export function withoutBody<T extends KubeObject>({ apiVersion, kind, metadata }: T, indexValues: KeptIndexValues): T {
  return new Proxy<Remains>({ apiVersion, kind, metadata, indexValues }, fieldsThatThrow) as unknown as T;
}

/** True for an object whose body was evicted. */
export function isEvicted(object: object): boolean {
  return remainsIn(object) !== undefined;
}

/** The object, or a plain one with only its metadata if its body was evicted; for what shows objects to people. */
export function keptPart<T extends KubeObject>(object: T): KubeObject {
  const remains = remainsIn(object);
  if (remains === undefined) return object;
  const { apiVersion, kind, metadata } = remains;
  return { apiVersion, kind, metadata };
}

/** What the index function of that name returned before the body was evicted; undefined for an object with a body. */
export function keptIndexValues(object: object, index: string): readonly string[] | undefined {
  return remainsIn(object)?.indexValues.get(index);
}

function remainsIn(object: object): Remains | undefined {
  return (object as { readonly [remainsOf]?: Remains })[remainsOf];
}
