/** Tests of files: bounded reads, atomic writes, facts about paths. */
import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile as write } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert, assertEquals, assertNotEquals, assertRejects, test } from "../../tests/testing.ts";
import {
  createFile,
  fileStat,
  findText,
  isRegularFile,
  makeDirectory,
  readStart,
  readText,
  removePath,
  resolvePath,
  writeFile,
} from "./files.ts";

class Folder implements AsyncDisposable {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  static async make(): Promise<Folder> {
    return new Folder(await mkdtemp(join(tmpdir(), "pintle-files-")));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}

test("readText() decodes UTF-8 across its chunks, and refuses a file that is too large", async () => {
  await using folder = await Folder.make();
  const path = join(folder.path, "a");
  const text = "ä€😀".repeat(20_000);
  await write(path, text);
  assertEquals(await readText(path), text);
  await assertRejects(() => readText(path, { maxBytes: 1000 }), /larger than 1000 bytes/);
  await assertRejects(() => readText("/dev/zero", { maxBytes: 1000 }), /larger than 1000 bytes/);
});

test("findText() returns undefined for a missing file, and throws for one that it cannot read", async () => {
  await using folder = await Folder.make();
  assertEquals(await findText(join(folder.path, "missing")), undefined);
  assertEquals(await findText(join(folder.path, "missing", "below")), undefined);
  await assertRejects(() => findText(folder.path));
});

test("[security 6] writeFile() writes for the owner only and leaves no temporary file", async () => {
  await using folder = await Folder.make();
  const path = join(folder.path, "secret");
  await writeFile(path, "one");
  await chmod(path, 0o644);
  await writeFile(path, "two");
  assertEquals(await readFile(path, "utf8"), "two");
  assertEquals((await stat(path)).mode & 0o777, 0o600);
  await writeFile(path, new Uint8Array([51]), { mode: 0o640 });
  assertEquals([await readFile(path, "utf8"), (await stat(path)).mode & 0o777], ["3", 0o640]);
  assertEquals(await readdir(folder.path), ["secret"]);
});

test("createFile() writes for the owner only, and refuses a file, a folder and a link", async () => {
  await using folder = await Folder.make();
  const path = join(folder.path, "new");
  const file = await createFile(path);
  assertEquals([await file.write("ä"), await file.write("bc")], [2, 2]);
  await file.close();
  assertEquals([await readFile(path, "utf8"), (await stat(path)).mode & 0o777], ["äbc", 0o600]);
  assertEquals([await readStart(path, 2), await readStart(path, 100)], ["ä", "äbc"]);
  const link = join(folder.path, "link");
  await symlink(join(folder.path, "missing"), link);
  for (const taken of [path, folder.path, link]) await assertRejects(() => createFile(taken), /EEXIST/);
  assertEquals(await Promise.all([path, folder.path, link, `${path}2`].map(isRegularFile)), [
    true,
    false,
    false,
    undefined,
  ]);
});

test("writeFile() replaces a symbolic link and does not follow it", async () => {
  await using folder = await Folder.make();
  const [victim, path] = [join(folder.path, "victim"), join(folder.path, "link")];
  await write(victim, "untouched");
  await symlink(victim, path);
  await writeFile(path, "new");
  assertEquals([await readFile(victim, "utf8"), await readFile(path, "utf8")], ["untouched", "new"]);
});

test("writeFile() leaves no file when it fails", async () => {
  await using folder = await Folder.make();
  const path = join(folder.path, "folder");
  await makeDirectory(join(path, "full"));
  await assertRejects(() => writeFile(path, "x"));
  assertEquals(await readdir(folder.path), ["folder"]);
});

test("fileStat() distinguishes files from folders, and changes its identity with the content", async () => {
  await using folder = await Folder.make();
  const path = join(folder.path, "a");
  assertEquals(await fileStat(path), undefined);
  await writeFile(path, "12345");
  const first = await fileStat(path);
  assertEquals([first?.kind, first?.sizeBytes, first?.mode], ["file", 5, 0o600]);
  await writeFile(path, "54321");
  assertNotEquals((await fileStat(path))?.identity, first?.identity);
  assertEquals((await fileStat(folder.path))?.kind, "directory");
});

test("[security 6] makeDirectory() creates folders for the owner only, and removePath() removes them", async () => {
  await using folder = await Folder.make();
  const path = join(folder.path, "a", "b");
  await makeDirectory(path);
  await makeDirectory(path);
  assertEquals((await stat(path)).mode & 0o777, 0o700);
  await removePath(join(folder.path, "a"));
  await removePath(join(folder.path, "a"));
  assert((await fileStat(path)) === undefined);
});

test("makeDirectory() rejects where a file is in the way, and where the system creates no folder", async () => {
  await using folder = await Folder.make();
  await write(join(folder.path, "file"), "");
  await assertRejects(() => makeDirectory(join(folder.path, "file")), /EEXIST|exists/);
  await assertRejects(() => makeDirectory(join(folder.path, "file", "a", "b")), /ENOTDIR/);
  if (await fileStat("/proc/self") === undefined) return;
  await assertRejects(() => makeDirectory("/proc/pintle/a"), /ENOENT/); // with `recursive`, Node 22 waits for ever
});

test("resolvePath() resolves a relative path from the given folder", () => {
  assertEquals([resolvePath("/a/b", "c/d"), resolvePath("/a/b", "../c"), resolvePath("/a/b", "/c")], [
    "/a/b/c/d",
    "/a/c",
    "/c",
  ]);
});
