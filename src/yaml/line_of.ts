/** lineOf(): the line of a part of a YAML document, for messages about it. */
import type { YamlDocument } from "./yaml.ts";

/** Returns the line of the deepest part of a path that the document has, from 1; for none, the first line. */
export function lineOf(document: YamlDocument, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length--) {
    const position = document.positionOf(path.slice(0, length));
    if (position !== undefined) return position.line;
  }
  return 1;
}
