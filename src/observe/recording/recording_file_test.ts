/** Tests of a recording as lines of text: what is written is read, and what is no recording is refused with its line. */
import { assertEquals, assertRejects, test } from "../../../tests/testing.ts";
import { type NewEntry, readRecording, Recording, type RecordingLine, RecordingLines } from "./mod.ts";

const header = { operator: "op", version: "1.0.0", controllers: ["foo"], startedAt: 5 };
const foo = { resource: "foos.example.dev", kind: "Foo", key: "default/ä" };

function written(...entries: readonly NewEntry[]): string {
  let text = "";
  const recording = new Recording({
    now: () => 7,
    maxBytes: 0,
    sink: new RecordingLines(header, (line) => text += line),
  });
  for (const entry of entries) recording.record(entry);
  return text;
}

async function read(text: string, chunkBytes = 1 << 16, maxLineLength?: number): Promise<readonly RecordingLine[]> {
  const bytes = new TextEncoder().encode(text);
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes) chunks.push(bytes.slice(at, at + chunkBytes));
  return await Array.fromAsync(readRecording(chunks, { name: "r.jsonl", maxLineLength }));
}

const change: NewEntry = {
  kind: "change",
  via: "watch",
  change: "added",
  causes: [],
  object: foo,
  state: { metadata: {} },
};

test("a recording is read as it was written, whatever the chunks, with the whole objects", async () => {
  const text = written(change, { kind: "error", causes: [1], what: "w", error: "e" });
  for (const chunkBytes of [1, 7, 1 << 16]) {
    const [first, ...rest] = await read(text, chunkBytes);
    assertEquals(first, { kind: "header", header: { pintleRecording: 1, ...header } });
    assertEquals(rest, [
      { kind: "entry", entry: { ...change, id: 1, at: 7 } },
      { kind: "entry", entry: { kind: "error", causes: [1], what: "w", error: "e", id: 2, at: 7 } },
    ]);
  }
});

test("a last line without its end is reported and left out", async () => {
  const text = written(change, change);
  const lines = await read(text.slice(0, -9));
  assertEquals(lines.map(({ kind }) => kind), ["header", "entry", "truncated"]);
  assertEquals(lines.at(-1), { kind: "truncated", line: 3 });
});

test("what is no recording is refused, with the number of the line", async () => {
  const text = written(change);
  const cases: readonly (readonly [string, RegExp])[] = [
    ["", /recording r\.jsonl: it is empty/],
    ["{}\n", /its first line is no header/],
    ["text\n", /its first line is no header/],
    ["no line feed", /its first line is no header/],
    ['{"pintleRecording":2}\n', /it has format 2, and this program reads format 1/],
    ['{"pintleRecording":1}\n', /its header lacks/],
    [`${text}[]\n`, /line 3 is no entry: it is not an object/],
    [`${text}{"id":0}\n`, /line 3 is no entry: id/],
    [`${text}{"id":2,"at":1,"kind":"x","causes":[2]}\n`, /line 3 is no entry: causes/],
    [`${text}{"id":1,"at":1,"kind":"x","causes":[]}\n`, /line 3 has id 1 after 1/],
    [`${text}{"id":2,\n`, /line 3 is not JSON/],
    [`${text}{"id":2,"at":1e400,"kind":"x","causes":[]}\n`, /line 3 is no entry: at is not a time/],
    [`${text}{"id":2,"at":1,"kind":"change","causes":[],"via":"watch","change":"added"}\n`, /object is missing or has/],
    [`${text}{"id":2,"at":1,"kind":"error","causes":[],"what":"w","error":"e","key":7}\n`, /key has another form/],
    [`${text}{"id":2,"at":1,"kind":"x","causes":[],"a":${"[".repeat(600)}${"]".repeat(600)}}\n`, /deeper than 520/],
  ];
  for (const [bad, message] of cases) await assertRejects(() => read(bad), message);
  await assertRejects(() => read(`${text}${"x".repeat(1_000)}`, 100, 500), /line 3 is longer than 500/);
  const bytes = [new Uint8Array([0xff, 0xfe, 0x0a])];
  await assertRejects(() => Array.fromAsync(readRecording(bytes, { name: "b" })), /it is not UTF-8 text/);
});

test("entries of a kind that this version does not know are kept", async () => {
  const line = '{"id":9,"at":1,"kind":"future","causes":[1],"more":true}';
  const lines = await read(`${written(change)}${line}\n`);
  assertEquals(lines.at(-1), { kind: "entry", entry: JSON.parse(line) });
});
