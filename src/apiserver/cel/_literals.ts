/** From the tokens of numbers and strings to their values. */

/** An int; undefined when it does not fit into 64 bits. */
export function parseInt64(text: string): bigint | undefined {
  const isNegative = text.startsWith("-");
  const value = isNegative ? -BigInt(text.slice(1)) : BigInt(text);
  return value >= -(2n ** 63n) && value < 2n ** 63n ? value : undefined;
}

/** A uint without its `u`; undefined when it does not fit into 64 bits. */
export function parseUint64(text: string): bigint | undefined {
  const value = BigInt(text);
  return value < 2n ** 64n ? value : undefined;
}

const simpleEscapes: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/** The inside of a quoted token, and whether its escapes stay as they are. */
function bodyOf(token: string): { body: string; isRaw: boolean } {
  const isRaw = /^[rR]/.test(token);
  const quoted = (isRaw ? token.slice(1) : token).replace(/\r\n?/g, "\n");
  const width = quoted.startsWith('"""') || quoted.startsWith("'''") ? 3 : 1;
  return { body: quoted.slice(width, quoted.length - width), isRaw };
}

const escapePattern = /\\(?:([xX])([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|([^]))/g;

/** The value of a string token; undefined for an escape that is no code point. */
export function parseText(token: string): string | undefined {
  const { body, isRaw } = bodyOf(token);
  if (isRaw || !body.includes("\\")) return body;
  let isWrong = false;
  const value = body.replace(escapePattern, (_all, _x, hex, short, long, octal, letter) => {
    if (letter !== undefined) return simpleEscapes[letter] ?? letter;
    const point = octal !== undefined ? parseInt(octal, 8) : parseInt(hex ?? short ?? long, 16);
    if (point > 0x10ffff || point >= 0xd800 && point < 0xe000) isWrong = true;
    return isWrong ? "" : String.fromCodePoint(point);
  });
  return isWrong ? undefined : value;
}

/** The value of a bytes token; undefined for an escape that bytes do not have. */
export function parseBytes(token: string): Uint8Array | undefined {
  const { body, isRaw } = bodyOf(token.slice(1));
  const encoder = new TextEncoder();
  if (isRaw || !body.includes("\\")) return encoder.encode(body);
  const parts: number[] = [];
  let at = 0;
  for (const found of body.matchAll(escapePattern)) {
    parts.push(...encoder.encode(body.slice(at, found.index)));
    const [, , hex, short, long, octal, letter] = found;
    if (short !== undefined || long !== undefined) return undefined;
    if (letter !== undefined) parts.push(...encoder.encode(simpleEscapes[letter] ?? letter));
    else parts.push(octal !== undefined ? parseInt(octal, 8) : parseInt(hex ?? "", 16));
    at = found.index + found[0].length;
  }
  parts.push(...encoder.encode(body.slice(at)));
  return new Uint8Array(parts);
}
