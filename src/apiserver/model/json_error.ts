/**
 * jsonError(): why a text is not JSON, with the messages of Go's encoding/json, because users search for them.
 */

/** What must follow in the text. */
type Expected = "value" | "keyOrEnd" | "key" | "colon" | "memberEnd" | "itemOrEnd" | "itemEnd" | "nothing";

const contexts: Readonly<Record<Exclude<Expected, "nothing">, string>> = {
  value: "looking for beginning of value",
  itemOrEnd: "looking for beginning of value",
  keyOrEnd: "looking for beginning of object key string",
  key: "looking for beginning of object key string",
  colon: "after object key",
  memberEnd: "after object key:value pair",
  itemEnd: "after array element",
};

const endOfInput = "unexpected end of JSON input";

/**
 * The error of Go for a text that JSON.parse does not accept, or that has a number outside of a float64.
 *
 * @param bytes of the text, if they are known: they may not be UTF-8
 */
export function jsonError(text: string, bytes?: Uint8Array): string {
  return textError(isAscii.test(text) ? text : bytewise(bytes ?? new TextEncoder().encode(text)));
}

const isAscii = /^[\0-\x7f]*$/;

/** Go's scanner sees bytes, and shows each as the character with this number. */
function bytewise(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += 8_192) parts.push(String.fromCharCode(...bytes.subarray(at, at + 8_192)));
  return parts.join("");
}

function textError(text: string): string {
  const open: ("{" | "[")[] = [];
  let expected: Expected = "value";
  let at = 0;
  while (true) {
    while (at < text.length && " \t\r\n".includes(text.charAt(at))) at++;
    if (at >= text.length) return endOfInput;
    const character = text.charAt(at);
    if (expected === "nothing") return invalidCharacter(text, at, "after top-level value");
    const step = next(text, at, expected, open);
    if (step === undefined) return invalidCharacter(text, at, contexts[expected]);
    if (typeof step === "string") return step;
    at = step.at;
    expected = step.expected;
    if (character === "" || open.length > 100_000) return endOfInput;
  }
}

type Step = { readonly at: number; readonly expected: Expected };

/** Reads one token; undefined when the character is not allowed here, an error message when the token is malformed. */
function next(text: string, at: number, expected: Expected, open: ("{" | "[")[]): Step | string | undefined {
  const character = text.charAt(at);
  switch (expected) {
    case "key":
    case "keyOrEnd":
      if (character === "}" && expected === "keyOrEnd") return closed(at, open);
      return character === '"' ? afterString(text, at, "colon") : undefined;
    case "colon":
      return character === ":" ? { at: at + 1, expected: "value" } : undefined;
    case "memberEnd":
      if (character === "}") return closed(at, open);
      return character === "," ? { at: at + 1, expected: "key" } : undefined;
    case "itemEnd":
      if (character === "]") return closed(at, open);
      return character === "," ? { at: at + 1, expected: "value" } : undefined;
    case "itemOrEnd":
      return character === "]" ? closed(at, open) : value(text, at, open);
    case "value":
      return value(text, at, open);
    case "nothing":
      return undefined;
    default:
      return expected satisfies never;
  }
}

function value(text: string, at: number, open: ("{" | "[")[]): Step | string | undefined {
  const character = text.charAt(at);
  if (character === "{" || character === "[") {
    open.push(character);
    return { at: at + 1, expected: character === "{" ? "keyOrEnd" : "itemOrEnd" };
  }
  if (character === '"') return afterString(text, at, afterValue(open));
  if (character === "-" || (character >= "0" && character <= "9")) return afterNumber(text, at, open);
  for (const literal of ["true", "false", "null"]) {
    if (character === literal.charAt(0)) return afterLiteral(text, at, literal, open);
  }
  return undefined;
}

function closed(at: number, open: ("{" | "[")[]): Step {
  open.pop();
  return { at: at + 1, expected: afterValue(open) };
}

function afterValue(open: readonly ("{" | "[")[]): Expected {
  const inner = open.at(-1);
  return inner === undefined ? "nothing" : inner === "{" ? "memberEnd" : "itemEnd";
}

function afterString(text: string, start: number, expected: Expected): Step | string {
  for (let at = start + 1; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '"') return { at: at + 1, expected };
    if (character < " ") return invalidCharacter(text, at, "in string literal");
    if (character !== "\\") continue;
    at++;
    const escaped = text.charAt(at);
    if (escaped === "") return endOfInput;
    if (!'"\\/bfnrtu'.includes(escaped)) return invalidCharacter(text, at, "in string escape code");
    if (escaped !== "u") continue;
    for (let digit = 0; digit < 4; digit++) {
      at++;
      if (at >= text.length) return endOfInput;
      if (!/[0-9a-fA-F]/.test(text.charAt(at))) {
        return invalidCharacter(text, at, "in \\u hexadecimal character escape");
      }
    }
  }
  return endOfInput;
}

function afterLiteral(text: string, start: number, literal: string, open: readonly ("{" | "[")[]): Step | string {
  for (let index = 1; index < literal.length; index++) {
    const at = start + index;
    if (at >= text.length) return endOfInput;
    if (text.charAt(at) !== literal.charAt(index)) {
      return invalidCharacter(text, at, `in literal ${literal} (expecting '${literal.charAt(index)}')`);
    }
  }
  return { at: start + literal.length, expected: afterValue(open) };
}

function afterNumber(text: string, start: number, open: readonly ("{" | "[")[]): Step | string {
  const rest = text.slice(start, start + 400);
  const whole = /^-?(0|[1-9][0-9]*)/.exec(rest);
  if (whole === null) return numberError(text, start + 1, "in numeric literal");
  let at = start + whole[0].length;
  if (text.charAt(at) === ".") {
    const digits = /^[0-9]+/.exec(text.slice(at + 1, at + 400));
    if (digits === null) return numberError(text, at + 1, "after decimal point in numeric literal");
    at += 1 + digits[0].length;
  }
  if (text.charAt(at) === "e" || text.charAt(at) === "E") {
    const signed = /^[+-]?/.exec(text.slice(at + 1, at + 2))?.[0].length ?? 0;
    const digits = /^[0-9]+/.exec(text.slice(at + 1 + signed, at + 400));
    if (digits === null) return numberError(text, at + 1 + signed, "in exponent of numeric literal");
    at += 1 + signed + digits[0].length;
  }
  const number = text.slice(start, at);
  if (!Number.isFinite(Number(number))) return `json: cannot unmarshal number ${number} into Go value of type float64`;
  return { at, expected: afterValue(open) };
}

function numberError(text: string, at: number, context: string): string {
  return at >= text.length ? endOfInput : invalidCharacter(text, at, context);
}

function invalidCharacter(text: string, at: number, context: string): string {
  return `invalid character ${quoted(text.charAt(at))} ${context}`;
}

/** As strconv.Quote writes it, in single quotes. */
function quoted(character: string): string {
  if (character === "'") return `'\\''`;
  if (character === '"') return `'"'`;
  const code = character.charCodeAt(0);
  const named = new Map([["\n", "\\n"], ["\r", "\\r"], ["\t", "\\t"], ["\\", "\\\\"]]).get(character);
  if (named !== undefined) return `'${named}'`;
  if (code < 0x20 || code === 0x7f) return `'\\x${code.toString(16).padStart(2, "0")}'`;
  // Not printable for Go: controls, the no-break space and the soft hyphen.
  if (code > 0x7f && (code <= 0xa0 || code === 0xad)) return `'\\u00${code.toString(16)}'`;
  return `'${character}'`;
}
