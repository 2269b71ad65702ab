import { gzipSync } from "node:zlib";
import { packTar } from "modern-tar";
import { assertEquals, assertRejects, test } from "../../../tests/testing.ts";
import { readDeb } from "./deb_archive.ts";
import { debFile, debMembers } from "./testing/deb_file.ts";

const decoder = new TextDecoder();

test("readDeb() unpacks what dpkg's own tools packed with xz", async () => {
  const { control, files } = await readDeb(debFile());
  assertEquals(control, "Package: tiny\nVersion: 1.0\nArchitecture: all\n");
  assertEquals([...files].map(([path, content]) => [path, decoder.decode(content)]), [
    ["usr/share/doc/tiny/copyright", "free for all\n"],
  ]);
});

test("readDeb() unpacks gzip, too, and leaves links and folders out", async () => {
  const tar = await packTar([
    { header: { name: "./a/", type: "directory", size: 0 } },
    { header: { name: "./a/file", type: "file", size: 1 }, body: "x" },
    { header: { name: "./a/link", type: "symlink", size: 0, linkname: "file" } },
  ]);
  const members = new Map(debMembers);
  members.delete("data.tar.xz");
  const { files } = await readDeb(debFile(members.set("data.tar.gz", gzipSync(tar))));
  assertEquals([...files.keys()], ["a/file"]);
});

test("readDeb() refuses what is no package, is cut off, lacks a part, or is compressed in an unknown way", async () => {
  const whole = debFile();
  await assertRejects(() => readDeb(new TextEncoder().encode("<html>")), /no ar archive/);
  await assertRejects(() => readDeb(whole.subarray(0, whole.length - 2)), /it is cut off/);
  const [binary, control] = debMembers;
  if (binary === undefined || control === undefined) throw new Error("the package has no parts");
  await assertRejects(() => readDeb(debFile(new Map([binary, control]))), /it has no data\.tar/);
  const unknown = new Map([binary, control, ["data.tar.lz4", new Uint8Array(1)] as const]);
  await assertRejects(() => readDeb(debFile(unknown)), /data\.tar\.lz4 is compressed in an unknown way/);
});

test("readDeb() rejects an archive whose compressed bytes are damaged", async () => {
  const damaged = debFile();
  damaged[damaged.length - 100]! ^= 0xff;
  await assertRejects(() => readDeb(damaged));
});
