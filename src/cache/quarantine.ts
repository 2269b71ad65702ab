/**
 * Quarantine: decides what to do with a line of a watch that is not an event.
 *
 * At the first time, the line may be a damaged object or the end of an interrupted stream. So the verdict is
 * "suspect", and the stream is read again from the last good version. If the same line comes a second time at the same
 * position, it is the server's own state: the line is skipped, stored here with the key of its object where that can
 * be found out, and reported, so that all other objects stay up to date. A later good event of the key releases it.
 */
import { type ObjectKey, objectKey } from "../api/mod.ts";
import type { QuarantinedLine } from "./status.ts";

/** A malicious server must not be able to fill the memory with bad lines. */
const maxLines = 100;

/** What to do with a bad line: read the stream again, or skip the line. "quarantined": it is skipped for the first time. */
export type Verdict =
  | { readonly kind: "suspect" }
  | { readonly kind: "quarantined" | "known"; readonly line: QuarantinedLine };

/** The bad lines of one reflector. */
export class Quarantine {
  readonly #suspects = new Set<string>();
  readonly #lines = new Map<string, QuarantinedLine>();
  /** Lines of the full state that is being read. */
  #seen = new Set<string>();

  get lines(): readonly QuarantinedLine[] {
    return [...this.#lines.values()];
  }

  get size(): number {
    return this.#lines.size;
  }

  /** Decides what to do with a line. */
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

  /** A good state of `key` was read. */
  release(key: ObjectKey): void {
    for (const [id, line] of this.#lines) {
      if (line.key === key) this.#lines.delete(id);
    }
  }

  /** The server begins to send a full state. */
  beginSync(): void {
    this.#seen = new Set();
  }

  /** The full state is complete: lines that were not part of it are outdated. */
  endSync(): void {
    for (const id of this.#lines.keys()) {
      if (!this.#seen.has(id)) this.#lines.delete(id);
    }
  }
}

function makeRoom(lines: Set<string> | Map<string, unknown>): void {
  if (lines.size < maxLines) return;
  for (const oldest of lines.keys()) {
    lines.delete(oldest);
    return;
  }
}

/** Servers write metadata in alphabetical order, so the object's name is directly before its namespace. */
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

/** FNV-1a, 32 bits: distinguishes lines of the same length and position. An attacker gains nothing from a collision. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}
