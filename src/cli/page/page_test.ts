import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert, assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { createProcess, endOf, runCommandLine, startCommandLine } from "../testing/run_command.ts";

const operator = { name: "op", controllers: [] };

/** The text of one part of a recording. */
function part(number: number, startedAt: number, ...ids: readonly number[]): string {
  const header = { pintleRecording: 1, operator: "other", version: "2.0.0", controllers: [], startedAt, part: number };
  const entries = ids.map((id) => ({ id, at: startedAt + id, kind: "note", actor: "test", what: `${id}`, causes: [] }));
  return [header, ...entries].map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** A folder with these files. */
async function withFiles(
  files: Readonly<Record<string, string>>,
  run: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "pintle-page-"));
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    await run(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Opens a file, and what `ask` reads there. */
async function opened<T>(folder: string, ask: (get: (path: string) => Promise<Response>) => Promise<T>): Promise<T> {
  const tokenFile = join(folder, "token");
  const process = createProcess(["page", join(folder, "a.jsonl"), "--debug-token-file", tokenFile]);
  const ending = startCommandLine(operator, process);
  const portOf = () => /serving the page.*port=(\d+)/.exec(process.err)?.[1];
  while (portOf() === undefined) await process.clock.advance(5);
  const token = (await readFile(tokenFile, "utf8")).trim();
  const result = await ask((path) =>
    fetch(`http://127.0.0.1:${portOf()}${path}`, {
      headers: { authorization: `Bearer ${token}`, connection: "close" },
    })
  );
  process.signal("SIGTERM");
  assertEquals(await endOf(ending, process, 5), 0, process.err);
  assert(!process.err.includes(token) && !process.out.includes(token), "the token of a file is in no output");
  return result;
}

test("[138] page serves a recording with its older parts, until a signal", async () => {
  const files = {
    "a.jsonl": part(3, 1_000, 7, 8),
    "a.jsonl.1": part(2, 1_000, 4, 5, 6),
    "a.jsonl.2": part(1, 1_000, 2),
    "a.jsonl.3": part(9, 500, 100),
  };
  await withFiles(files, async (folder) => {
    await opened(folder, async (get) => {
      const { entries } = await (await get("/debug/recording")).json();
      assertEquals(entries.map(({ id }: { id: number }) => id), [2, 4, 5, 6, 7, 8]);
      const source = await (await get("/debug/source")).json();
      assertEquals([source.name, source.version, source.isTruncated], ["other", "2.0.0", false]);
      assertMatch(await (await get("/")).text(), /<script src="page\.js" defer>/);
    });
  });
});

test("[138] page opens a recording whose last line was cut, and does not take the parts of another process", async () => {
  const files = { "a.jsonl": `${part(2, 1_000, 7)}{"id":8,`, "a.jsonl.1": part(1, 500, 4) };
  await withFiles(files, async (folder) => {
    await opened(folder, async (get) => {
      const { entries } = await (await get("/debug/recording")).json();
      assertEquals(entries.map(({ id }: { id: number }) => id), [7]);
      assertEquals((await (await get("/debug/source")).json()).isTruncated, true);
    });
  });
});

test("[138] page refuses what is no recording, a second file, and an address for other machines", async () => {
  await withFiles({ "a.txt": "hello\n", "a.jsonl": part(1, 1_000, 1) }, async (folder) => {
    const [text, recording] = [join(folder, "a.txt"), join(folder, "a.jsonl")];
    const other = await runCommandLine(operator, ["page", text]);
    assertEquals(other.code, 1);
    assertMatch(
      other.err,
      /Cannot read recording ".*a\.txt": its first line is no header\. Name a file of run --record/,
    );
    const missing = await runCommandLine(operator, ["page", join(folder, "b.jsonl")]);
    assertMatch(missing.err, /Cannot read recording ".*b\.jsonl"/);
    assertEquals((await runCommandLine(operator, ["page", recording, text])).code, 2);
    const open = await runCommandLine(operator, ["page", recording, "--bind-address", "0.0.0.0:0"]);
    assertMatch(open.err, /Cannot serve the page there: it is for this machine only/);
    // Without a terminal, an address with a token would be stored.
    const stored = await runCommandLine(operator, ["page", recording]);
    assertEquals(stored.code, 2);
    assertMatch(stored.err, /Cannot serve the page: it has no token.*Set --debug-token-file/);
  });
});

test("[138] on a terminal page shows the address with the token once, behind a #", async () => {
  await withFiles({ "a.jsonl": part(1, 1_000, 1) }, async (folder) => {
    const process = createProcess(["page", join(folder, "a.jsonl")], { terminal: { isTerminal: true } });
    const ending = startCommandLine(operator, process);
    const link = () => /(http:\/\/127\.0\.0\.1:\d+\/)#token=([0-9a-f]{64})\n/.exec(process.err);
    while (link() === null) await process.clock.advance(5);
    const [, url = "", token = ""] = link() ?? [];
    const headers = { authorization: `Bearer ${token}`, connection: "close" };
    assertEquals((await fetch(`${url}debug/source`, { headers })).status, 200);
    process.signal("SIGTERM");
    assertEquals(await endOf(ending, process, 5), 0, process.err);
    assertEquals(process.err.split(token).length, 3, "once in the link, once for another terminal");
  });
});
