/** Tests of debian_mirror.ts: the forms of apt's sources, and the URLs below a mirror. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assertEquals, test } from "../../../tests/testing.ts";
import { mirrorIn, mirrorOfMachine, urlOf } from "./debian_mirror.ts";

test("the mirror is read from both forms of apt's sources", () => {
  for (
    const [text, mirror] of [
      ["deb http://mirror.example.com/debian trixie main\n", "http://mirror.example.com"],
      ["deb [signed-by=/a.gpg arch=amd64] https://m.example.com/x/debian/ trixie main", "https://m.example.com/x"],
      ["Types: deb\nURIs: https://m.example.com/debian\nSuites: trixie\n", "https://m.example.com"],
      ["URIs: http://a.example.com/ubuntu http://b.example.com/debian/\n", "http://b.example.com"],
      ["# deb http://mirror.example.com/debian trixie main\n", undefined],
      ["deb http://archive.example.com/ubuntu noble main\n", undefined],
      ["deb http://mirror.example.com/debian-security trixie-security main\n", undefined],
      ["deb cdrom:[Debian 13]/ trixie main\n", undefined],
      ["", undefined],
    ] as const
  ) assertEquals(mirrorIn(text), mirror, text);
});

test("the sources of a machine are its list and the files beside it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "pintle-apt-"));
  try {
    assertEquals(await mirrorOfMachine(folder), undefined);
    await mkdir(join(folder, "sources.list.d"));
    await writeFile(join(folder, "sources.list.d", "debian.sources"), "URIs: http://b.example.com/debian\n");
    await writeFile(join(folder, "sources.list.d", "debian.sources.save"), "URIs: http://c.example.com/debian\n");
    assertEquals(await mirrorOfMachine(folder), "http://b.example.com");
    await writeFile(join(folder, "sources.list"), "deb http://a.example.com/debian trixie main\n");
    assertEquals(await mirrorOfMachine(folder), "http://a.example.com");
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("a mirror has the parts of the archive as folders, or where its URL says so", () => {
  const file = { archive: "debian-security", path: "pool/a.deb" } as const;
  assertEquals(urlOf(file, "http://m.example.com//"), "http://m.example.com/debian-security/pool/a.deb");
  const snapshot = "https://s.example.com/archive/{archive}/20261121T005303Z/";
  assertEquals(urlOf(file, snapshot), "https://s.example.com/archive/debian-security/20261121T005303Z/pool/a.deb");
});
