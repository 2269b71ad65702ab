/**
 * templateHash(): the short word that tells one Pod template from another, as names of ReplicaSets and labels carry it.
 *
 * FNV-1a over the template's text with its keys in order. The letters are those Kubernetes uses, which spell no words.
 */
const letters = "bcdfghjklmnpqrstvwxz2456789";

/** The text of a value that is the same for equal values, whatever the order of their keys. */
export function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => {
    if (typeof item !== "object" || item === null || Array.isArray(item)) return item;
    const entries = Object.entries(item).filter(([, inner]) => inner !== undefined);
    return Object.fromEntries(entries.sort(([left], [right]) => left < right ? -1 : 1));
  });
}

/** @param collisions how often the word met another template of the same word */
export function templateHash(template: unknown, collisions = 0): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(`${canonicalText(template)}${collisions === 0 ? "" : collisions}`)) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return [...hash.toString()].map((digit) => letters[digit.charCodeAt(0) % letters.length]).join("");
}
