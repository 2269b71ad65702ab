/**
 * Attacks on what `why` reads: a recording that somebody else wrote, and the answers of a debug endpoint that is none. A
 * generator makes entries whose ids repeat, whose causes form circles, and whose names are those of prototypes or control a
 * terminal; another one replaces each part of a good file or answer by values of other types.
 *
 * The rules: the command ends with an exit code and words, never as a defect (70); the answer is bounded; nothing of it
 * controls a terminal or begins a line.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Random, seededRandom } from "../../src/async/mod.ts";
import { operatorCli } from "../../src/cli/operator_cli.ts";
import { runCommandLine } from "../../src/cli/testing/run_command.ts";
import { answerWhy, explanationLines, type KnownController, whyNotLines } from "../../src/explain/mod.ts";
import type { Entry } from "../../src/observe/mod.ts";
import { serve } from "../../src/runtime/mod.ts";
import { assert, assertEquals, test } from "../testing.ts";

const evil = [
  "\u001b[2J\u001b]0;owned\u0007",
  "line\nfoo: all is well",
  "\u202egnp.exe\u2066",
  "\u009b31m\r",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "",
  "/",
  "a/b/c",
  "x".repeat(100_000),
] as const;
const at = Date.UTC(2026, 10, 23, 9, 12);
const foo = { resource: "foos.example.dev", kind: "Foo", key: "default/a" };
const controllers: readonly KnownController[] = [{ name: "foo", primary: foo, watched: [] }];
/** What would control a terminal, or make one line look like several. */
const controls = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

function picked<T>(values: readonly T[], random: Random): T {
  const value = values[Math.floor(random.next() * values.length)];
  assert(value !== undefined);
  return value;
}

/** An entry of each kind, about the Foo, with a text in each place that has one. */
function entryOf(kind: number, id: number, causes: readonly number[], word: string): Entry {
  const base = { id, at: at + id, causes, controller: "foo", key: foo.key };
  const by = [{ manager: word, operation: "Update", subresource: word, time: word }];
  const answer = { kind: "failed", code: 403, reason: word, message: word } as const;
  const kinds: readonly Entry[] = [
    { ...base, kind: "change", via: "watch", change: "updated", object: foo, fields: [{ path: word, to: word }], by },
    { ...base, kind: "change", via: "list", change: "deleted", object: { ...foo, kind: word }, by },
    { ...base, kind: "list", cache: word, object: foo, resourceVersion: word, objects: 1, isInitial: false },
    { ...base, kind: "enqueue", object: foo, role: "for", decision: "queued" },
    { ...base, kind: "enqueue", object: foo, role: "owns", decision: "rejected" },
    { ...base, kind: "queue", decision: "parked", reason: word, until: 1e300 },
    { ...base, kind: "queue", decision: "backoff", delayMs: -1e300, retries: 1e9 },
    { ...base, kind: "reconcile-start", waitedMs: 1e300, priority: 0, retries: id % 3 },
    { ...base, kind: "reconcile-end", outcome: "failed", durationMs: -5, error: word },
    { ...base, kind: "reconcile-end", outcome: "done", durationMs: 5 },
    { ...base, kind: "write", verb: "apply", object: foo, answer, durationMs: 1, fieldManager: word },
    {
      ...base,
      kind: "write",
      verb: "patch",
      object: foo,
      answer: { kind: "stored", resourceVersion: "1" },
      durationMs: 1,
    },
    { ...base, kind: "event", type: "Warning", reason: word, note: word, object: foo },
    { ...base, kind: "lease", lease: word, state: "standby", holder: word },
    { ...base, kind: "error", what: word, error: word, reason: "not-controlled", object: foo },
    { ...base, kind: "cache", cache: word, object: foo, state: "waiting", reason: word, error: word, until: 1e300 },
    {
      ...{ ...base, kind: "review", webhook: "validating", path: word, object: foo, operation: word, user: word },
      ...{ isAllowed: false, message: word, durationMs: 1 },
    },
    { ...base, kind: "note", actor: word, what: word, detail: word },
  ];
  const entry = kinds[kind % kinds.length];
  assert(entry !== undefined);
  return entry;
}

/** All lines of both answers about the Foo. */
function linesOf(entries: readonly Entry[]): readonly string[] {
  const ask = (isNot: boolean, isAll: boolean) => {
    const sources = { entries, controllers, now: at, limit: 10, isAll };
    const found = answerWhy({ kind: "foo", name: foo.key, isNot }, sources);
    if (found.kind === "unknown") return [found.problem, found.advice];
    return "reasons" in found.answer ? whyNotLines(found.answer) : explanationLines(found.answer, at);
  };
  return [...ask(false, false), ...ask(false, true), ...ask(true, false)];
}

test("[security 19] why ends bounded for entries whose ids repeat and whose causes form circles, and controls no terminal", () => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = seededRandom(seed);
    const count = 1 + Math.floor(random.next() * 60);
    const some = () => Math.floor(random.next() * count * 1.2) - 1;
    const entries = Array.from({ length: count }, (_, index) => {
      const id = random.next() < 0.8 ? index : some();
      const causes = Array.from({ length: Math.floor(random.next() * 4) }, some);
      return entryOf(Math.floor(random.next() * 1_000), id, causes, picked(evil, random));
    });
    const lines = linesOf(entries);
    assert(lines.length > 0, `seed ${seed}`);
    for (const line of lines) {
      assert(!controls.test(line), `seed ${seed}: ${JSON.stringify(line.slice(0, 500))}`);
      assert(line.length < 12_000, `seed ${seed}: a line of ${line.length} characters`);
    }
    assert(lines.length < 200, `seed ${seed}: ${lines.length} lines`);
  }
});

