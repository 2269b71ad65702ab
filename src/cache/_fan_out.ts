/**
 * FanOut: tells each change to each listener, in order. Listeners may come and go while it does: the list is copied
 * when it changes, so one that comes is not told what it has already been given.
 */
import type { ObjectKey } from "../api/mod.ts";
import type { Listener } from "./_listener.ts";
import type { AddedInfo, Tombstone } from "./handler.ts";

/** All listeners of one cache. */
export class FanOut<T> {
  #listeners: readonly Listener<T>[] = [];

  get listeners(): readonly Listener<T>[] {
    return this.#listeners;
  }

  add(listener: Listener<T>): void {
    this.#listeners = [...this.#listeners, listener];
  }

  remove(listener: Listener<T>): void {
    this.#listeners = this.#listeners.filter((other) => other !== listener);
  }

  /** Adds and deletions of one full state go to those who were there when it came. */
  added(object: T, info: AddedInfo, listeners = this.#listeners): void {
    for (const listener of listeners) listener.added(object, info);
  }

  updated(old: T, current: T, listeners = this.#listeners): void {
    for (const listener of listeners) listener.updated(old, current);
  }

  deleted(key: ObjectKey, last: { readonly lastKnown: T; readonly seen: boolean }, listeners = this.#listeners): void {
    if (listeners.length === 0) return;
    const tombstone: Tombstone<T> = { key, lastKnown: last.lastKnown, seen: last.seen };
    for (const listener of listeners) listener.deleted(tombstone);
  }
}

/** Shared, so that an add costs no allocation. */
export const initialAdd: AddedInfo = Object.freeze({ initial: true });
export const liveAdd: AddedInfo = Object.freeze({ initial: false });
