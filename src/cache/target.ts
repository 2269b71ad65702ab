/**
 * ReflectorTarget: what a reflector writes to, as a kube-rs Writer. The cache implements it; tests implement it too.
 */
import type { ObjectKey, ResourceVersion } from "../api/mod.ts";

/** Takes single changes, in the server's order. */
export interface ChangeSink<T> {
  /**
   * Takes an object that was added or modified.
   *
   * @returns its version; undefined when it is not an object of this cache and was passed over.
   */
  upsert(object: T): ResourceVersion | undefined;
  /** Takes the final state of an object that was deleted. Returns as {@link upsert}. */
  remove(object: T): ResourceVersion | undefined;
}

/** A full state that is being collected and that nobody sees before the commit. Letting go of it discards it. */
export interface Replacement<T> extends ChangeSink<T> {
  /** Objects collected so far. */
  readonly size: number;
  /** Keeps what is there under `key`: its present state came, and could not be read. */
  retain(key: ObjectKey): void;
  /** Puts the collected state in the place of all there was, in one step. */
  commit(version: ResourceVersion): void;
}

/** Where a reflector keeps the state that it mirrors. */
export interface ReflectorTarget<T> extends ChangeSink<T> {
  beginReplace(): Replacement<T>;
  /** Everything up to `version` has been taken. */
  reached(version: ResourceVersion): void;
  /** The resource no longer exists: nothing of it can be there. */
  clear(): void;
  /** For the consistency check in tests: keys and objects as they are now. */
  entries(): ReadonlyMap<ObjectKey, T>;
}
