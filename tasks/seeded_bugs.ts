/**
 * Tests the simulation: puts one seeded bug after another into a copy of the tree, simulates, and records which controller,
 * fault and invariant revealed it. Writes the table of docs/SIMULATION.md.
 *
 *   deno run -A tasks/seeded_bugs.ts [NAME...]     tests all bugs of tests/simulation/bugs, or the named ones; the rows of
 *                                                  the others stay unchanged
 */
import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { root } from "./_root.ts";

interface Bug {
  /** What the bug does, as a sentence. */
  readonly about: string;
  /** The file with the bug. */
  readonly file: string;
  readonly edits: readonly { readonly find: string; readonly replace: string }[];
  /** Controllers to simulate. */
  readonly controllers: readonly string[];
  /** The members of a fleet. @default one cluster, without a fleet */
  readonly members?: number;
  /** Kinds of faults to test first. @default all, in their order */
  readonly likely?: readonly string[];
}

/** The finding that revealed a bug. */
interface Finding {
  readonly controller: string;
  readonly workload: string;
  readonly plan: { readonly faults: readonly { readonly kind: string }[] };
  readonly violations: readonly { readonly invariant: string }[];
}

const folder = join(root, "tests", "simulation", "bugs");
const page = join(root, "docs", "SIMULATION.md");
const [begin, end] = ["<!-- seeded bugs: begin -->", "<!-- seeded bugs: end -->"];
/** Storms per workload: enough for bugs that need two faults at once. */
const storms = 20;
/** Bugs that are tested at the same time, each in its own process. */
const concurrency = 2;

/** Tests one bug. @returns undefined when the simulation missed it */
async function findBug(bug: Bug): Promise<Finding | undefined> {
  const copy = await mkdtemp(join(tmpdir(), "pintle-bug-"));
  try {
    for (const part of ["src", "tests/simulation", "tests/testing.ts", "deno.json"]) {
      await cp(join(root, part), join(copy, part), { recursive: true });
    }
    await symlink(join(root, "node_modules"), join(copy, "node_modules"));
    await applyBug(join(copy, bug.file), bug);
    const args = [String(storms), bug.likely?.join(",") ?? "", String(bug.members ?? 0), ...bug.controllers];
    const command = [join(root, "tasks/bun.sh"), "run", join(copy, "tests/simulation/_find_violation.ts"), ...args];
    const { stdout } = await promisify(execFile)("sh", command, { cwd: copy, maxBuffer: 2 ** 28 });
    const found: Finding | null = JSON.parse(stdout.trim().split("\n").at(-1) ?? "null");
    return found ?? undefined;
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

async function applyBug(path: string, { edits }: Bug): Promise<void> {
  let text = await readFile(path, "utf8");
  for (const { find, replace } of edits) {
    if (text.split(find).length !== 2) {
      throw new Error(`Cannot apply a bug to ${path}: the text to replace does not occur exactly once: ${find}`);
    }
    text = text.replace(find, () => replace);
  }
  await writeFile(path, text);
}

function rowOf(name: string, { about }: Bug, found: Finding | undefined): string {
  if (found === undefined) return `| ${name} | ${about} | missed | | |`;
  const faults = [...new Set(found.plan.faults.map(({ kind }) => kind))].join(", ") || "none";
  const invariants = [...new Set(found.violations.map(({ invariant }) => invariant))].join(", ");
  return `| ${name} | ${about} | ${found.controller}, ${found.workload} | ${faults} | ${invariants} |`;
}

/** Writes the rows into the page, in the format of `deno fmt`. */
async function writePage(rows: ReadonlyMap<string, string>, names: readonly string[]): Promise<void> {
  const text = await readFile(page, "utf8");
  const [before = "", old = "", after = ""] = text.split(new RegExp(`${begin}|${end}`));
  const oldRows = old.split("\n").flatMap((line): (readonly [string, string])[] => {
    const name = /^\| (\w+) /.exec(line)?.[1];
    return name === undefined || !names.includes(name) ? [] : [[name, line]];
  });
  const merged = new Map([...oldRows, ...rows]);
  const sorted = [...merged].toSorted(([one], [other]) => one < other ? -1 : 1).map(([, line]) => line);
  const found = sorted.filter((line) => !line.includes("| missed")).length;
  const table = [
    `${found} of ${names.length} bugs are found.`,
    "",
    "| bug | what it does | found in | by the fault | violated invariants |",
    "| --- | --- | --- | --- | --- |",
    ...sorted,
  ].join("\n");
  await writeFile(page, `${before}${begin}\n\n${table}\n\n${end}${after}`);
  await promisify(execFile)("deno", ["fmt", "--quiet", page], { cwd: root });
}

const selected = process.argv.slice(2);
const names = (await readdir(folder)).map((file) => file.replace(/\.json$/, "")).toSorted();
const remaining = names.filter((one) => selected.length === 0 || selected.includes(one)).values();
const rows = new Map<string, string>();

async function testRemaining(): Promise<void> {
  for (const name of remaining) {
    const bug: Bug = JSON.parse(await readFile(join(folder, `${name}.json`), "utf8"));
    const row = rowOf(name, bug, await findBug(bug));
    console.log(row);
    rows.set(name, row);
  }
}

await Promise.all(Array.from({ length: concurrency }, testRemaining));
await writePage(rows, names);
