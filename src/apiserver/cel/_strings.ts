/** The library of string functions: version 2 of cel-go's `ext.Strings`, and Kubernetes' `find` and `findAll`. */
import { formatText } from "./_format.ts";
import {
  attempt,
  binary,
  type FunctionDecl,
  isAny,
  isInt,
  isList,
  isText,
  method,
  overload,
  ternary,
  unary,
} from "./functions.ts";
import { patternOf } from "./_patterns.ts";
import { dynType, intType, listOf, stringType } from "./types.ts";
import {
  CelError,
  CelList,
  codePointLength,
  itemsOf,
  noSuchOverload,
  typeNameOf,
  type Value,
  ValueList,
} from "./values.ts";

const texts = listOf(stringType);

/** The functions. */
export const stringFunctions: readonly FunctionDecl[] = [
  one("charAt", method("string_char_at_int", [stringType, intType], stringType, binary(isText, isInt, charAt))),
  {
    name: "indexOf",
    overloads: [
      method("string_index_of_string", [stringType, stringType], intType, binary(isText, isText, indexOf)),
      method(
        "string_index_of_string_int",
        [stringType, stringType, intType],
        intType,
        ternary([isText, isText, isInt], indexOfFrom),
      ),
    ],
  },
  {
    name: "lastIndexOf",
    overloads: [
      method("string_last_index_of_string", [stringType, stringType], intType, binary(isText, isText, lastIndexOf)),
      method(
        "string_last_index_of_string_int",
        [stringType, stringType, intType],
        intType,
        ternary([isText, isText, isInt], lastIndexOfFrom),
      ),
    ],
  },
  one("lowerAscii", method("string_lower_ascii", [stringType], stringType, unary(isText, lowerAscii))),
  one("upperAscii", method("string_upper_ascii", [stringType], stringType, unary(isText, upperAscii))),
  one("trim", method("string_trim", [stringType], stringType, unary(isText, (text) => trimmed(text)))),
  {
    name: "replace",
    overloads: [
      method(
        "string_replace_string_string",
        [stringType, stringType, stringType],
        stringType,
        ternary([isText, isText, isText], (text, old, by) => replaced(text, old, by, -1)),
      ),
      method(
        "string_replace_string_string_int",
        [stringType, stringType, stringType, intType],
        stringType,
        replaceSome,
      ),
    ],
  },
  {
    name: "split",
    overloads: [
      method(
        "string_split_string",
        [stringType, stringType],
        texts,
        binary(isText, isText, (text, by) => split(text, by, -1)),
      ),
      method(
        "string_split_string_int",
        [stringType, stringType, intType],
        texts,
        ternary([isText, isText, isInt], (text, by, count) => split(text, by, Number(count))),
      ),
    ],
  },
  {
    name: "substring",
    overloads: [
      method("string_substring_int", [stringType, intType], stringType, binary(isText, isInt, substring)),
      method(
        "string_substring_int_int",
        [stringType, intType, intType],
        stringType,
        ternary([isText, isInt, isInt], substring),
      ),
    ],
  },
  {
    name: "join",
    overloads: [
      method("list_join", [texts], stringType, unary(isList, (list) => join(list, ""))),
      method("list_join_string", [texts, stringType], stringType, binary(isList, isText, join)),
    ],
  },
  one(
    "format",
    method("string_format", [stringType, listOf(dynType)], stringType, binary(isText, isList, formatText)),
  ),
  one("strings.quote", overload("strings_quote", [stringType], stringType, unary(isText, quote))),
  one("find", method("string_find_string", [stringType, stringType], stringType, binary(isText, isText, find))),
  {
    name: "findAll",
    overloads: [
      method(
        "string_find_all_string",
        [stringType, stringType],
        texts,
        binary(isText, isText, (text, pattern) => findAll(text, pattern, -1n)),
      ),
      method(
        "string_find_all_string_int",
        [stringType, stringType, intType],
        texts,
        ternary([isText, isText, isInt], findAll),
      ),
    ],
  },
];

function one(name: string, only: FunctionDecl["overloads"][number]): FunctionDecl {
  return { name, overloads: [only] };
}

function outOfRange(index: bigint | number): CelError {
  return new CelError(`index out of range: ${index}`);
}

function charAt(text: string, index: bigint): Value {
  const characters = [...text];
  if (index < 0n || index > BigInt(characters.length)) return outOfRange(index);
  return characters[Number(index)] ?? "";
}

function indexOf(text: string, part: string): Value {
  return indexOfFrom(text, part, 0n);
}

function indexOfFrom(text: string, part: string, from: bigint): Value {
  if (part === "") return from;
  if (from < 0n) return outOfRange(from);
  const start = offsetOf(text, Number(from));
  if (start >= text.length) return -1n;
  const found = text.indexOf(part, start);
  return found < 0 ? -1n : BigInt(codePointLength(text.slice(0, found)));
}

