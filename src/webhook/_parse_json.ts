/** JSON of strangers: bounded in depth before it is parsed, and an outcome instead of an exception. */

/** What a text holds. */
export type ParsedJson =
  | { readonly kind: "parsed"; readonly value: unknown }
  | { readonly kind: "malformed"; readonly message: string };

/** Deepest nesting. kube-apiserver itself stops at 10000, and real objects need about 20. */
const deepest = 200;

const quote = 34, backslash = 92;

/** Parses `text`. */
export function parseJson(text: string): ParsedJson {
  if (text === "") return { kind: "malformed", message: "the request body is empty" };
  if (isTooDeep(text)) return { kind: "malformed", message: `JSON is nested deeper than ${deepest}` };
  try {
    const value: unknown = JSON.parse(text);
    return { kind: "parsed", value };
  } catch {
    return { kind: "malformed", message: "the request body is not JSON" };
  }
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = endOfString(text, at);
        break;
      case 91: // [
      case 123: // {
        if (++depth > deepest) return true;
        break;
      case 93: // ]
      case 125: // }
        depth--;
        break;
    }
  }
  return false;
}

/** The index of the quote that ends the string which starts at `start`. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === backslash) slashes++;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}
