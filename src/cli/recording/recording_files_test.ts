/** Tests of the reader of recordings: rotated files come in the order of time, and foreign files are left out. */
import { writeFile } from "node:fs/promises";
import { assertEquals, assertMatch, assertRejects, test } from "../../../tests/testing.ts";
import { RecordFolder } from "./testing/record_folder.ts";
import { readRecordingFiles } from "./recording_files.ts";

const run = { pintleRecording: 1, operator: "op", version: "1", controllers: ["foo"], startedAt: 5 };

function note(id: number) {
  return { id, at: id, kind: "note", causes: [], actor: "test", what: `${id}` };
}

function text(header: object, ...ids: readonly number[]): string {
  return [header, ...ids.map(note)].map((line) => `${JSON.stringify(line)}\n`).join("");
}

async function write({ path }: RecordFolder, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [suffix, content] of Object.entries(files)) await writeFile(path + suffix, content);
}

async function idsIn(path: string): Promise<readonly number[]> {
  return (await readRecordingFiles(path, { keepsStates: true })).entries.map(({ id }) => id);
}

test("[131] a rotated recording is read from its oldest file on, without the files of another process", async () => {
  await using folder = await RecordFolder.make();
  await write(folder, {
    "": text({ ...run, part: 3 }, 5, 6),
    ".1": text({ ...run, part: 2 }, 3, 4),
    ".2": text({ ...run, part: 1 }, 1, 2),
    ".3": text({ ...run, startedAt: 1, part: 9 }, 1),
  });
  const { isFirstMissing, header } = await readRecordingFiles(folder.path, { keepsStates: true });
  assertEquals([isFirstMissing, header.part], [false, 3]);
  assertEquals(await idsIn(folder.path), [1, 2, 3, 4, 5, 6]);
  // An older file by its own name ends the recording there.
  assertEquals(await idsIn(`${folder.path}.1`), [1, 2, 3, 4]);
  assertEquals(await idsIn(`${folder.path}.3`), [1]);
});

test("[131] the first files of a recording may be gone, and files that do not fit are refused", async () => {
  await using folder = await RecordFolder.make();
  await write(folder, { "": text({ ...run, part: 4 }, 9), ".1": text({ ...run, part: 2 }, 3) });
  const run4 = await readRecordingFiles(folder.path, { keepsStates: true });
  assertEquals([run4.isFirstMissing, run4.entries.length], [true, 1]);
  await write(folder, { "": text({ ...run, part: 3 }, 2), ".1": text({ ...run, part: 2 }, 3) });
  await assertRejects(() => idsIn(folder.path), /incident\.jsonl": it begins with id 2 after 3/);
  await write(folder, { "": text({ ...run, part: 3 }, 9), ".1": text({ ...run, part: 2 }, 3).slice(0, -3) });
  await assertRejects(() => idsIn(folder.path), /line 2 has no end, and another file follows it/);
  await write(folder, { "": "a letter\n" });
  const error = await assertRejects(() => idsIn(folder.path), /its first line is no header/);
  assertMatch(String(error), /Cannot read recording ".*incident\.jsonl"/);
});

test("[131] standard input is a recording, too, and a reader without states keeps none", async () => {
  const state = { metadata: {} };
  const object = { resource: "foos", kind: "Foo", key: "a" };
  const change = { id: 1, at: 1, kind: "change", causes: [], via: "watch", change: "added", object, state };
  const readInput = () => Promise.resolve(`${JSON.stringify(run)}\n${JSON.stringify(change)}\n{"id":2`);
  const { state: _, ...bare } = change;
  const { entries, cutLine } = await readRecordingFiles("-", { keepsStates: false, readInput });
  assertEquals([entries as unknown, cutLine], [[bare], 3]);
  assertEquals((await readRecordingFiles("-", { keepsStates: true, readInput })).entries as unknown, [change]);
});
