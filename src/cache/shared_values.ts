/**
 * SharedValues: equal parts of cached objects become one value: labels, annotations and owner references, the spec of the
 * Pods of many Deployments, the tolerations of most Pods. A parser makes new ones for each object. Which parts are equal is
 * learned for each place in the objects of a cache: where values are rarely equal, as in most specs as a whole, only the parts
 * inside are looked at.
 *
 *   ObjectFilter -> SharedValues -> Store
 *
 * The first 4,096 objects of a cache stay as they are.
 *
 * Guarantees: a shared value is frozen with all its fields, and equal to what the server sent. Places and values are bounded;
 * values that nothing was equal to for long are forgotten. A value of more than 4,096 characters or 256 fields is not shared.
 * Caveats: of two values with one hash only the latest is shared.
 */
import type { KubeObject } from "../api/mod.ts";
import { deepFreeze } from "./transform.ts";
import { type Content, equalFields, fingerprintOf, isContent } from "./value_equality.ts";

/** A cache that has seen fewer objects has little to save, and its process is still compiling its code. */
const unsharedObjects = 4_096;
/** Most values of a generation, of which there are two, and most places. */
const maxValues = 8_192;
const maxPlaces = 1_024;
/** Fields or items of a value that are looked at, and how deep. */
const maxInner = 64;
const maxDepth = 16;
/** Names of the fields at one place. With more of them, it is a map whose names say which object it belongs to. */
const maxNames = 64;
/**
 * After so many values it is decided whether they are equal often enough: every fourth one. Labels and annotations have more
 * different values than other parts.
 */
const usualSample = 256;
const labelsSample = 2 * maxValues;
/** So many samples are left out where values are rarely equal, until the next one. */
const pausedSamples = 32;
/** A place is asked now and then whether there is anything to do inside. */
const checkEvery = 64;

/** A value that others may be equal to. */
interface Known {
  readonly value: Content;
  readonly fields: number;
}

/** The values that the objects of one cache share. */
export class SharedValues {
  #known = new Map<number, Known>();
  /** The generation before. To delete single values from one Map would take longer with each deletion. */
  #older: ReadonlyMap<number, Known> = new Map();
  readonly #root = new Place(0, usualSample);
  readonly #metadata = new Place(1, usualSample);
  #places = 2;
  #namespace: string | undefined;
  #unshared: number;

  /** @param unshared So many objects stay as they are, except for their types and namespace. */
  constructor(unshared = unsharedObjects) {
    this.#unshared = unshared;
  }

  /**
   * Replaces parts of an object by equal ones of earlier objects. The object itself is changed, because a copy would
   * need the memory that this saves; an object that is frozen stays as it is.
   *
   * @param types The apiVersion and kind of all objects. @default those of the object
   */
  share<T extends KubeObject>(object: T, types?: Pick<KubeObject, "apiVersion" | "kind">): T {
    if (Object.isFrozen(object) || Object.isFrozen(object.metadata)) return object;
    const writable: { apiVersion: string; kind: string; readonly metadata: { namespace?: string } } = object;
    const { metadata } = writable;
    if (types !== undefined && object.kind === types.kind && object.apiVersion === types.apiVersion) {
      writable.apiVersion = types.apiVersion;
      writable.kind = types.kind;
    }
    if (metadata.namespace !== undefined) {
      if (metadata.namespace === this.#namespace) metadata.namespace = this.#namespace;
      else this.#namespace = metadata.namespace;
    }
    if (this.#unshared > 0) {
      this.#unshared--;
      return object;
    }
    this.#shareFields(metadata as Record<string, unknown>, this.#metadata, 1);
    this.#shareFields(object as unknown as Record<string, unknown>, this.#root, 1, object.metadata);
    return object;
  }

  /** The value, or an equal one. */
  #shared(value: Content, place: Place, depth: number): Content {
    if (place.isClosed || place.isAtRest() || Object.isFrozen(value)) return value;
    if (place.isSampled()) {
      const equal = this.#equalTo(value, place);
      place.count(equal !== undefined);
      if (equal !== undefined) return equal;
    }
    if (depth < maxDepth) {
      if (Array.isArray(value)) this.#shareItems(value, place, depth + 1);
      else this.#shareFields(value, place, depth + 1);
    }
    place.restIfIdle();
    return value;
  }

