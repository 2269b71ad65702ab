/**
 * StoredObject: one state of one object, with its JSON made once and shared by the answer to the write, all GETs and all
 * watchers (kube-apiserver's cachingObject has the same purpose).
 *
 * The text is what is kept: it takes a quarter of the memory of the object itself. Objects that were not looked at lately
 * are let go (see _recent_objects.ts) and read again from the text when somebody asks; nothing of a state ever changes.
 */
import type { JsonObject } from "../model/mod.ts";
import type { RecentObjects } from "./_recent_objects.ts";

/** One state of one object. */
export class StoredObject {
  /** Place in its collection: `namespace/name`, or `name` alone where there are no namespaces. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  /** The revision that wrote this state; `metadata.resourceVersion` says the same as text. */
  readonly revision: number;
  /** The object as JSON text. */
  readonly json: string;
  readonly #recent: RecentObjects | undefined;
  #object: JsonObject | undefined;

  /** @param recent decides how long the object itself is kept @default for as long as this is */
  constructor(key: string, namespace: string, revision: number, object: JsonObject, recent?: RecentObjects) {
    this.key = key;
    this.namespace = namespace;
    this.name = namespace === "" ? key : key.slice(namespace.length + 1);
    this.revision = revision;
    this.json = JSON.stringify(object);
    this.#recent = recent;
    this.#object = object;
    recent?.add(this);
  }

  get object(): JsonObject {
    if (this.#object !== undefined) return this.#object;
    const object: JsonObject = JSON.parse(this.json);
    this.#object = object;
    this.#recent?.add(this);
    return object;
  }

  /** Lets the object go; the text stays. */
  release(): void {
    this.#object = undefined;
  }
}

/** The key of an object in its collection. */
export function storageKey(namespace: string, name: string): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}
