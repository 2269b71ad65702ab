/** Whether an error of a rule is held against the writer: not where the value, or what it stands in, did not change. */
import type { Correlation } from "./correlation.ts";

/** Where a walk over an object is in the old and the new state. */
export interface Ratchet {
  /** Undefined where there is no old value to compare with. */
  readonly current: Correlation | undefined;
  /** The nearest value above that has an old one. */
  readonly parent: Correlation | undefined;
}

/** The ratchet of a whole object. */
export function rootRatchet(link: Correlation): Ratchet {
  return { current: link, parent: undefined };
}

/** True when errors here are dropped. */
export function ratchets(ratchet: Ratchet | undefined): boolean {
  if (ratchet === undefined) return false;
  return (ratchet.current ?? ratchet.parent)?.isEqual === true;
}

/** The ratchet of a field. */
export function ratchetOfKey(ratchet: Ratchet | undefined, name: string): Ratchet | undefined {
  if (ratchet?.current === undefined) return ratchet;
  if (ratchet.parent === undefined && (name === "apiVersion" || name === "kind")) return undefined;
  return { current: ratchet.current.key(name), parent: ratchet.current };
}

/** The ratchet of an item. */
export function ratchetOfItem(ratchet: Ratchet | undefined, index: number): Ratchet | undefined {
  if (ratchet?.current === undefined) return ratchet;
  return { current: ratchet.current.index(index), parent: ratchet.current };
}

/** The ratchet of what stands under allOf: only the value above counts. */
export function ratchetOfAllOf(ratchet: Ratchet | undefined): Ratchet | undefined {
  return ratchet === undefined ? undefined : { current: undefined, parent: ratchet.parent };
}
