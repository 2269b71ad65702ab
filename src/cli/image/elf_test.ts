import { assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { readElf } from "./elf.ts";
import { elfFile } from "./testing/elf_file.ts";

test("readElf() reads the machine, the loader and the libraries of a program", () => {
  const libraries = ["libc.so.6", "libm.so.6"];
  const loader = "/lib/ld-linux-aarch64.so.1";
  assertEquals(readElf(elfFile({ machine: 183, loader, libraries })), { machine: 183, loader, libraries });
  assertEquals(readElf(elfFile()), { machine: 62, loader: undefined, libraries: [] });
});

test("readElf() returns undefined for what is no ELF file, or one of another kind", () => {
  const wide = elfFile();
  wide[4] = 1; // 32 bits
  for (const bytes of [new Uint8Array(), new TextEncoder().encode("#!/bin/sh\n"), wide]) {
    assertEquals(readElf(bytes), undefined);
  }
});

test("readElf() throws a RangeError wherever a program is cut off", () => {
  const whole = elfFile({ loader: "/lib64/ld-linux-x86-64.so.2", libraries: ["libc.so.6"] });
  const end = whole.length - 16; // The end mark of the last table.
  for (let length = 6; length < end; length++) {
    assertEquals(assertThrows(() => readElf(whole.subarray(0, length))) instanceof RangeError, true);
  }
});
