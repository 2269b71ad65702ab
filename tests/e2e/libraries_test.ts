/**
 * What the compiled binary needs of a machine: the C library alone, and none of the newer ones. So the same file runs on every
 * distribution with glibc, and an image from scratch needs that library only (ADR 0013). Run with:
 *
 *   ./compile.sh && deno test -A tests/e2e/libraries_test.ts
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import { readElf } from "../../src/cli/image/elf.ts";
import { assert, assertEquals, test } from "../testing.ts";
import { binaryPath } from "./_binary.ts";

/** The files of glibc; since 2.34 all but the loader and libm are empty, and stay for older programs. */
const ofGlibc = /^(ld-linux-[\w-]+|libc|libdl|libm|libpthread|librt)\.so\.\d$/;

/** CentOS 7 and Ubuntu 13.04 have it; Amazon Linux 2 and Debian 8 have newer ones. */
const oldestGlibc = 17;

const tags = { strings: 5, versions: 0x6ffffffe, versionCount: 0x6fffffff } as const;
const segmentKinds = { load: 1, dynamic: 2 } as const;

/**
 * Reads the versions of symbols that an ELF file needs: `libc.so.6 GLIBC_2.17`. They are in `.gnu.version_r`: one entry of 16
 * bytes for each library, followed by entries of 16 bytes for its versions.
 */
function neededVersions(bytes: Uint8Array): readonly string[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const number = (at: number) => Number(view.getBigUint64(at, true));
  const segments = Array.from({ length: view.getUint16(56, true) }, (_, index) => {
    const at = number(32) + index * view.getUint16(54, true);
    return { kind: view.getUint32(at, true), offset: number(at + 8), address: number(at + 16), size: number(at + 32) };
  });
  const fileOffset = (address: number) => {
    const load = segments.find((one) =>
      one.kind === segmentKinds.load && address >= one.address && address < one.address + one.size
    );
    assert(load !== undefined, `${address}`);
    return address - load.address + load.offset;
  };
  const dynamic = segments.find(({ kind }) => kind === segmentKinds.dynamic);
  assert(dynamic !== undefined, "a static program");
  const values = new Map(
    Array.from({ length: dynamic.size / 16 }, (_, index) => {
      const at = dynamic.offset + index * 16;
      return [number(at), number(at + 8)] as const;
    }),
  );
  const strings = fileOffset(values.get(tags.strings) ?? 0);
  const text = (offset: number) => {
    const start = strings + offset;
    return new TextDecoder().decode(bytes.subarray(start, bytes.indexOf(0, start)));
  };
  const found: string[] = [];
  let library = fileOffset(values.get(tags.versions) ?? 0);
  for (let left = values.get(tags.versionCount) ?? 0; left > 0; left--) {
    let version = library + view.getUint32(library + 8, true);
    for (let more = view.getUint16(library + 2, true); more > 0; more--) {
      found.push(`${text(view.getUint32(library + 4, true))} ${text(view.getUint32(version + 8, true))}`);
      version += view.getUint32(version + 12, true);
    }
    library += view.getUint32(library + 12, true);
  }
  return found;
}

const isLinux = process.platform === "linux";
const linuxTest = isLinux ? test : (title: string) => test.skip(title, "needs Linux");

linuxTest("the binary needs no library but glibc, and no version of it after 2.17", () => {
  const bytes = readFileSync(binaryPath());
  const libraries = readElf(bytes)?.libraries ?? [];
  assert(libraries.includes("libc.so.6"), libraries.join());
  assertEquals(libraries.filter((name) => !ofGlibc.test(name)), []);
  const versions = neededVersions(bytes);
  assert(versions.some((one) => one.startsWith("libc.so.6 GLIBC_2.")), versions.join());
  const newer = versions.filter((one) => Number(/ GLIBC_2\.(\d+)(\.\d+)?$/.exec(one)?.[1] ?? Infinity) > oldestGlibc);
  assertEquals(newer, []);
});
