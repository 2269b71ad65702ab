/**
 * The Huffman code of HPACK (RFC 7541, appendix B): its decoder. The code is canonical, so the lengths of its 257 codes
 * are all that must be stored.
 *
 * Guarantees: a code for the end of the string, and padding that is longer than 7 bits or not all ones, are refused.
 */
import { ConnectionError, errorCodes } from "./errors.ts";

/** The bits of the codes of the bytes 0 to 255: runs of `LENGTH` or `LENGTHxCOUNT`. */
const lengthRuns = "13 23 28x7 24 30 28x2 30 28x8 30 28x9 " + // 0-31
  "6 10x2 12 13 6 8 11 10x2 8 11 8 6x3 5x3 6x7 7 8 15 6 12 10 " + // 32-63
  "13 6 7x22 8 7 8 13 19 13 14 6 " + // 64-95
  "15 5 6 5 6 5 6x3 5 7x2 6x3 5 6 7 6 5x2 6 7x5 15 11 14 13 28 " + // 96-127
  "20 22 20x2 22x3 23 22 23x5 24 23 24x2 22 23 24 23x4 21 22 23 22 23x2 24 " + // 128-159
  "22 21 20 22x2 23x2 21 23 22x2 24 21 22 23x2 21x2 22 21 23 22 23x2 20 22x3 23 22x2 23 " + // 160-191
  "26x2 20 19 22 23 22 25 26x3 27x2 26 24 25 19 21 26 27x2 26 27 24 21x2 26x2 28 27x3 " + // 192-223
  "20 24 20 21 22 21x2 23 22x2 25x2 24x2 26 23 26 27 26x2 27x5 28 27x5 26"; // 224-255
const endOfString = 256;
const endOfStringBits = 30;

/**
 * The tree of the codes: for a node and a bit, at `2 * node + bit`, the next node, or a byte as `-1 - byte`. 0 is the root,
 * so it stands for "not set" in the others.
 */
const tree = treeOf([
  ...lengthRuns.split(" ").flatMap((run) => {
    const [length, count = "1"] = run.split("x");
    return Array.from({ length: Number(count) }, () => Number(length));
  }),
  endOfStringBits,
]);

function treeOf(lengths: readonly number[]): Int16Array {
  const symbols = [...lengths.keys()].sort((a, b) => (lengths[a] ?? 0) - (lengths[b] ?? 0) || a - b);
  const nodes = new Int16Array(2 * lengths.length);
  let used = 1, code = 0, bits = lengths[symbols[0] ?? 0] ?? 0;
  for (const symbol of symbols) {
    const length = lengths[symbol] ?? 0;
    code *= 2 ** (length - bits);
    bits = length;
    let node = 0;
    for (let bit = length - 1; bit > 0; bit--) {
      const at = 2 * node + (Math.floor(code / 2 ** bit) % 2);
      if (nodes[at] === 0) nodes[at] = used++;
      node = nodes[at] ?? 0;
    }
    nodes[2 * node + (code % 2)] = -1 - symbol;
    code++;
  }
  return nodes;
}

/** Decodes a string, one character for each byte. @throws ConnectionError */
export function huffmanDecoded(bytes: Uint8Array): string {
  let text = "", node = 0, bits = 0, isPadding = true;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] ?? 0;
    for (let shift = 7; shift >= 0; shift--) {
      const bit = (byte >> shift) & 1;
      const next = tree[2 * node + bit] ?? 0;
      if (next < 0) {
        if (next === -1 - endOfString) throw wrongString("it contains the end of the string");
        text += String.fromCharCode(-1 - next);
        node = 0, bits = 0, isPadding = true;
      } else {
        node = next, bits++;
        isPadding &&= bit === 1;
      }
    }
  }
  if (bits > 7 || !isPadding) throw wrongString("its padding is wrong");
  return text;
}

function wrongString(state: string): ConnectionError {
  return new ConnectionError(errorCodes.compressionError, `a string has no Huffman code: ${state}`);
}
