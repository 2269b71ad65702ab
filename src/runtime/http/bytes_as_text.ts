/**
 * Bytes as text: base64, base64url and hexadecimal, which Uint8Array of Node 22 and 24 cannot read or write.
 *
 * Guarantees: the same on all runtimes. Reading is as strict as `Uint8Array.fromBase64`: white space and a missing
 * padding are allowed, any other character is an error.
 */
import { Buffer } from "node:buffer";

/** The alphabets of RFC 4648. */
export type Base64Alphabet = "base64" | "base64url";

/** Writes bytes, or the UTF-8 of a text, in base64. In base64url there is no padding. */
export function toBase64(content: Uint8Array | string, alphabet: Base64Alphabet = "base64"): string {
  return bufferOf(content).toString(alphabet);
}

/** Reads base64. @throws SyntaxError when the text is malformed */
export function fromBase64(text: string, alphabet: Base64Alphabet = "base64"): Uint8Array<ArrayBuffer> {
  const compact = text.replaceAll(/[\t\n\f\r ]/g, "");
  const digits = compact.replace(/={1,2}$/, "");
  const invalid = alphabet === "base64" ? /[^A-Za-z0-9+/]/ : /[^A-Za-z0-9_-]/;
  const isPadded = compact.length !== digits.length;
  if (invalid.test(digits) || digits.length % 4 === 1 || isPadded && compact.length % 4 !== 0) {
    throw new SyntaxError(`Cannot read ${alphabet}: the text is malformed`);
  }
  return new Uint8Array(Buffer.from(digits, alphabet));
}

/** Writes bytes as hexadecimal digits in lower case. */
export function toHex(bytes: Uint8Array): string {
  return bufferOf(bytes).toString("hex");
}

function bufferOf(content: Uint8Array | string): Buffer {
  return typeof content === "string"
    ? Buffer.from(content, "utf8")
    : Buffer.from(content.buffer, content.byteOffset, content.byteLength);
}
