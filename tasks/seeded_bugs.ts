/**
 * The simulation's own test: puts one bug after another into a copy of the tree, simulates, and notes who was caught by what.
 * Writes the table of docs/SIMULATION.md.
 *
 *   deno run -A tasks/seeded_bugs.ts [NAME...]     plays all bugs of tests/simulation/bugs, or those named; the rows of
 *                                                  others stay as they are
 */
import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { root } from "./_root.ts";

interface Bug {
  readonly about: string;
  readonly file: string;
  readonly edits: readonly { readonly find: string; readonly replace: string }[];
  /** Controllers to simulate. */
  readonly play: readonly string[];
  /** Kinds of faults to begin with. @default all of them in their order */
  readonly likely?: readonly string[];
}

interface Caught {
  readonly controller: string;
  readonly workload: string;
  readonly plan: { readonly faults: readonly { readonly kind: string }[] };
  readonly violations: readonly { readonly invariant: string }[];
}

const folder = join(root, "tests", "simulation", "bugs");
const page = join(root, "docs", "SIMULATION.md");
const [begin, end] = ["<!-- seeded bugs: begin -->", "<!-- seeded bugs: end -->"];
/** Storms per workload: enough for what needs two faults at once. */
const storms = 20;
/** Bugs that are played at the same time, each in a process of its own. */
const atOnce = 2;

/** Plays one bug. @returns undefined when it was not caught */
async function caught(bug: Bug): Promise<Caught | undefined> {
  const copy = await mkdtemp(join(tmpdir(), "pintle-bug-"));
  try {
    for (const part of ["src", "tests/simulation", "tests/testing.ts", "deno.json"]) {
      await cp(join(root, part), join(copy, part), { recursive: true });
    }
    await symlink(join(root, "node_modules"), join(copy, "node_modules"));
    await spoil(join(copy, bug.file), bug);
    const hunt = [
      "run",
      join(copy, "tests/simulation/_hunt.ts"),
      String(storms),
      bug.likely?.join(",") ?? "",
      ...bug.play,
    ];
    const { stdout } = await promisify(execFile)("sh", [join(root, "tasks/bun.sh"), ...hunt], {
      cwd: copy,
      maxBuffer: 2 ** 28,
    });
    const found: Caught | null = JSON.parse(stdout.trim().split("\n").at(-1) ?? "null");
    return found ?? undefined;
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

async function spoil(path: string, { edits }: Bug): Promise<void> {
  let text = await readFile(path, "utf8");
  for (const { find, replace } of edits) {
    if (text.split(find).length !== 2) {
      throw new Error(`Cannot put a bug into ${path}: its place is not there: ${find}`);
    }
    text = text.replace(find, () => replace);
  }
  await writeFile(path, text);
}

function row(name: string, { about }: Bug, found: Caught | undefined): string {
  if (found === undefined) return `| ${name} | ${about} | missed | | |`;
  const faults = [...new Set(found.plan.faults.map(({ kind }) => kind))].join(", ") || "none";
  const invariants = [...new Set(found.violations.map(({ invariant }) => invariant))].join(", ");
  return `| ${name} | ${about} | ${found.controller}, ${found.workload} | ${faults} | ${invariants} |`;
}

/** Puts the rows into the page, as `deno fmt` leaves it. */
async function writePage(rows: ReadonlyMap<string, string>): Promise<void> {
  const text = await readFile(page, "utf8");
  const [before = "", old = "", after = ""] = text.split(new RegExp(`${begin}|${end}`));
  const kept = old.split("\n").flatMap((line): (readonly [string, string])[] => {
    const name = /^\| (\w+) /.exec(line)?.[1];
    return name === undefined || !names.includes(name) ? [] : [[name, line]];
  });
  const all = [...new Map([...kept, ...rows])].toSorted(([one], [other]) => one < other ? -1 : 1).map(([, line]) =>
    line
  );
  const caughtRows = all.filter((line) => !line.includes("| missed")).length;
  const table = [
    `${caughtRows} of the ${all.length} that were played are caught; there are ${names.length}.`,
    "",
    "| bug | what it does | caught in | by | what was wrong |",
    "| --- | --- | --- | --- | --- |",
    ...all,
  ].join("\n");
  await writeFile(page, `${before}${begin}\n\n${table}\n\n${end}${after}`);
  await promisify(execFile)("deno", ["fmt", "--quiet", page], { cwd: root });
}

const wanted = process.argv.slice(2);
const names = (await readdir(folder)).map((file) => file.replace(/\.json$/, "")).toSorted();
const rest = names.filter((one) => wanted.length === 0 || wanted.includes(one)).values();

async function playRest(): Promise<void> {
  for (const name of rest) {
    const bug: Bug = JSON.parse(await readFile(join(folder, `${name}.json`), "utf8"));
    const line = row(name, bug, await caught(bug));
    console.log(line);
    rows.set(name, line);
  }
}

const rows = new Map<string, string>();
await Promise.all(Array.from({ length: atOnce }, playRest));
await writePage(rows);
