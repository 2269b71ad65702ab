/**
 * StoredObject: one state of one object. Its JSON is written once and shared by the response to the write, all GETs and all
 * watches (cachingObject in kube-apiserver has the same purpose).
 *
 * The storage keeps the text, which takes a quarter of the memory of the object. The newest thousand states also keep
 * the object (RecentObjects), as long as they are small together; the others parse it again on access. A state never changes.
 */
import { parseExactJson, printExactJson } from "../../api/mod.ts";
import { isJsonObject, type JsonObject, read } from "../model/mod.ts";

/** One state of one object. */
export class StoredObject {
  /** The key in its collection: `namespace/name`, or `name` for a cluster-scoped object. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  /** The revision of the write, as in `metadata.resourceVersion`. */
  readonly revision: number;
  /** The object as JSON text. */
  readonly json: string;
  readonly #recent: RecentObjects | undefined;
  #object: JsonObject | undefined;
  #labels: JsonObject | undefined;

  /**
   * @param content the object, or its JSON, which is parsed on access
   * @param recent releases the object later @default the object is never released
   */
  constructor(key: string, namespace: string, revision: number, content: JsonObject | string, recent?: RecentObjects) {
    this.key = key;
    this.namespace = namespace;
    this.name = namespace === "" ? key : key.slice(namespace.length + 1);
    this.revision = revision;
    this.#recent = recent;
    if (typeof content === "string") {
      this.json = content;
      return;
    }
    this.json = printExactJson(content);
    this.#object = content;
    recent?.add(this);
  }

  get object(): JsonObject {
    if (this.#object !== undefined) return this.#object;
    const object = parseExactJson(this.json) as JsonObject;
    this.#object = object;
    this.#recent?.add(this);
    return object;
  }

  /**
   * `metadata.labels`; empty if there are none. A label selector looks at every object of a namespace: once asked for, the labels
   * stay, so that it need not parse the texts again.
   */
  get labels(): JsonObject {
    return this.#labels ??= labelsOf(this.#object ?? parseExactJson(this.json) as JsonObject);
  }

  /** Releases the object; the text stays. */
  release(): void {
    this.#object = undefined;
  }
}

const noLabels: JsonObject = Object.freeze({});

function labelsOf(object: JsonObject): JsonObject {
  const metadata = read(object, "metadata");
  const labels = isJsonObject(metadata) ? read(metadata, "labels") : undefined;
  return isJsonObject(labels) ? labels : noLabels;
}

/** The key of an object in its collection. */
export function storageKey(namespace: string, name: string): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}

/** The namespace in a key; "" for that of a cluster-scoped object, whose name has no slash. */
export function namespaceOf(key: string): string {
  return key.slice(0, Math.max(0, key.indexOf("/")));
}

/** A state that can release its object. */
interface Releasable {
  readonly json: string;
  release(): void;
}

/** Characters of JSON in the states that keep their objects: an object takes about four times the memory of its text. */
const maxRecentCharacters = 4 * 1024 * 1024;

/** The states that keep their objects, first in, first out. A state that is read again is added again. */
export class RecentObjects {
  readonly #size: number;
  /** Grows to its size, because most storages in tests have few objects. */
  readonly #ring: (Releasable | undefined)[] = [];
  #next = 0;
  /** The oldest state. */
  #first = 0;
  #count = 0;
  #characters = 0;

  /** @param size the number of states that keep their objects */
  constructor(size: number) {
    this.#size = Math.max(1, size);
  }

  /** Characters of JSON in the states that keep their objects. */
  get characters(): number {
    return this.#characters;
  }

  /** Adds a state, and releases the oldest ones when the ring is full, or its states are too large together. */
  add(state: Releasable): void {
    if (this.#count === this.#size) this.#releaseOldest();
    this.#ring[this.#next] = state;
    this.#next = (this.#next + 1) % this.#size;
    this.#count++;
    this.#characters += state.json.length;
    while (this.#characters > maxRecentCharacters && this.#count > 1) this.#releaseOldest();
  }

  #releaseOldest(): void {
    const state = this.#ring[this.#first];
    this.#ring[this.#first] = undefined;
    this.#first = (this.#first + 1) % this.#size;
    this.#count--;
    this.#characters -= state?.json.length ?? 0;
    state?.release();
  }
}
