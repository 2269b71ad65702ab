/**
 * A layer of an image: a tar archive, compressed with gzip.
 *
 * Guarantees: the same files give the same bytes, on every machine and runtime: folders come before what is in them, all is
 * sorted, no entry has the time or the user of this machine, and Bun compresses, with a library of its own (libdeflate)
 * whose result does not depend on the processor. The runtimes' gzip functions give different bytes.
 */
import { createHash } from "node:crypto";
import { packTar, type TarEntry } from "modern-tar";
import { joinPath, readBytes, removePath, spawn, writeFile } from "../../runtime/mod.ts";
import { CommandError, exitCode } from "../command/mod.ts";

/** An entry of a layer. Paths have no slash in front. */
export type LayerEntry =
  | { readonly kind: "file"; readonly content: string | Uint8Array; readonly mode?: number }
  | { readonly kind: "folder"; readonly mode?: number; readonly owner?: number }
  | { readonly kind: "link"; readonly target: string };

/** The entries of a layer, by path. */
export type LayerFiles = ReadonlyMap<string, LayerEntry>;

/** A finished layer. */
export interface Layer {
  /** What the layer is for, in the history of the image. */
  readonly about: string;
  /** The compressed archive. */
  readonly bytes: Uint8Array;
  /** `sha256:…` of the archive before compression. */
  readonly diffId: string;
}

/** What a layer is packed with. */
export interface LayerOptions {
  readonly about: string;
  /** The time of all entries. */
  readonly modifiedAt: Date;
  readonly compress: (bytes: Uint8Array) => Promise<Uint8Array>;
}

/** Packs a layer. */
export async function packLayer(files: LayerFiles, { about, modifiedAt, compress }: LayerOptions): Promise<Layer> {
  const entries = [...withFolders(files)].sort(([a], [b]) => (a < b ? -1 : 1));
  const tar = await packTar(entries.map(([path, entry]) => tarEntryOf(path, entry, modifiedAt)));
  return { about, bytes: await compress(tar), diffId: digestOf(tar) };
}

/** `sha256:` and hexadecimal digits. */
export function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

/** Adds the folders above each entry: tools that unpack a layer should not choose their permissions. */
function withFolders(files: LayerFiles): LayerFiles {
  const all = new Map(files);
  for (const path of files.keys()) {
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
      const folder = path.slice(0, at);
      if (!all.has(folder)) all.set(folder, { kind: "folder" });
    }
  }
  return all;
}

function tarEntryOf(path: string, entry: LayerEntry, mtime: Date): TarEntry {
  const owner = entry.kind === "folder" ? entry.owner ?? 0 : 0;
  const common = { mtime, uid: owner, gid: owner, uname: "", gname: "" };
  switch (entry.kind) {
    case "file": {
      const body = typeof entry.content === "string" ? new TextEncoder().encode(entry.content) : entry.content;
      return { header: { ...common, name: path, type: "file", mode: entry.mode ?? 0o644, size: body.length }, body };
    }
    case "folder":
      return { header: { ...common, name: `${path}/`, type: "directory", mode: entry.mode ?? 0o755, size: 0 } };
    case "link":
      return { header: { ...common, name: path, type: "symlink", mode: 0o777, size: 0, linkname: entry.target } };
    default:
      return entry satisfies never;
  }
}

/** Level 6 of libdeflate is smaller than level 6 of zlib and takes less time; 9 takes twice as long for 0.4 %. */
const compressScript = `
const [from, to] = process.argv.slice(-2);
const bytes = new Uint8Array(await Bun.file(from).arrayBuffer());
await Bun.write(to, Bun.gzipSync(bytes, { library: "libdeflate", level: 6 }));
`;

/** Makes the function that compresses, with Bun. @param folder For temporary files; it must exist */
export function gzipWithBun(bun: string, folder: string): (bytes: Uint8Array) => Promise<Uint8Array> {
  return async (bytes) => {
    const [from, to] = [joinPath(folder, "layer.tar"), joinPath(folder, "layer.tar.gz")];
    await writeFile(from, bytes);
    try {
      const result = await spawn([bun, "-e", compressScript, from, to], { workingDirectory: folder });
      if (result.kind === "ended" && result.code === 0) return await readBytes(to);
      const output = "stderr" in result ? result.stderr : result.message;
      throw new CommandError(`Cannot compress a layer: Bun has the outcome "${result.kind}": ${output.trim()}`, {
        code: exitCode.failed,
      });
    } finally {
      for (const path of [from, to]) await removePath(path);
    }
  };
}
