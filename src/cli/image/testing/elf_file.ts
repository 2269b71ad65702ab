/** Small ELF files for tests: headers without code, as a linker would write them. */

/** What the file says about itself. */
export interface ElfFileOptions {
  /** @default 62, amd64 */
  readonly machine?: number;
  /** @default none, as in a static program */
  readonly loader?: string;
  /** @default none */
  readonly libraries?: readonly string[];
}

/** The address at which the file is loaded: not its offset, as in real programs. */
const baseAddress = 0x400000;
const [headerBytes, segmentBytes] = [64, 56];

/** Writes the file. */
export function elfFile({ machine = 62, loader, libraries = [] }: ElfFileOptions = {}): Uint8Array {
  const encode = (text: string) => new TextEncoder().encode(`${text}\0`);
  const interpreter = loader === undefined ? new Uint8Array() : encode(loader);
  const names = libraries.map(encode);
  const interpreterAt = headerBytes + 3 * segmentBytes;
  const stringsAt = interpreterAt + interpreter.length;
  const stringBytes = names.reduce((sum, { length }) => sum + length, 1);
  const dynamicAt = Math.ceil((stringsAt + stringBytes) / 8) * 8;
  const dynamicBytes = 16 * (libraries.length + 2);
  const bytes = new Uint8Array(dynamicAt + dynamicBytes);
  const view = new DataView(bytes.buffer);
  const wide = (at: number, value: number) => view.setBigUint64(at, BigInt(value), true);
  bytes.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  view.setUint16(18, machine, true);
  wide(32, headerBytes);
  view.setUint16(54, segmentBytes, true);
  view.setUint16(56, 3, true);
  const segments = [
    [1, 0, bytes.length],
    [libraries.length === 0 ? 0 : 2, dynamicAt, dynamicBytes],
    [loader === undefined ? 0 : 3, interpreterAt, interpreter.length],
  ] as const;
  for (const [index, [kind, offset, sizeBytes]] of segments.entries()) {
    const at = headerBytes + index * segmentBytes;
    view.setUint32(at, kind, true);
    wide(at + 8, offset);
    wide(at + 16, baseAddress + offset);
    wide(at + 32, sizeBytes);
  }
  bytes.set(interpreter, interpreterAt);
  let nameAt = 1; // The table of strings begins with an empty one.
  for (const [index, name] of names.entries()) {
    bytes.set(name, stringsAt + nameAt);
    wide(dynamicAt + 16 * index, 1);
    wide(dynamicAt + 16 * index + 8, nameAt);
    nameAt += name.length;
  }
  wide(dynamicAt + 16 * names.length, 5);
  wide(dynamicAt + 16 * names.length + 8, baseAddress + stringsAt);
  return bytes;
}