function lastIndexOf(text: string, part: string): Value {
  const length = codePointLength(text);
  if (part === "") return BigInt(length);
  return length === 0 ? -1n : lastIndexOfFrom(text, part, BigInt(length - 1));
}

function lastIndexOfFrom(text: string, part: string, from: bigint): Value {
  if (part === "") return from;
  if (from < 0n) return outOfRange(from);
  const start = offsetOf(text, Number(from));
  if (start >= text.length) return -1n;
  const found = text.lastIndexOf(part, start);
  return found < 0 ? -1n : BigInt(codePointLength(text.slice(0, found)));
}

/** The UTF-16 index of a code point. */
function offsetOf(text: string, index: number): number {
  let offset = 0;
  for (let count = 0; count < index && offset < text.length; count++) {
    offset += (text.codePointAt(offset) ?? 0) > 0xffff ? 2 : 1;
  }
  return offset;
}

function lowerAscii(text: string): Value {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function upperAscii(text: string): Value {
  return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

const blanks = new Set("\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000");
for (let point = 0x2000; point <= 0x200a; point++) blanks.add(String.fromCharCode(point));

/** Without white space at both ends, as Unicode has it. */
function trimmed(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && blanks.has(text[start] ?? "")) start++;
  while (end > start && blanks.has(text[end - 1] ?? "")) end--;
  return text.slice(start, end);
}

function replaceSome(text: Value = null, old: Value = null, by: Value = null, count: Value = null): Value {
  if (!isText(text) || !isText(old) || !isText(by) || !isInt(count)) return noSuchOverload(text, old, by, count);
  return replaced(text, old, by, Number(count));
}

/** UTF-16 units a text may grow to. The cost of a call is reckoned by what goes in, so what comes out has a limit. */
const maxLength = 2 ** 24;

/** @param limit below zero for all */
function replaced(text: string, old: string, by: string, limit: number): Value {
  if (limit === 0) return text;
  const parts = old === "" ? ["", ...text] : text.split(old);
  if (old === "") parts.push("");
  const count = limit < 0 ? parts.length - 1 : Math.min(limit, parts.length - 1);
  if (text.length + count * by.length > maxLength) return new CelError("replaced string is too long");
  const tail = parts.slice(count).join(old);
  return [...parts.slice(0, count), tail].join(by);
}

/** @param limit pieces at most; below zero for all */
function split(text: string, by: string, limit: number): Value {
  if (limit === 0) return new ValueList([]);
  const parts = by === "" ? [...text] : text.split(by);
  if (limit < 0 || parts.length <= limit) return new ValueList(parts);
  return new ValueList([...parts.slice(0, limit - 1), parts.slice(limit - 1).join(by)]);
}

function substring(text: string, start: bigint, end?: bigint): Value {
  const characters = [...text];
  const length = BigInt(characters.length);
  if (end !== undefined && start > end) {
    return new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  }
  if (start < 0n || start > length) return outOfRange(start);
  if (end !== undefined && (end < 0n || end > length)) return outOfRange(end);
  return characters.slice(Number(start), end === undefined ? undefined : Number(end)).join("");
}

function join(list: CelList, by: string): Value {
  const parts: string[] = [];
  let length = list.size * by.length;
  for (const item of itemsOf(list)) {
    if (item instanceof CelError) return item;
    if (!isText(item)) return new CelError(`join: invalid input: ${isAny(item) ? typeNameOf(item) : ""}`);
    length += item.length;
    if (length > maxLength) return new CelError("joined string is too long");
    parts.push(item);
  }
  return parts.join(by);
}

const quoted: ReadonlyMap<string, string> = new Map([
  ["\x07", "\\a"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\v", "\\v"],
  ["\\", "\\\\"],
  ['"', '\\"'],
]);

function quote(text: string): Value {
  // deno-lint-ignore no-control-regex
  return `"${text.replace(/[\x07-\r\\"]/g, (character) => quoted.get(character) ?? character)}"`;
}

function find(text: string, pattern: string): Value {
  const regex = patternOf(pattern);
  if (regex instanceof CelError) return new CelError(`Illegal regex: ${regex.message}`);
  const match = regex.find(text);
  return match === undefined ? "" : text.slice(match.start, match.end);
}

function findAll(text: string, pattern: string, limit: bigint): Value {
  const regex = patternOf(pattern);
  if (regex instanceof CelError) return new CelError(`Illegal regex: ${regex.message}`);
  return attempt(() => {
    const found = regex.findAll(text, limit < 0n ? Infinity : Number(limit));
    return new ValueList(Array.from(found, (match) => text.slice(match.start, match.end)));
  });
}
