/**
 * Debian's packages in an image: names, versions and checksums. `deno task image:packages` writes them from the lists that
 * Debian signs. Nothing of the machine that builds is in an image.
 *
 * Debian removes a version from its archive when a newer one replaces it; the snapshots of the archive keep it.
 */
import type { PlatformName } from "./platforms.ts";

/** A package of Debian, as a file in the archive. */
export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  /** `all` is for every platform. */
  readonly architecture: "amd64" | "arm64" | "all";
  /** The part of the archive: `debian` or `debian-security`. */
  readonly archive: "debian" | "debian-security";
  /** The path in the archive. */
  readonly path: string;
  readonly sizeBytes: number;
  /** Hexadecimal digits. */
  readonly sha256: string;
}

/** The release of Debian that the packages belong to. */
export const debianRelease = { version: "13", codename: "trixie" } as const;

/** The date of the snapshots that have all packages, as the URLs of the snapshots write it. */
export const snapshotDate = "20261121T005303Z";

/** The authorities that a program trusts; the same file for every platform. */
export const certificatesPackage: DebianPackage = {
  name: "ca-certificates",
  version: "20250419+deb13u1",
  architecture: "all",
  archive: "debian-security",
  path: "pool/updates/main/c/ca-certificates/ca-certificates_20250419+deb13u1_all.deb",
  sizeBytes: 160720,
  sha256: "c10585ac22c7f617a73d394eea29ba71d0356f350ae973b19043d1b017f80f54",
};

/** The packages with the libraries, and with their licences. */
export const libraryPackages: Readonly<Record<PlatformName, readonly DebianPackage[]>> = {
  "linux/amd64": [
    {
      name: "gcc-14-base",
      version: "14.2.0-19",
      architecture: "amd64",
      archive: "debian",
      path: "pool/main/g/gcc-14/gcc-14-base_14.2.0-19_amd64.deb",
      sizeBytes: 49432,
      sha256: "5b6825de4263824b78c4c51f6476414f3b4e89c2ab63e81dc8b9b5501e867cf6",
    },
    {
      name: "libc6",
      version: "2.41-12+deb13u4",
      architecture: "amd64",
      archive: "debian",
      path: "pool/main/g/glibc/libc6_2.41-12+deb13u4_amd64.deb",
      sizeBytes: 2846580,
      sha256: "967aa62605721081c3eb2a17650611a792aa802d76a6511d1840242623d204c9",
    },
    {
      name: "libgcc-s1",
      version: "14.2.0-19",
      architecture: "amd64",
      archive: "debian",
      path: "pool/main/g/gcc-14/libgcc-s1_14.2.0-19_amd64.deb",
      sizeBytes: 72772,
      sha256: "3c71917b490d1a17aed43196a2787a256ecf060526cdb20216a74bedc061b150",
    },
  ],
  "linux/arm64": [
    {
      name: "gcc-14-base",
      version: "14.2.0-19",
      architecture: "arm64",
      archive: "debian",
      path: "pool/main/g/gcc-14/gcc-14-base_14.2.0-19_arm64.deb",
      sizeBytes: 49444,
      sha256: "34ee90679b018c0e64234747a4c4c0ae6b7f63541115037465a8627c2dfbc594",
    },
    {
      name: "libc6",
      version: "2.41-12+deb13u4",
      architecture: "arm64",
      archive: "debian",
      path: "pool/main/g/glibc/libc6_2.41-12+deb13u4_arm64.deb",
      sizeBytes: 2483572,
      sha256: "8784eda966b189c777a384dac5ce009e8fc9b52d006926c5a013e7fa8aa688cc",
    },
    {
      name: "libgcc-s1",
      version: "14.2.0-19",
      architecture: "arm64",
      archive: "debian",
      path: "pool/main/g/gcc-14/libgcc-s1_14.2.0-19_arm64.deb",
      sizeBytes: 54104,
      sha256: "1108bc87879833d6d9a145f22a4a15cddb34e065b4b5f4b97bee586adbac2851",
    },
  ],
};
