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
    if (at === outer.end) return "asn1: syntax error: sequence truncated";
    const element = elementAt(bytes, at);
    if (element === undefined || element.end > outer.end) return "asn1: syntax error: data truncated";
    if (element.tag !== tag) return "asn1: structure error: tags don't match";
    at = element.end;
  }
  return undefined;
}

/** Returns the error of a certificate, as Go's x509 reads it: down to its serial number, and the outline of the whole. */
export function certificateOutlineError(bytes: Uint8Array): string | undefined {
  const outer = elementAt(bytes, 0);
  if (outer?.tag !== sequence) return "x509: malformed certificate";
  const [body] = childrenOf(bytes, outer);
  if (body?.tag !== sequence) return "x509: malformed tbs certificate";
  const serial = childrenOf(bytes, body).find(({ tag }) => tag !== explicitVersion);
  if (serial?.tag !== integer) return "x509: malformed serial number";
  return derOutlineError(bytes);
}

const sequence = 0x30;
const integer = 0x02;
const explicitVersion = 0xa0;
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

/** The names in a request for a certificate. */
export interface CertificateSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

/** The object identifiers of the two names. */
const [commonNameId, organizationId] = ["85,4,3", "85,4,10"];

/**
 * The subject of a request for a certificate.
 *
 * @param base64 PEM in base64, as a CertificateSigningRequest holds it
 * @returns a text that says why it cannot be read
 */
export function certificateSubject(base64: string): CertificateSubject | string {
  const block = pemBlocks(textOfBase64(base64)).find(({ type }) => type === "CERTIFICATE REQUEST");
  if (block === undefined) return "PEM block type must be CERTIFICATE REQUEST";
  const error = derOutlineError(block.bytes);
  if (error !== undefined) return error;
  const { bytes } = block;
  // CertificationRequest { info { version, subject, .. }, .. }
  const subject = childrenOf(bytes, childrenOf(bytes, elementAt(bytes, 0))[0])[1];
  const names = childrenOf(bytes, subject).flatMap((set) => childrenOf(bytes, set)).map((pair) => {
    const [id, value] = childrenOf(bytes, pair);
    const part = (element: Element | undefined) => bytes.subarray(element?.start ?? 0, element?.end ?? 0);
    return { id: part(id).join(), text: new TextDecoder().decode(part(value)) };
  });
  const valuesOf = (wanted: string | undefined) => names.filter(({ id }) => id === wanted).map(({ text }) => text);
  return { commonName: valuesOf(commonNameId).at(-1) ?? "", organizations: valuesOf(organizationId) };
}

function textOfBase64(base64: string): string {
  const bytes = decoded(base64);
  return bytes === undefined ? "" : new TextDecoder().decode(bytes);
}

/** The elements inside of one. */
function childrenOf(bytes: Uint8Array, parent: Element | undefined): readonly Element[] {
  const children: Element[] = [];
  for (let at = parent?.start ?? 0; at < (parent?.end ?? 0);) {
    const element = elementAt(bytes, at);
    if (element === undefined || element.end > (parent?.end ?? 0)) break;
    children.push(element);
    at = element.end;
  }
  return children;
}
