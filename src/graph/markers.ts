/**
 * The markers of a field in SimpleSchema: `default="a b" minimum=1`. A value is a word, a text in double quotes, or JSON in
 * brackets.
 */
import { GraphError, type Place } from "./graph_error.ts";

/** One marker with its value, without quotes. */
export interface Marker {
  readonly name: string;
  readonly value: string;
}

const known = new Set([
  ...["required", "default", "description", "validation", "immutable"],
  ...["minimum", "maximum", "enum", "pattern", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems"],
]);

/** @throws GraphError when a marker is unknown, or has no value */
export function markersOf(text: string, place: Place): readonly Marker[] {
  const markers: Marker[] = [];
  let rest = text.trim();
  while (rest !== "") {
    const name = /^([A-Za-z]+)\s*=\s*/.exec(rest);
    if (name?.[1] === undefined) throw new GraphError(place, `"${rest}" is no marker. Write name=value`);
    if (!known.has(name[1])) {
      throw new GraphError(place, `the marker "${name[1]}" is unknown. Use one of ${[...known].join(", ")}`);
    }
    rest = rest.slice(name[0].length);
    const end = endOfValue(rest);
    if (end === undefined) {
      throw new GraphError(place, `the value of ${name[1]} does not end. Close its quotes and brackets`);
    }
    markers.push({ name: name[1], value: unquoted(rest.slice(0, end)) });
    rest = rest.slice(end).trim();
  }
  return markers;
}

/** The index behind a value: the first space outside of quotes and brackets. */
function endOfValue(text: string): number | undefined {
  let [depth, isQuoted] = [0, false];
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? "";
    if (isQuoted && character === "\\") at++;
    else if (character === '"') isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if ("[{".includes(character)) depth++;
    else if ("]}".includes(character)) depth--;
    else if (/\s/.test(character) && depth === 0) return at;
  }
  return isQuoted || depth !== 0 ? undefined : text.length;
}

function unquoted(text: string): string {
  const inside = /^"(.*)"$/s.exec(text)?.[1];
  return inside === undefined ? text : inside.replace(/\\(.)/gs, "$1");
}
