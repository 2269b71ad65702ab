/**
 * Numbers of JSON as a client wrote them. Go decodes `1.0`, `1e0` and 2^63 into no integer, and a quantity keeps the form of its
 * number, but JSON.parse forgets both. parseLiteralJson() returns such a number as a text with a mark that no client can write,
 * which patches copy and compare like any other value; the decoder of a kind reads it, and custom resources have none.
 *
 * Guarantees: text without a number that has a fraction, an exponent or 19 digits is parsed as by parseFiniteJson().
 */
import { endOfString, parseExactJson } from "../../api/mod.ts";
import { type DraftValue, isDraft, put } from "./json.ts";

/** Begins the text of a literal. It is random, so no client can send it. */
let mark: string | undefined;

/** Looks behind the characters before a number only, because times and UIDs in strings look like such numbers. */
const unusual = /(?:^|[[,]|"\s*:)\s*-?(?:\d+[.eE]|\d{19})/;
const token = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?/y;
const [minInt64, maxInt64] = [-(2n ** 63n), 2n ** 63n - 1n];

/**
 * Parses JSON. A number that is not an int64 in digits is a text that only {@link numberLiteral} reads.
 *
 * @throws SyntaxError when it is malformed
 */
export function parseLiteralJson(text: string): unknown {
  return parseExactJson(unusual.test(text) ? marked(text) : text);
}

/** What a client wrote, for a text that stands for a number. */
export function numberLiteral(text: string): string | undefined {
  return mark !== undefined && text.startsWith(mark) ? text.slice(mark.length) : undefined;
}

/** A text for users, such as a patched object in a message: each number is what the client wrote. */
export function withLiterals(text: string): string {
  return mark === undefined ? text : text.replaceAll(new RegExp(`"${mark}([-+.\\deE]+)"`, "g"), "$1");
}

/** The value without literals, for fields that have no type. It is changed in place. */
export function withPlainNumbers(value: DraftValue): DraftValue {
  if (mark === undefined) return value;
  if (typeof value === "string") {
    const literal = numberLiteral(value);
    return literal === undefined ? value : Number(literal);
  }
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) value[index] = withPlainNumbers(item);
  } else if (isDraft(value)) {
    for (const [key, item] of Object.entries(value)) {
      const plain = withPlainNumbers(item);
      if (plain !== item) put(value, key, plain);
    }
  }
  return value;
}

function marked(text: string): string {
  mark ??= crypto.randomUUID().replaceAll("-", "").slice(0, 24);
  const parts: string[] = [];
  let copied = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '"') at = endOfString(text, at);
    else if (character === "-" || (character >= "0" && character <= "9")) {
      token.lastIndex = at;
      const found = token.exec(text);
      if (found === null) continue;
      const [literal, fraction, exponent] = found;
      const end = at + literal.length;
      // What follows a token with no separator is malformed, and so is a key without quotes: both stay as they are.
      if ((fraction !== undefined || exponent !== undefined || isBeyondInt64(literal)) && isComplete(text, end)) {
        parts.push(text.slice(copied, at), `"${mark}${literal}"`);
        copied = end;
      }
      at = end - 1;
    }
  }
  return copied === 0 ? text : parts.join("") + text.slice(copied);
}

function isBeyondInt64(digits: string): boolean {
  if (digits.length < 19) return false;
  if (digits.length > 20) return true;
  const value = BigInt(digits);
  return value < minInt64 || value > maxInt64;
}

function isComplete(text: string, end: number): boolean {
  const next = /[^ \t\r\n]/g;
  next.lastIndex = end;
  const character = next.exec(text)?.[0];
  return character === undefined || character === "," || character === "}" || character === "]";
}
