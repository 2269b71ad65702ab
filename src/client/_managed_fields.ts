/**
 * Cuts `metadata.managedFields` out of JSON text before it is parsed. That bookkeeping of server-side apply is a third to
 * half of many objects, and no controller reads it; what is not parsed costs neither time nor garbage.
 *
 * Guarantees: only the `managedFields` of the objects' own metadata is cut, never one elsewhere, never a piece of a
 * string; whatever does not look exactly as kube-apiserver writes it (white space, escaped keys) stays as it is, and the
 * decoder removes it after parsing. Shown by a model test against JSON.parse.
 */

const needle = '"managedFields":[';
const metadataKey = '"metadata":';
const quote = 34, backslash = 92, comma = 44, openBrace = 123, closeBrace = 125;

/** Where objects stand: in `object` of a watch event, in `items` of a list. */
export type Envelope = "event" | "list";

/** The key that holds the object or objects, and how deep the objects' metadata is. */
const envelopes = {
  event: { key: '"object":', keyDepth: 2, metadataDepth: 3 },
  list: { key: '"items":', keyDepth: 2, metadataDepth: 4 },
} as const satisfies Record<Envelope, { key: string; keyDepth: number; metadataDepth: number }>;

/** `text` without the managedFields of the objects in it. Mistakes in what is cut go unnoticed. */
export function withoutManagedFields(text: string, envelope: Envelope): string {
  let found = text.indexOf(needle);
  if (found < 0) return text;
  const scanner = new Scanner(text, envelope);
  let kept = "";
  let keptTo = 0;
  for (; found >= 0; found = text.indexOf(needle, scanner.index)) {
    if (!scanner.advance(found)) break;
    if (scanner.index !== found) continue; // it was a piece of a string
    const start = found;
    const end = scanner.skipArray(start + needle.length);
    if (end < 0) break;
    const before = text.charCodeAt(start - 1), after = text.charCodeAt(end);
    const isCompact = (before === comma || before === openBrace) && (after === comma || after === closeBrace);
    if (!scanner.isInMetadata || !isCompact) continue;
    // One of the two commas goes along, so that what remains is JSON.
    kept += text.slice(keptTo, after !== comma && before === comma ? start - 1 : start);
    keptTo = after === comma ? end + 1 : end;
  }
  return keptTo === 0 ? text : kept + text.slice(keptTo);
}

/** Walks over JSON text, knowing how deep it is and whether it stands in an object's own metadata. */
class Scanner {
  index = 0;
  #depth = 0;
  #isInEnvelope = false;
  #isMetadata = false;
  readonly #text: string;
  readonly #envelope: (typeof envelopes)[Envelope];

  constructor(text: string, envelope: Envelope) {
    this.#text = text;
    this.#envelope = envelopes[envelope];
  }

  /** True directly inside an object's own metadata, not in a map or array of it. */
  get isInMetadata(): boolean {
    return this.#isMetadata && this.#depth === this.#envelope.metadataDepth;
  }

  /**
   * Goes to `target`. @returns false when the text ends before, in the middle of a string. When `target` lies inside a
   * string, `index` ends behind that string.
   */
  advance(target: number): boolean {
    const text = this.#text;
    let index = this.index;
    while (index < target) {
      const code = text.charCodeAt(index);
      if (code === quote) {
        index = stringEnd(text, index);
        if (index < 0) return false;
        continue;
      }
      if ((code | 32) === 123) this.#open(index, code);
      else if ((code | 32) === 125) this.#depth--;
      index++;
    }
    this.index = index;
    return true;
  }

  /** From inside an array to behind its end. @returns -1 when the text ends before. */
  skipArray(start: number): number {
    const text = this.#text;
    let depth = 1;
    for (let index = start; index < text.length;) {
      const code = text.charCodeAt(index);
      if (code === quote) {
        index = stringEnd(text, index);
        if (index < 0) return -1;
        continue;
      }
      index++;
      if ((code | 32) === 123) depth++;
      else if ((code | 32) === 125 && --depth === 0) {
        this.index = index;
        return index;
      }
    }
    return -1;
  }

  #open(index: number, code: number): void {
    const { key, keyDepth, metadataDepth } = this.#envelope;
    this.#depth++;
    if (this.#depth === keyDepth) this.#isInEnvelope = isKey(this.#text, key, index);
    else if (this.#depth === metadataDepth) {
      this.#isMetadata = this.#isInEnvelope && code === openBrace && isKey(this.#text, metadataKey, index);
    }
  }
}

/** True when `key` stands right before `index` as a whole key, not as the end of a longer one. */
function isKey(text: string, key: string, index: number): boolean {
  const start = index - key.length;
  return start > 0 && text.startsWith(key, start) && text.charCodeAt(start - 1) !== backslash;
}

/** The index behind the string that opens at `index`, or -1. */
function stringEnd(text: string, index: number): number {
  let end = text.indexOf('"', index + 1);
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? -1 : end + 1;
}

/** True when an odd number of backslashes stands before `index`. */
function isEscaped(text: string, index: number): boolean {
  let count = 0;
  while (text.charCodeAt(index - 1 - count) === backslash) count++;
  return count % 2 === 1;
}
