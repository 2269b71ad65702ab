/** How large a regular expression becomes as a program: Go refuses what would be too large, and so does this. */
import type { RegexNode } from "./_node.ts";

/** How many copies of its innermost item a counted repetition is. */
export function repeatsOf(node: RegexNode): number {
  switch (node.kind) {
    case "repeat": {
      const times = node.max === Infinity ? node.min : node.max;
      return Math.max(times, 1) * repeatsOf(node.item);
    }
    case "sequence":
    case "choice":
      return Math.max(1, ...node.items.map(repeatsOf));
    default:
      return 1;
  }
}

/** How many places of a program it takes. */
export function sizeOf(node: RegexNode): number {
  switch (node.kind) {
    case "sequence":
    case "choice":
      return node.items.reduce((size, item) => size + 2 + sizeOf(item), 0);
    case "repeat":
      return (node.max === Infinity ? node.min + 1 : Math.max(node.max, 1)) * (sizeOf(node.item) + 2);
    default:
      return 1;
  }
}
