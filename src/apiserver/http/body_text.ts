/**
 * The bytes of a body as text, as Go reads them: a byte-order mark stays, each byte that is not UTF-8 becomes U+FFFD, and so does
 * an escaped half of a surrogate pair in JSON. Objects therefore have only text that every encoding can represent.
 */

/** A body. */
export interface BodyText {
  readonly text: string;
  /** For messages that show a byte. */
  readonly bytes: Uint8Array;
}

const encoder = new TextEncoder();

/** A body whose text is known. Few need its bytes. */
export class KnownBody implements BodyText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  get bytes(): Uint8Array {
    return encoder.encode(this.text);
  }
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lossy = new TextDecoder("utf-8", { ignoreBOM: true });

/** The text of bytes. */
export function goText(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes);
  } catch {
    return textWithReplacements(bytes);
  }
}

/** TextDecoder replaces several bytes of a cut-off character by one U+FFFD; Go replaces each of them. */
function textWithReplacements(bytes: Uint8Array): string {
  const parts: string[] = [];
  let start = 0;
  for (let at = 0; at < bytes.length;) {
    const width = characterWidth(bytes, at);
    if (width === 0) {
      parts.push(lossy.decode(bytes.subarray(start, at)), "\ufffd");
      start = at + 1;
    }
    at += width === 0 ? 1 : width;
  }
  parts.push(lossy.decode(bytes.subarray(start)));
  return parts.join("");
}

/** The number of bytes of the character at a position; 0 if there is none. */
function characterWidth(bytes: Uint8Array, at: number): number {
  const [first = 0, second = 0] = [bytes[at], bytes[at + 1]];
  if (first < 0x80) return 1;
  const width = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + width > bytes.length) return 0;
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (second < low || second > high) return 0;
  for (let next = 2; next < width; next++) if (((bytes[at + next] ?? 0) & 0xc0) !== 0x80) return 0;
  return width;
}

const surrogateEscape = /\\u[dD][89a-fA-F]/;
const escapes = /\\(?:u([dD][89abAB][\da-fA-F]{2})\\u[dD][c-fC-F][\da-fA-F]{2}|u([dD][89a-fA-F][\da-fA-F]{2})|.)/gs;

/** True for JSON with an escaped surrogate. */
export function hasSurrogateEscape(text: string): boolean {
  return text.includes("\\u") && surrogateEscape.test(text);
}

/** JSON whose escaped lone surrogates are U+FFFD. */
export function withoutLoneSurrogates(text: string): string {
  if (!hasSurrogateEscape(text)) return text;
  return text.replace(escapes, (all, _pair, lone) => lone === undefined ? all : "\\ufffd");
}
