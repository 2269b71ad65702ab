/**
 * Admission: the door of the cache. Each object passes it once: is it of this cache's kind, has it a name, the
 * transform, the freezing in tests. An object that cannot be taken is reported and passed over; it never stops the
 * stream and never corrupts what is there.
 */
import { keyOf, type KubeObject, type ObjectKey } from "../api/mod.ts";
import { deepFreeze, type Transform } from "./transform.ts";

/** The kind of the objects of one cache. */
export interface ExpectedKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Options of an {@link Admission}. */
export interface AdmissionOptions<T extends KubeObject> {
  /** Undefined: any kind is taken. */
  readonly expected: ExpectedKind | undefined;
  readonly transform: Transform<T>;
  readonly freeze: boolean;
  /** Hears of each object that was passed over. */
  readonly onRefused: (why: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** Lets objects in. */
export class Admission<T extends KubeObject> {
  readonly #options: AdmissionOptions<T>;

  constructor(options: AdmissionOptions<T>) {
    this.#options = options;
  }

  /** The key of an object that belongs here; undefined, and a report, for any other. */
  keyOf(object: T): ObjectKey | undefined {
    const name = object?.metadata?.name;
    if (typeof name !== "string" || name === "") {
      this.#options.onRefused("it has no name", { apiVersion: object?.apiVersion, kind: object?.kind });
      return undefined;
    }
    const { expected } = this.#options;
    if (expected !== undefined && !isOf(expected, object)) {
      const { apiVersion, kind } = object;
      this.#options.onRefused("it is of another kind", {
        apiVersion,
        kind,
        expected: expected.kind,
        key: keyOf(object),
      });
      return undefined;
    }
    return keyOf(object);
  }

  /** What to keep of an object; undefined, and a report, when the transform throws. */
  transformed(key: ObjectKey, object: T): T | undefined {
    const { transform, expected, freeze, onRefused } = this.#options;
    try {
      // Servers leave kind and apiVersion out of the items of a list of a built-in kind.
      const named = expected !== undefined && !object.kind ? { ...object, ...expected } : object;
      const kept = transform(named);
      return freeze ? deepFreeze(kept) : kept;
    } catch (error) {
      onRefused("its transform threw", { key, error });
      return undefined;
    }
  }
}

function isOf(expected: ExpectedKind, object: KubeObject): boolean {
  if (!object.kind) return true;
  return object.kind === expected.kind && (!object.apiVersion || object.apiVersion === expected.apiVersion);
}
