/**
 * What is in an image besides the program: the folders and users of a small Linux, the authorities of TLS, and the C
 * library. All of it comes from Debian's packages or from this file, nothing from the machine that builds.
 *
 * Guarantees: the user is 65532, as in distroless images; nothing needs to be written except /tmp; scanners recognize the
 * release of Debian and the packages, and each package has its licence.
 */
import { relativePath } from "../../runtime/mod.ts";
import type { DebContent } from "./deb_archive.ts";
import { debianRelease } from "./debian_packages.ts";
import type { LayerEntry, LayerFiles } from "./layer.ts";
import type { Platform } from "./platforms.ts";

/** The user and the group of the program. */
export const userId = 65532;
/** The home of the user, which is the working folder, too. */
export const homeFolder = "/home/nonroot";
/** One file with all authorities, at Debian's path, where programs look for it. */
export const certificatesFile = "/etc/ssl/certs/ca-certificates.crt";

/** Libraries that a program may need. `libgcc_s` is loaded by the C library itself, when a thread ends or a crash is traced. */
const libraries: Readonly<Record<string, readonly string[]>> = {
  libc6: ["libc.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0"],
  "libgcc-s1": ["libgcc_s.so.1"],
  "gcc-14-base": [],
};

/** A package with its content. */
export interface UnpackedPackage {
  readonly name: string;
  readonly content: DebContent;
}

/** The names of the libraries that the image of a platform has. */
export function librariesOf(platform: Platform): ReadonlySet<string> {
  return new Set([...Object.values(libraries).flat(), platform.loader.file]);
}

const users = [
  "root:x:0:0:root:/root:/sbin/nologin",
  `nonroot:x:${userId}:${userId}:nonroot:${homeFolder}:/sbin/nologin`,
];

const groups = ["root:x:0:", `nonroot:x:${userId}:`];

const release = [
  `PRETTY_NAME="Debian GNU/Linux ${debianRelease.version} (${debianRelease.codename}), parts"`,
  'NAME="Debian GNU/Linux"',
  `VERSION_ID="${debianRelease.version}"`,
  `VERSION="${debianRelease.version} (${debianRelease.codename})"`,
  `VERSION_CODENAME=${debianRelease.codename}`,
  "ID=debian",
];

/** The first layer, which is the same for all platforms: users, folders, authorities. */
export function systemFiles(certificates: UnpackedPackage): LayerFiles {
  return new Map<string, LayerEntry>([
    ["etc/debian_version", text([debianRelease.version])],
    ["etc/group", text(groups)],
    ["etc/nsswitch.conf", text(["hosts: files dns"])],
    ["etc/os-release", { kind: "link", target: "../usr/lib/os-release" }],
    ["etc/passwd", text(users)],
    [certificatesFile.slice(1), { kind: "file", content: bundleOf(certificates.content) }],
    [homeFolder.slice(1), { kind: "folder", mode: 0o700, owner: userId }],
    ["tmp", { kind: "folder", mode: 0o1777 }],
    ["usr/lib/os-release", text(release)],
    ...recordOf(certificates),
  ]);
}

/** The second layer: the C library and what it needs. @throws Error when a package lacks a file */
export function libraryFiles(platform: Platform, packages: readonly UnpackedPackage[]): LayerFiles {
  const { libraryFolder, loader } = platform;
  const files = packages.flatMap((unpacked) => {
    const names = [...(libraries[unpacked.name] ?? []), ...(unpacked.name === "libc6" ? [loader.file] : [])];
    const entries = names.map((name) => {
      const path = `${libraryFolder}/${name}`;
      return [path, fileOf(unpacked, path, 0o755)] as const;
    });
    return [...entries, ...recordOf(unpacked)];
  });
  // As on Debian, /lib and /lib64 are links into /usr, and the loader is a link to the file in the folder of the libraries.
  const [, top = ""] = loader.path.split("/");
  return new Map<string, LayerEntry>([
    ...files,
    ["lib", { kind: "link", target: "usr/lib" }],
    [top, { kind: "link", target: `usr/${top}` }],
    [`usr${loader.path}`, { kind: "link", target: relativePath(`usr/${top}`, `${libraryFolder}/${loader.file}`) }],
  ]);
}

function text(lines: readonly string[]): LayerEntry {
  return { kind: "file", content: `${lines.join("\n")}\n` };
}

/** All authorities in one file, in the order of their names, as `update-ca-certificates` writes it. */
function bundleOf({ files }: DebContent): string {
  const decoder = new TextDecoder();
  const certificates = [...files].filter(([path]) => path.startsWith("usr/share/ca-certificates/")).sort(([a], [b]) =>
    a < b ? -1 : 1
  );
  if (certificates.length === 0) throw new Error("Cannot read ca-certificates: it has no certificates");
  return certificates.map(([, content]) => `${decoder.decode(content).trimEnd()}\n`).join("");
}

/** What scanners read, and the licence. */
function recordOf(unpacked: UnpackedPackage): readonly (readonly [string, LayerEntry])[] {
  const { name, content } = unpacked;
  const licence = `usr/share/doc/${name}/copyright`;
  return [
    [`var/lib/dpkg/status.d/${name}`, { kind: "file", content: content.control }],
    // The folder of libgcc-s1 is a link to that of gcc-14-base.
    ...(content.files.has(licence) ? [[licence, fileOf(unpacked, licence, 0o644)] as const] : []),
  ];
}

function fileOf({ name, content }: UnpackedPackage, path: string, mode: number): LayerEntry {
  const found = content.files.get(path);
  if (found === undefined) throw new Error(`Cannot read the package ${name}: it has no ${path}`);
  return { kind: "file", content: found, mode };
}
