/**
 * Quarantine: what to do with a line that is not an event.
 *
 * The first time, nobody can tell a poisoned object from a stream that was cut, so the answer is "suspect": the
 * stream is read again from the last good version. The same line at the same position a second time is the server's
 * own state: it is passed over, kept here with the key of its object where that can be told, and reported, so that
 * all other objects go on. A later good event of the key releases it.
 */
import { type ObjectKey, objectKey } from "../api/mod.ts";
import type { QuarantinedLine } from "./status.ts";

/** A hostile server must not fill the memory with bad lines. */
const most = 100;

/** What to do with a bad line: read the stream again, or pass over it; "quarantined" says that this is news. */
export type Verdict =
  | { readonly kind: "suspect" }
  | { readonly kind: "quarantined" | "known"; readonly line: QuarantinedLine };

/** The bad lines of one reflector. */
export class Quarantine {
  readonly #suspects = new Set<string>();
  readonly #lines = new Map<string, QuarantinedLine>();
  #seen = new Set<string>();

  get lines(): readonly QuarantinedLine[] {
    return [...this.#lines.values()];
  }

  get size(): number {
    return this.#lines.size;
  }

  /** Decides about a line. */
  inspect(line: string, found: Omit<QuarantinedLine, "key">): Verdict {
    const id = `${found.after} ${line.length} ${hash(line)}`;
    const known = this.#lines.get(id);
    if (known !== undefined) {
      this.#seen.add(id);
      return { kind: "known", line: known };
    }
    if (!this.#suspects.delete(id)) {
      makeRoom(this.#suspects);
      this.#suspects.add(id);
      return { kind: "suspect" };
    }
    makeRoom(this.#lines);
    const quarantined: QuarantinedLine = { ...found, key: keyIn(line) };
    this.#lines.set(id, quarantined);
    this.#seen.add(id);
    return { kind: "quarantined", line: quarantined };
  }

  /** A good state of `key` has come. */
  release(key: ObjectKey): void {
    for (const [id, line] of this.#lines) {
      if (line.key === key) this.#lines.delete(id);
    }
  }

  /** The server begins to send a full state. */
  beginSync(): void {
    this.#seen = new Set();
  }

  /** The full state has come: lines that were not part of it are history. */
  endSync(): void {
    for (const id of this.#lines.keys()) {
      if (!this.#seen.has(id)) this.#lines.delete(id);
    }
  }
}

function makeRoom(kept: Set<string> | Map<string, unknown>): void {
  if (kept.size < most) return;
  for (const oldest of kept.keys()) {
    kept.delete(oldest);
    return;
  }
}

/** Servers write metadata in alphabetical order, so the object's own name stands right before its namespace. */
const namespacedName = /"name":"([a-z0-9.:-]{1,253})","namespace":"([a-z0-9-]{1,63})"/;
const clusterName = /"name":"([a-z0-9.:-]{1,253})","(?:ownerReferences|resourceVersion|uid)":/;

function keyIn(line: string): ObjectKey | undefined {
  const namespaced = namespacedName.exec(line);
  if (namespaced?.[1] !== undefined && namespaced[2] !== undefined) {
    return objectKey({ name: namespaced[1], namespace: namespaced[2] });
  }
  const name = clusterName.exec(line)?.[1];
  return name === undefined ? undefined : objectKey({ name });
}

/** FNV-1a, 32 bits: tells lines of one length and position apart; an adversary gains nothing by a collision. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}
