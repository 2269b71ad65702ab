/** Reads PEM as Kubernetes does, and the outline of DER: enough to tell a signed structure from other bytes. */
import { fromBase64 } from "../../../runtime/mod.ts";

/** A PEM block. */
interface PemBlock {
  readonly type: string;
  readonly bytes: Uint8Array;
  readonly hasHeaders: boolean;
}

/** Returns the PEM blocks of a text; other text is skipped. */
export function pemBlocks(text: string): readonly PemBlock[] {
  const blocks: PemBlock[] = [];
  for (const match of text.matchAll(/^-----BEGIN ([^\n]*?)-----[ \t\r]*\n([\s\S]*?)^-----END \1-----/gm)) {
    const [, type = "", body = ""] = match;
    const headers = body.match(/^(?:[^\n:]+:[^\n]*\n)+\s*\n?/);
    const bytes = decoded(body.slice(headers?.[0].length ?? 0));
    if (bytes !== undefined) blocks.push({ type, bytes, hasHeaders: headers !== null });
  }
  return blocks;
}

function decoded(base64: string): Uint8Array | undefined {
  try {
    return fromBase64(base64.replace(/\s+/g, ""));
  } catch {
    return undefined;
  }
}

/** Returns the error of a signed structure, which is a sequence of the signed data, the algorithm and the signature. */
export function derOutlineError(bytes: Uint8Array): string | undefined {
  const outer = elementAt(bytes, 0);
  if (outer === undefined || outer.tag !== sequence) return "asn1: structure error: tags don't match";
  if (outer.end < bytes.length) return "asn1: syntax error: trailing data";
  let at = outer.start;
  for (const tag of [sequence, sequence, bitString]) {
    const element = elementAt(bytes, at);
    if (element === undefined || element.end > outer.end) return "asn1: syntax error: data truncated";
    if (element.tag !== tag) return "asn1: structure error: tags don't match";
    at = element.end;
  }
  return undefined;
}

const sequence = 0x30;
const bitString = 0x03;

interface Element {
  readonly tag: number;
  readonly start: number;
  readonly end: number;
}

function elementAt(bytes: Uint8Array, at: number): Element | undefined {
  const [tag, first] = [bytes[at], bytes[at + 1]];
  if (tag === undefined || first === undefined) return undefined;
  const sizeBytes = first < 0x80 ? 0 : first - 0x80;
  if (sizeBytes > 4) return undefined;
  let size = sizeBytes === 0 ? first : 0;
  for (let index = 0; index < sizeBytes; index++) size = size * 256 + (bytes[at + 2 + index] ?? 0);
  const start = at + 2 + sizeBytes;
  return start + size > bytes.length ? undefined : { tag, start, end: start + size };
}