  /**
   * An earlier value that is equal, frozen: not sooner, because to freeze one costs memory, too. The given one is kept for later
   * ones, if there is none.
   */
  #equalTo(value: Content, place: Place): Content | undefined {
    const { latest } = place;
    if (latest !== undefined && equalFields(latest.value, value) === latest.fields) return deepFreeze(latest.value);
    const fingerprint = fingerprintOf(value, place.id);
    if (fingerprint === undefined) return undefined;
    const { hash, fields } = fingerprint;
    const known = this.#known.get(hash) ?? this.#older.get(hash);
    const isEqual = known !== undefined && equalFields(known.value, value) === known.fields;
    place.latest = isEqual ? known : place.latest;
    this.#keep(hash, isEqual ? known : { value, fields });
    return isEqual ? deepFreeze(known.value) : undefined;
  }

  #keep(hash: number, known: Known): void {
    this.#known.set(hash, known);
    if (this.#known.size < maxValues) return;
    this.#older = this.#known;
    this.#known = new Map();
  }

  /** @param except a value that stays as it is */
  #shareFields(value: Record<string, unknown>, place: Place, depth: number, except?: unknown): void {
    let left = maxInner;
    // deno-lint-ignore guard-for-in -- what a parser made inherits nothing, and a check costs as much as the rest
    for (const name in value) {
      if (left-- <= 0) return;
      const inner = value[name];
      if (typeof inner !== "object" || inner === except || !isContent(inner)) continue;
      const within = this.#placeIn(place, name);
      if (within === undefined) continue;
      const shared = this.#shared(inner, within, depth);
      if (shared !== inner) value[name] = shared;
    }
  }

  #shareItems(value: unknown[], place: Place, depth: number): void {
    const items = this.#placeIn(place, "");
    const length = Math.min(value.length, maxInner);
    for (let index = 0; index < length && items !== undefined; index++) {
      const item = value[index];
      if (!isContent(item)) continue;
      const shared = this.#shared(item, items, depth);
      if (shared !== item) value[index] = shared;
    }
  }

  /** The place of a field, or of the items of a list. @returns undefined when there are too many */
  #placeIn(place: Place, name: string): Place | undefined {
    const known = place.inner.get(name);
    if (known !== undefined || place.isClosed || this.#places >= maxPlaces || name === "__proto__") return known;
    if (place.inner.size >= maxNames) {
      this.#places -= place.close();
      return undefined;
    }
    const isLabels = place === this.#metadata && (name === "labels" || name === "annotations");
    const added = new Place(this.#places++, isLabels ? labelsSample : usualSample);
    place.inner.set(name, added);
    return added;
  }
}

/** A place in the objects of a cache, as `spec.template.spec`. */
class Place {
  readonly id: number;
  readonly sample: number;
  readonly inner = new Map<string, Place>();
  /** The value that others were equal to last: often the next one is, too. */
  latest: Known | undefined;
  #isSharing = true;
  /** Values of the sample, or of the pause. */
  #seen = 0;
  #equal = 0;
  #visits = 0;
  /** Values that are left alone with all that is in them. */
  #resting = 0;
  #isClosed = false;

  constructor(id: number, sample: number) {
    this.id = id;
    this.sample = sample;
  }

  /** True if no value of this place is looked at any more. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * Looks at no value any more: a runtime keeps what it learns of each set of names, as for managedFields with a UID as a
   * name. @returns the number of places inside
   */
  close(): number {
    this.#isClosed = true;
    this.#isSharing = false;
    this.latest = undefined;
    const places = this.inner.values().reduce((sum, inner) => sum + 1 + inner.close(), 0);
    this.inner.clear();
    return places;
  }

  /** True if neither this value nor anything in it is to be looked at. Counts the value. */
  isAtRest(): boolean {
    if (this.#resting === 0) return false;
    this.#resting--;
    return true;
  }

  /** True if this value is to be compared with earlier ones. Counts it. */
  isSampled(): boolean {
    if (this.#isSharing) return true;
    if (++this.#seen < this.#pause) return false;
    this.#seen = 0;
    this.#isSharing = true;
    return true;
  }

  /** Counts a value that was compared. */
  count(isEqual: boolean): void {
    if (isEqual) this.#equal++;
    if (++this.#seen < this.sample) return;
    this.#isSharing = this.#equal >= this.sample / 4;
    if (!this.#isSharing) this.latest = undefined;
    this.#seen = this.#equal = 0;
  }

  /** Leaves the next values alone, if there is nothing to share here and inside. */
  restIfIdle(): void {
    if (this.#isSharing || ++this.#visits % checkEvery !== 0) return;
    for (const inner of this.inner.values()) {
      if (!inner.#isClosed && (inner.#isSharing || (inner.#resting === 0 && inner.inner.size > 0))) return;
    }
    this.#wakeWithSample();
    this.#resting = this.#pause;
  }

  /** The next value that is looked at begins a sample, here and inside. */
  #wakeWithSample(): void {
    this.#resting = 0;
    this.#seen = this.#pause;
    for (const inner of this.inner.values()) inner.#wakeWithSample();
  }

  /** Values that are left out between two samples. */
  get #pause(): number {
    return this.sample * pausedSamples;
  }
}