test("[security 19] why needs linear time: entries that all have the same id, the same cause or all causes", () => {
  const count = 20_000;
  const all = Array.from({ length: count }, (_, id) => id);
  const shapes: readonly ((index: number) => Entry)[] = [
    (index) => entryOf(index, 1, [1], "x"),
    (index) => entryOf(index, index, [0], "x"),
    (index) => entryOf(index, index, all, "x"),
    (index) => entryOf(index === 0 ? 0 : index % 2 === 0 ? 3 : 7, index, [index % 2 === 0 ? 0 : index - 1, 0], "x"),
    (index) => entryOf(7, index, [index + 1, index, index - 1], "x"),
  ];
  // A square of 20,000 would take minutes: the test would not end.
  for (const shape of shapes) assert(linesOf(Array.from({ length: count }, (_, index) => shape(index))).length < 200);
});

const odd: readonly unknown[] = [undefined, null, [], {}, "\u001b[2J\n", 7, -1, 1e300, true, [null], { toString: 5 }];

/** Copies of a value in which one part is odd, for each part and each odd value. */
function oddVersions(value: unknown): readonly unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) =>
    [...odd, ...oddVersions(part)].map((other) =>
      Array.isArray(value)
        ? value.map((item: unknown, index) => `${index}` === key ? other : item)
        : { ...value, [key]: other }
    )
  );
}

/** A command may end with success, an error in words, or missing permissions. */
function assertHarmless(
  { code, out, err }: { readonly code: number; readonly out: string; readonly err: string },
  what: string,
) {
  assert([0, 1, 4].includes(code), `${what}: exit code ${code}: ${err}`);
  for (const line of [...out.split("\n"), ...err.split("\n")]) {
    assert(!controls.test(line), `${what}: ${JSON.stringify(line)}`);
  }
  assert(code === 0 ? out.trim() !== "" : /^op: Cannot /m.test(err), `${what}: ${out}${err}`);
}

test("[security 19] why reads a file with entries of any shape, or says which line is none", async () => {
  const folder = await mkdtemp(join(tmpdir(), "pintle-hostile-"));
  try {
    const header = { pintleRecording: 1, operator: "op", version: "1", controllers: ["foo"], startedAt: at };
    const path = join(folder, "incident.jsonl");
    const operator = { name: "op", controllers: [] };
    for (let kind = 0; kind < 18; kind++) {
      const good = [0, 3, 7, 9].map((each, index) => entryOf(each, index + 1, index === 0 ? [] : [index], "x"));
      const versions = oddVersions(entryOf(kind, 5, [3], "x"));
      assert(versions.length > 20);
      // The odd ones in one file; and each that is refused must be refused by its line.
      for (const [index, version] of versions.entries()) {
        if (index % 5 !== kind % 5) continue;
        await writeFile(path, [header, ...good, version, good[0]].map((line) => `${JSON.stringify(line)}\n`).join(""));
        for (const args of [[], ["--not"], ["--all"]]) {
          const ended = await runCommandLine(operator, ["why", "foo", foo.key, "--file", path, ...args]);
          assertHarmless(ended, JSON.stringify(version));
        }
      }
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("[security 19] why shows what any debug endpoint answers without control characters, or refuses it", async () => {
  const step = { kind: "cause", text: "a\u001b[2J\nb", at, entries: [1] };
  const chains = { now: at, object: foo, chains: [{ at, outcome: "done", steps: [step] }], notes: ["c\u009b"] };
  const reasons = {
    now: at,
    object: foo,
    reasons: [{ kind: "parked", text: "a\u202eb", advice: "\r", at, entries: [1] }],
  };
  let body = "";
  await using server = await serve({ handler: () => new Response(body), onError: console.error });
  const ask = async (...args: readonly string[]) => {
    let [out, err] = ["", ""];
    const code = await operatorCli({ name: "op", controllers: [] }, {
      args: ["why", "foo", foo.key, "--address", `127.0.0.1:${server.port}`, ...args],
      environment: { HOME: "/nonexistent", OP_DEBUG_TOKEN: "a-token-of-the-test" },
      stdout: { write: (text) => out += text },
      stderr: { write: (text) => err += text },
    });
    return { code, out, err };
  };
  for (
    const [good, ...args] of [[chains], [reasons, "--not"], [chains, "-o", "json"], [
      reasons,
      "--not",
      "-o",
      "yaml",
    ]] as const
  ) {
    for (const version of [good, ...oddVersions(good)]) {
      body = JSON.stringify(version);
      assertHarmless(await ask(...args), body);
    }
  }
  for (const text of ["", "[".repeat(100_000), `{"now":1,"chains":${"[".repeat(50_000)}`, "\u001b[2J"]) {
    body = text;
    const ended = await ask();
    assertHarmless(ended, text.slice(0, 50));
    assertEquals(ended.code, 1);
  }
});
