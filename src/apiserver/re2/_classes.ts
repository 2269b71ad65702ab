/** The sets of characters that a regular expression can name: `\d`, `[:alpha:]`, `\p{Greek}`. */
import type { CharacterSet } from "./_node.ts";

const digits = [0x30, 0x39];
const spaces = [0x09, 0x0a, 0x0c, 0x0d, 0x20, 0x20];
const words = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];

const perl: ReadonlyMap<string, readonly number[]> = new Map([["d", digits], ["s", spaces], ["w", words]]);

const named: ReadonlyMap<string, readonly number[]> = new Map<string, readonly number[]>([
  ["alnum", [0x30, 0x39, 0x41, 0x5a, 0x61, 0x7a]],
  ["alpha", [0x41, 0x5a, 0x61, 0x7a]],
  ["ascii", [0x00, 0x7f]],
  ["blank", [0x09, 0x09, 0x20, 0x20]],
  ["cntrl", [0x00, 0x1f, 0x7f, 0x7f]],
  ["digit", digits],
  ["graph", [0x21, 0x7e]],
  ["lower", [0x61, 0x7a]],
  ["print", [0x20, 0x7e]],
  ["punct", [0x21, 0x2f, 0x3a, 0x40, 0x5b, 0x60, 0x7b, 0x7e]],
  ["space", [0x09, 0x0d, 0x20, 0x20]],
  ["upper", [0x41, 0x5a]],
  ["word", words],
  ["xdigit", [0x30, 0x39, 0x41, 0x46, 0x61, 0x66]],
]);

/** The set of `\d`, `\S` and so on by its letter. */
export function classOf(letter: string): CharacterSet | undefined {
  const ranges = perl.get(letter.toLowerCase());
  if (ranges === undefined) return undefined;
  return { ranges, tests: [], isNegated: letter !== letter.toLowerCase(), foldsCase: false };
}

/** The set of `[:alpha:]` or `[:^alpha:]`. */
export function namedClassOf(text: string): CharacterSet | undefined {
  const isNegated = text.startsWith("[:^");
  const ranges = named.get(text.slice(isNegated ? 3 : 2, -2));
  return ranges === undefined ? undefined : { ranges, tests: [], isNegated, foldsCase: false };
}

/** Tells whether a character is of a Unicode category or script; undefined where there is none of that name. */
export function unicodeTest(name: string): ((character: number) => boolean) | undefined {
  if (name === "Any") return () => true;
  if (!/^\w+$/.test(name)) return undefined;
  for (const property of [`General_Category=${name}`, `Script=${name}`]) {
    try {
      const pattern = new RegExp(`^\\p{${property}}$`, "u");
      return (character) => pattern.test(String.fromCodePoint(character));
    } catch {
      continue;
    }
  }
  return undefined;
}
