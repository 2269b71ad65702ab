/**
 * StoredObject: one state of one object, with its JSON made once and shared by the answer to the write, all GETs and all
 * watchers (kube-apiserver's cachingObject has the same purpose).
 *
 * Guarantees: nothing of it ever changes. Whoever hands a draft over to the storage gives it up.
 */
import type { JsonObject } from "../model/mod.ts";

/** One state of one object. */
export class StoredObject {
  /** Place in its collection: `namespace/name`, or `name` alone where there are no namespaces. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  /** The revision that wrote this state; `metadata.resourceVersion` says the same as text. */
  readonly revision: number;
  readonly object: JsonObject;
  /** The object as JSON text. */
  readonly json: string;

  constructor(key: string, namespace: string, revision: number, object: JsonObject) {
    this.key = key;
    this.namespace = namespace;
    this.name = namespace === "" ? key : key.slice(namespace.length + 1);
    this.revision = revision;
    this.object = object;
    this.json = JSON.stringify(object);
  }
}

/** The key of an object in its collection. */
export function storageKey(namespace: string, name: string): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}
