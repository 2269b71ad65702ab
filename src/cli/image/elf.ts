/**
 * Reads what an ELF file says about itself: its machine, its dynamic loader, and the libraries that it names. An image gets
 * a program only if it can start there.
 *
 * Guarantees: never reads outside of the bytes; a file that is no 64-bit little-endian ELF file is undefined, and one that
 * is cut off is a RangeError.
 */

/** What an ELF file needs. */
export interface ElfProgram {
  /** `e_machine`: 62 for amd64, 183 for arm64. */
  readonly machine: number;
  /** The path of the dynamic loader; undefined for a static program. */
  readonly loader: string | undefined;
  /** The names of the shared libraries. */
  readonly libraries: readonly string[];
}

const segmentKind = { load: 1, dynamic: 2, interpreter: 3 } as const;
const dynamicTag = { end: 0, needed: 1, stringTable: 5 } as const;

/** A part of the file, and the address at which it is loaded. */
interface Segment {
  readonly kind: number;
  readonly offset: number;
  readonly address: number;
  readonly sizeBytes: number;
}

/** Reads the headers. @throws RangeError when the file ends before they do */
export function readElf(bytes: Uint8Array): ElfProgram | undefined {
  const magic = [0x7f, 0x45, 0x4c, 0x46, 2, 1]; // 64 bits, little-endian
  if (magic.some((byte, index) => bytes[index] !== byte)) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const segments = segmentsOf(view);
  const interpreter = segments.find(({ kind }) => kind === segmentKind.interpreter);
  return {
    machine: view.getUint16(18, true),
    loader: interpreter === undefined ? undefined : textAt(bytes, interpreter.offset),
    libraries: librariesOf(bytes, view, segments),
  };
}

function segmentsOf(view: DataView): readonly Segment[] {
  const tableAt = number(view, 32);
  const [entryBytes, entries] = [view.getUint16(54, true), view.getUint16(56, true)];
  return Array.from({ length: entries }, (_, index) => {
    const at = tableAt + index * entryBytes;
    return {
      kind: view.getUint32(at, true),
      offset: number(view, at + 8),
      address: number(view, at + 16),
      sizeBytes: number(view, at + 32),
    };
  });
}

function librariesOf(bytes: Uint8Array, view: DataView, segments: readonly Segment[]): readonly string[] {
  const dynamic = segments.find(({ kind }) => kind === segmentKind.dynamic);
  if (dynamic === undefined) return [];
  const needed: number[] = [];
  let stringsAt = 0;
  for (let at = dynamic.offset; at < dynamic.offset + dynamic.sizeBytes; at += 16) {
    const tag = number(view, at);
    if (tag === dynamicTag.end) break;
    if (tag === dynamicTag.needed) needed.push(number(view, at + 8));
    if (tag === dynamicTag.stringTable) stringsAt = offsetOf(number(view, at + 8), segments);
  }
  return needed.map((offset) => textAt(bytes, stringsAt + offset));
}

/** Where in the file an address is. */
function offsetOf(address: number, segments: readonly Segment[]): number {
  const found = segments.find((segment) =>
    segment.kind === segmentKind.load && address >= segment.address && address < segment.address + segment.sizeBytes
  );
  if (found === undefined) throw new RangeError("Cannot read an ELF file: an address is in none of its segments");
  return address - found.address + found.offset;
}

function number(view: DataView, at: number): number {
  return Number(view.getBigUint64(at, true));
}

function textAt(bytes: Uint8Array, at: number): string {
  const end = bytes.indexOf(0, at);
  if (at >= bytes.length || end === -1) throw new RangeError("Cannot read an ELF file: it ends within a name");
  return new TextDecoder().decode(bytes.subarray(at, end));
}
