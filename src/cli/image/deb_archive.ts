/**
 * Reads a .deb: an `ar` archive with two tar archives, `control.tar` and `data.tar`, compressed with xz or gzip.
 *
 * Assumption: the bytes have the checksum that this program pins, so that they are what Debian built. Broken bytes are an
 * Error all the same.
 */
import { type ParsedTarEntryWithData, unpackTar } from "modern-tar";

/** The content of a package. */
export interface DebContent {
  /** The text of the file `control`: name, version, dependencies. */
  readonly control: string;
  /** The regular files by path, without a slash in front. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

const decoder = new TextDecoder();
const arMagic = "!<arch>\n";
const arHeaderBytes = 60;

/** Unpacks a package. @throws Error when the bytes are no package, or are compressed in another way */
export async function readDeb(bytes: Uint8Array): Promise<DebContent> {
  const members = readAr(bytes);
  const control = (await unpackMember(members, "control.tar")).find(({ header }) => pathOf(header.name) === "control");
  const data = await unpackMember(members, "data.tar");
  return {
    control: decoder.decode(control?.data),
    files: new Map(
      data.flatMap(({ header, data: content }) =>
        content === undefined || header.type !== "file" ? [] : [[pathOf(header.name), content] as const]
      ),
    ),
  };
}

function pathOf(name: string): string {
  return name.replace(/^(\.?\/)+/, "");
}

/** The members of an `ar` archive by name. Each header is 60 characters: the name in 16, the size in 10 from 48. */
function readAr(bytes: Uint8Array): ReadonlyMap<string, Uint8Array> {
  const textOf = (from: number, to: number) => decoder.decode(bytes.subarray(from, to)).trim();
  if (decoder.decode(bytes.subarray(0, arMagic.length)) !== arMagic) {
    throw new Error("Cannot read a package: no ar archive");
  }
  const members = new Map<string, Uint8Array>();
  for (let at = arMagic.length; at + arHeaderBytes <= bytes.length;) {
    const sizeBytes = Number(textOf(at + 48, at + 58));
    const begin = at + arHeaderBytes;
    if (!Number.isSafeInteger(sizeBytes) || begin + sizeBytes > bytes.length) {
      throw new Error("Cannot read a package: it is cut off");
    }
    members.set(textOf(at, at + 16).replace(/\/$/, ""), bytes.subarray(begin, begin + sizeBytes));
    at = begin + sizeBytes + sizeBytes % 2; // Members begin at even offsets.
  }
  return members;
}

async function unpackMember(
  members: ReadonlyMap<string, Uint8Array>,
  name: string,
): Promise<readonly ParsedTarEntryWithData[]> {
  const [member, content] = [...members].find(([member]) => member.startsWith(name)) ?? [];
  if (member === undefined || content === undefined) throw new Error(`Cannot read a package: it has no ${name}`);
  return await unpackTar(await decompressed(member, content), { strict: true });
}

async function decompressed(member: string, content: Uint8Array): Promise<ReadableStream<Uint8Array>> {
  const stream = new Blob([Uint8Array.from(content)]).stream();
  if (member.endsWith(".gz")) return stream.pipeThrough(new DecompressionStream("gzip"));
  if (!member.endsWith(".xz")) throw new Error(`Cannot read a package: ${member} is compressed in an unknown way`);
  const { XzReadableStream } = await loadXz();
  return new XzReadableStream(stream);
}

type XzLibrary = typeof import("xz-decompress");

/** It is a CommonJS module, whose exports only Bun sees under their own names. */
async function loadXz(): Promise<XzLibrary> {
  const library: XzLibrary & { readonly default?: XzLibrary } = await import("xz-decompress");
  return library.default ?? library;
}
