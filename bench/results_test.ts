/**
 * What is said of RESULTS.md elsewhere: the figures of the project's README.md are its figures, and each bar that it misses
 * has a paragraph in README.md beside it that says what holds it back.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../tasks/_root.ts";
import { assert, assertEquals, test } from "../tests/testing.ts";

/** A row of the first table of RESULTS.md. */
interface Row {
  readonly title: string;
  readonly number: string;
  readonly ours: string;
  readonly peer: string;
  readonly ratio: string;
  readonly isMissed: boolean;
}

const manager = "controller-runtime";
/** The rows of "Compared with Go" in README.md that are measured: of each figure the title of its case, its number and its peer. */
const compared: Readonly<Record<string, readonly (readonly [title: RegExp, number: string, peer: string])[]>> = {
  "50,000 objects into a cache: time, CPU, memory": [
    [/^50,000 Foos into a cache$/, "time", `${manager} (typed)`],
    [/^50,000 Foos into a cache$/, "CPU (user + sys)", `${manager} (typed)`],
    [/^50,000 Foos into a cache$/, "max RSS", `${manager} (typed)`],
  ],
  "5,000 objects reconciled: time, CPU": [
    [/^5,000 Foos reconciled/, "time", manager],
    [/^5,000 Foos reconciled/, "CPU (user + sys)", manager],
  ],
  "from an update to its reconcile, median": [[/^update → reconcile begins/, "p50", manager]],
  "a webhook at 200 requests a second: CPU": [[/^defaulting webhook, 200/, "CPU (user + sys)", manager]],
  "process start to first sync": [[/^process start → first sync/, "time", manager]],
  "memory at rest": [[/^process start → first sync/, "idle RSS", manager]],
};

/** Where README.md speaks of a missed bar: the case and the number, and how its paragraph begins. */
const reasons: readonly (readonly [bar: RegExp, paragraph: string])[] = [
  [/^50,000 Foos into a cache/, "Resident memory of 50,000 Foos"],
  [/Foos reconciled/, "CPU of 5,000 reconciles"],
  [/^update → reconcile begins/, "p99 from update to reconcile"],
  [/^process start .*idle R/, "Idle memory"],
  [/^cost as the work grows/, "Cost as the work grows"],
  [/^defaulting webhook/, "A webhook"],
  [/^conversion webhook/, "Memory of a conversion webhook under hostile reviews"],
  [/type-checked.*TypeScript 5.9, all/, "A first check by TypeScript 5.9"],
  [/^a suite of 60 specs.*max RSS/, "Memory of the servers of envtest"],
  [/^`controller dev foo`/, "Peak memory of `controller dev`"],
  [/^RSS of an API server per stored Foo/, "RSS per stored object"],
  [/sharded replicas.*Deployments back/, "Shards"],
  [/^`controller simulate/, "Schedules of a simulation"],
  [/^the released binary size/, "Size of the binary"],
];

function read(...path: readonly string[]): string {
  return readFileSync(join(root, ...path), "utf8");
}

const rows: readonly Row[] = read("bench", "RESULTS.md").split("\n## ")[0]?.split("\n")
  .filter((line) => line.startsWith("| ")).slice(2).map((line) => {
    const [title = "", number = "", ours = "", peer = "", ratio = "", , , verdict = ""] = line.slice(2).split(" | ");
    return { title, number, ours, peer, ratio, isMissed: verdict.startsWith("**missed**") };
  }) ?? [];

test("what README.md says about Go are the figures of RESULTS.md", () => {
  const table = new Map(
    [...read("README.md").matchAll(/^\| (.+?) +\| (.+?) +\| 1 +\|$/gm)].map((
      [, label = "", text = ""],
    ) => [label, text]),
  );
  assertEquals([...table.keys()], Object.keys(compared));
  for (const [label, figures] of Object.entries(compared)) {
    const found = figures.map(([title, number, peer]) =>
      rows.find((row) => title.test(row.title) && row.number === number && row.peer.startsWith(`${peer}: `))
    );
    const ratios = found.map((row) => `${row?.ratio} ×`).join(", ");
    assertEquals(table.get(label)?.replace(/ \(.*\)$/, ""), ratios, label);
    const absolute = / \((.*)\)$/.exec(table.get(label) ?? "")?.[1];
    if (absolute !== undefined) assertEquals(absolute, found[0]?.ours, label);
  }
});

test("README.md beside it says what holds each missed bar back, with its figure", () => {
  const paragraphs = read("bench", "README.md").split(/^(?=\*\*|## )/m).map((text) => text.replace(/\s+/g, " "));
  const missed = rows.filter(({ isMissed }) => isMissed);
  assert(missed.length > 0);
  const unsaid: string[] = [];
  for (const { title, number, ratio } of missed) {
    const bar = `${title} ${number}`;
    const heading = reasons.find(([pattern]) => pattern.test(bar))?.[1];
    assert(heading !== undefined, `${bar}: it has no paragraph`);
    const text = paragraphs.find((paragraph) => paragraph.startsWith(`**${heading}`)) ?? "";
    if (!text.includes(ratio)) unsaid.push(`${bar}: "${heading}" does not say ${ratio}, its ratio`);
  }
  assertEquals(unsaid, []);
});
