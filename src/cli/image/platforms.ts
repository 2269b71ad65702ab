/**
 * The platforms that an image can have, in the words of everybody who names them: OCI, Bun, Debian, and the header of an
 * ELF file. There is one row for each; a new platform is a new row and its packages in debian_packages.ts.
 */

/** A platform of an image. */
export interface Platform {
  /** In the notation of OCI: `linux/amd64`. */
  readonly name: PlatformName;
  /** `architecture` of the image. */
  readonly architecture: "amd64" | "arm64";
  /** `--target` of the command `compile`. */
  readonly target: "linux-x64" | "linux-arm64";
  /** `e_machine` in the header of an ELF file. */
  readonly machine: number;
  /** The folder of the libraries in Debian's packages. */
  readonly libraryFolder: string;
  /** The path of the dynamic loader that programs name, and where Debian's package has it. */
  readonly loader: { readonly path: string; readonly file: string };
}

/** The names of all platforms. */
export const platformNames = ["linux/amd64", "linux/arm64"] as const;

/** The name of a platform. */
export type PlatformName = typeof platformNames[number];

/** All platforms, by name. */
export const platforms: Readonly<Record<PlatformName, Platform>> = {
  "linux/amd64": {
    name: "linux/amd64",
    architecture: "amd64",
    target: "linux-x64",
    machine: 62,
    libraryFolder: "usr/lib/x86_64-linux-gnu",
    loader: { path: "/lib64/ld-linux-x86-64.so.2", file: "ld-linux-x86-64.so.2" },
  },
  "linux/arm64": {
    name: "linux/arm64",
    architecture: "arm64",
    target: "linux-arm64",
    machine: 183,
    libraryFolder: "usr/lib/aarch64-linux-gnu",
    loader: { path: "/lib/ld-linux-aarch64.so.1", file: "ld-linux-aarch64.so.1" },
  },
};
