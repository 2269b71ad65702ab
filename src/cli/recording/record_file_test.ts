import { execFileSync } from "node:child_process";
import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { assert, assertEquals, assertMatch, assertRejects, test } from "../../../tests/testing.ts";
import { systemClock, VirtualClock } from "../../async/mod.ts";
import type { Logger, RecordingLine } from "../../observe/mod.ts";
import { readRecording, Recording } from "../../observe/mod.ts";
import { RecordFolder } from "./testing/record_folder.ts";
import { maxOldParts, RecordFile, type RecordFileOptions } from "./record_file.ts";

/** The current file; "" while there is none. */
async function textOf({ path }: RecordFolder): Promise<string> {
  return await readFile(path, "utf8").catch(() => "");
}

/** What a file has. @param suffix Of an older file: `.1` */
async function linesIn({ path }: RecordFolder, suffix = ""): Promise<readonly RecordingLine[]> {
  const name = path + suffix;
  return await Array.fromAsync(readRecording([await readFile(name)], { name }));
}

async function notesIn(folder: RecordFolder, suffix = ""): Promise<readonly string[]> {
  return (await linesIn(folder, suffix)).flatMap((line) =>
    line.kind === "entry" && line.entry.kind === "note" ? [line.entry.what] : []
  );
}

async function partOf(folder: RecordFolder, suffix: string): Promise<number | undefined> {
  const [first] = await linesIn(folder, suffix);
  return first?.kind === "header" ? first.header.part : undefined;
}

/** A file, the recording that writes to it, and what it has logged. */
function recordTo(path: string, options: Partial<RecordFileOptions> = {}) {
  const warnings: string[] = [];
  const log = {
    info: () => {},
    warn: (text: string, { error }: { error?: string } = {}) => warnings.push(`${text}: ${error}`),
  };
  const header = { operator: "op", version: "1", controllers: ["foo"], startedAt: 5 };
  const file = new RecordFile({ path, header, clock: systemClock, log: log as unknown as Logger, ...options });
  const recording = new Recording({ now: () => 7, maxBytes: 0, sink: file });
  const note = (what: string) => recording.record({ kind: "note", actor: "test", what, causes: [] });
  return { file, recording, note, warnings };
}

test("[131] a file has every entry, also those from before it was opened, for its owner only", async () => {
  await using folder = await RecordFolder.make();
  const { file, note, recording } = recordTo(folder.path);
  assert(recording.keepsStates);
  note("early");
  await file.open();
  note("late");
  await file.close();
  note("after the end");
  assertEquals(await notesIn(folder), ["early", "late"]);
  assertEquals((await linesIn(folder))[0], {
    kind: "header",
    header: { pintleRecording: 1, operator: "op", version: "1", controllers: ["foo"], startedAt: 5, part: 1 },
  });
  assertEquals((await stat(folder.path)).mode & 0o777, 0o600);
});

test("[131] a file that is full is kept beside the next one, and the oldest of them is removed", async () => {
  await using folder = await RecordFolder.make();
  const { file, note } = recordTo(folder.path, { maxBytes: 200 });
  await file.open();
  const names = Array.from({ length: 20 }, (_, index) => `${index} ${"ä".repeat(50)}`);
  for (const [index, name] of names.entries()) {
    note(name);
    // One file has what was recorded in the meantime: each is on the disk before the next one.
    while (!(await textOf(folder)).includes(`"what":"${index} `)) await readdir(folder.root);
  }
  await file.close();
  const suffixes = ["", ".1", ".2", ".3", ".4"];
  assertEquals(suffixes.length, maxOldParts + 1);
  assertEquals((await readdir(folder.root)).sort(), suffixes.map((suffix) => `incident.jsonl${suffix}`));
  const parts = await Promise.all(suffixes.map((suffix) => partOf(folder, suffix)));
  const [last = 0] = parts;
  assert(last > suffixes.length);
  assertEquals(parts, suffixes.map((_, index) => last - index));
  const kept = (await Promise.all(suffixes.toReversed().map((suffix) => notesIn(folder, suffix)))).flat();
  assertEquals(kept, names.slice(-kept.length));
  for (const suffix of suffixes) assertEquals((await stat(folder.path + suffix)).mode & 0o777, 0o600);
});

test("[131] a process keeps the recording of the one before", async () => {
  await using folder = await RecordFolder.make();
  for (const name of ["first", "second", "third"]) {
    const { file, note } = recordTo(folder.path);
    await file.open();
    note(name);
    await file.close();
  }
  assertEquals(await Promise.all(["", ".1", ".2"].map((suffix) => notesIn(folder, suffix))), [["third"], ["second"], [
    "first",
  ]]);
});

test("[security 32] nothing but a recording is replaced, and nothing behind a link is written", async () => {
  const obstacles: readonly (readonly [RegExp, (path: string) => Promise<unknown> | void])[] = [
    [/exists and is no recording/, (path) => writeFile(path, "a letter\n")],
    [/exists and is no recording/, (path) => writeFile(path, new Uint8Array([0xff, 0xfe, 0]))],
    [/is not a regular file/, (path) => mkdir(path)],
    [/is not a regular file/, (path) => void execFileSync("mkfifo", [path])],
    [/is not a regular file/, (path) => symlink("/dev/full", path)],
    [/is not a regular file/, async (path) => {
      await writeFile(`${path}.target`, '{"pintleRecording":1}\n');
      await symlink(`${path}.target`, path);
    }],
  ];
  for (const suffix of ["", ".1", ".4"]) {
    for (const [problem, make] of obstacles) {
      await using folder = await RecordFolder.make();
      await make(folder.path + suffix);
      const before = await readdir(folder.root);
      const error = await assertRejects(() => recordTo(folder.path).file.open(), problem);
      assertMatch(String(error), /Cannot record to ".*incident\.jsonl": /);
      assertEquals(await readdir(folder.root), before);
    }
  }
  await using folder = await RecordFolder.make();
  await writeFile(folder.path, "");
  await chmod(folder.path, 0o666);
  const { file } = recordTo(folder.path);
  await file.open();
  await file.close();
  assertEquals([(await stat(folder.path)).mode & 0o777, await readdir(folder.root)], [0o600, ["incident.jsonl"]]);
});

test("[131] a file that cannot be written is one warning, and no further entries are prepared for it", async () => {
  await using folder = await RecordFolder.make();
  const inner = join(folder.root, "inner");
  await mkdir(inner);
  const { file, note, recording, warnings } = recordTo(join(inner, "a"), { maxBytes: 1 });
  await file.open();
  note("one");
  await rm(inner, { recursive: true });
  while (recording.keepsStates) {
    note("more");
    await readdir(folder.root);
  }
  note("and more");
  await file.close();
  assertEquals(warnings.length, 1);
  assertMatch(warnings[0] ?? "", /^recording ended, the file cannot be written: ENOENT/);
});

test("[131] a disk that is too slow ends the recording instead of taking all memory", async () => {
  await using folder = await RecordFolder.make();
  const { file, note, recording, warnings } = recordTo(folder.path, { maxWaiting: 10_000, clock: new VirtualClock() });
  // Nothing is written in one turn of the event loop.
  await file.open();
  for (let index = 0; index < 1_000; index++) note("x".repeat(100));
  assert(!recording.keepsStates);
  assertEquals(warnings, ["recording ended, the file cannot be written: the disk is slow"]);
  await file.close();
});
