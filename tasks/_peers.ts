/**
 * The comparison with other frameworks: reads its rows (tests/peers.yaml), checks what they claim against the repository, and
 * writes docs/PEERS.md. The task and tests/peers_test.ts use it.
 *
 * A row is evidence only as far as it names: an export of the package or a flag of the command line, and a test by the file
 * and the name that it has there.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { operatorCli, packageCli, type ProcessEnvironment } from "../src/cli/mod.ts";
import { parseYaml } from "../src/yaml/mod.ts";
import { root } from "./_root.ts";

/** The frameworks, in the order of the page. */
const frameworks = ["client-go", "controller-runtime", "kube-rs", "JOSDK", "kopf", "pepr", "client-node"] as const;

/** How many rows there are: a row may be added, and none may be lost. */
export const rowCount = 126;

const row = z.strictObject({
  id: z.int().positive(),
  group: z.string().min(1),
  feature: z.string().min(1),
  peers: z.array(z.enum(frameworks)),
  state: z.enum(["yes", "partial", "open", "not needed"]),
  /** Names of exports, or lines such as `controller run --once`. */
  surface: z.array(z.string().min(1)).default([]),
  test: z.strictObject({ file: z.string(), name: z.string().min(1) }).optional(),
  /** What is missing, or why nothing is needed. */
  note: z.string().optional(),
});

/** One feature. */
export type PeerRow = Readonly<z.output<typeof row>>;

/** The rows of a text. @throws when it is not YAML, or has rows of another form */
export function parseRows(text: string): readonly PeerRow[] {
  return z.array(row).parse(parseYaml(text).value());
}

/** The rows of tests/peers.yaml. */
export function peerRows(): readonly PeerRow[] {
  return parseRows(readFileSync(join(root, "tests", "peers.yaml"), "utf8"));
}

/** What rows are checked against. */
export interface Facts {
  /** The names that the package exports, of all entries. */
  readonly exports: ReadonlySet<string>;
  /** The help of a command, without the program's name; undefined if there is no such command. */
  readonly helpOf: (command: string) => Promise<string | undefined>;
  /** The text of a file of the repository; undefined if there is none. */
  readonly read: (path: string) => string | undefined;
}

/** The facts of this repository. */
export function repositoryFacts(): Facts {
  const listing = readFileSync(join(root, "tests", "golden", "public_api.txt"), "utf8");
  const helps = new Map<string, Promise<string | undefined>>();
  return {
    exports: new Set([...listing.matchAll(/^ {2}(\w+) /gm)].map(([, name = ""]) => name)),
    helpOf: (command) => {
      const help = helps.get(command) ?? commandHelp(command);
      helps.set(command, help);
      return help;
    },
    read: (path) => (existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : undefined),
  };
}

/** The help of a command of an operator, else of the package. */
async function commandHelp(command: string): Promise<string | undefined> {
  const operator = { name: "controller", version: "0.0.0", controllers: [] };
  return await helpOf(command, (process) => operatorCli(operator, process)) ?? await helpOf(command, packageCli);
}

async function helpOf(
  command: string,
  run: (process: ProcessEnvironment) => Promise<number>,
): Promise<string | undefined> {
  let text = "";
  const size = { isTerminal: false, columns: 200 };
  const stdout = { ...size, write: (chunk: string) => void (text += chunk) };
  const code = await run({ args: [command, "--help"], stdout, stderr: { ...size, write: () => {} } });
  return code === 0 ? text : undefined;
}

/** What is wrong with the rows: claims without evidence, and evidence that does not exist. */
export async function problemsOf(rows: readonly PeerRow[], facts: Facts): Promise<readonly string[]> {
  const numbers = rows.map(({ id }) => id);
  const order = numbers.every((id, index) => id === index + 1)
    ? []
    : ["Cannot list the rows: their ids are not 1 to n"];
  const problems = await Promise.all(rows.map((one) => problemsOfRow(one, facts)));
  return [...order, ...problems.flatMap((list, index) => list.map((problem) => `row ${rows[index]?.id}: ${problem}`))];
}

async function problemsOfRow({ state, surface, test, note }: PeerRow, facts: Facts): Promise<readonly string[]> {
  const missing = await Promise.all(surface.map((name) => surfaceProblem(name, facts)));
  return [
    ...missing.flatMap((problem) => problem ?? []),
    ...(test === undefined ? [] : testProblem(test, facts)),
    ...(state !== "open" && (surface.length === 0 || test === undefined)
      ? [`${state} needs a surface and a test`]
      : []),
    ...(state !== "yes" && state !== "open" && note === undefined ? [`${state} needs a note`] : []),
  ];
}

async function surfaceProblem(name: string, facts: Facts): Promise<string | undefined> {
  const [program, command = "", ...flags] = name.split(" ");
  if (program !== "controller" || command === "") {
    return facts.exports.has(name) ? undefined : `the package exports no ${name}`;
  }
  const help = await facts.helpOf(command);
  if (help === undefined) return `there is no command ${command}`;
  const absent = flags.filter((flag) => !new RegExp(`${flag}(?![\\w-])`).test(help));
  return absent.length === 0 ? undefined : `${command} has no flag ${absent.join(", ")}`;
}

function testProblem(test: NonNullable<PeerRow["test"]>, { read }: Facts): readonly string[] {
  const text = read(test.file);
  if (text === undefined) return [`there is no file ${test.file}`];
  return text.includes(`${test.name}"`) || text.includes(`${test.name}\``)
    ? []
    : [`${test.file} has no test "${test.name}"`];
}

/** The page. */
export function peersPage(rows: readonly PeerRow[]): string {
  const groups = [...new Set(rows.map(({ group }) => group))];
  return [
    // One line for each row, so that two changes of different rows merge.
    "<!-- deno-fmt-ignore-file -->",
    "# Features of other frameworks",
    `Written by \`deno task peers\` from [tests/peers.yaml](../tests/peers.yaml). The rows are the features of ${
      frameworks.join(", ")
    }, and some that none of them has. A row names an export of the package or a flag of the command line, and a test that ` +
    "fails without the feature; `deno task ok` checks that all of them exist.",
    "The column *who has it* comes from reading the sources of the frameworks in 2026: nothing was run, a framework is named " +
    "only if it has the feature as a whole, and a library that it is built on counts.",
    ...groups.flatMap((group) => [`## ${group}`, tableOf(rows.filter((one) => one.group === group))]),
  ].join("\n\n") + "\n";
}

function tableOf(rows: readonly PeerRow[]): string {
  const lines = rows.map(({ id, feature, peers, state, surface, test, note }) => {
    const here = surface.map((name) => `\`${name}\``).join(", ");
    const evidence = test === undefined ? "" : `${escaped(test.name)} ([test](../${test.file}))`;
    const whole = [state, escaped(note ?? "")].filter((text) => text !== "").join(": ");
    return `| ${[id, escaped(feature), peers.join(", "), whole, here, evidence].join(" | ")} |`;
  });
  return ["| # | feature | who has it | Pintle | where | test |", "|---|---|---|---|---|---|", ...lines].join("\n");
}

/** A text as Markdown shows it to the letter; what is between backticks is code already. */
function escaped(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;").replaceAll(
    /[*_[\]](?=(?:[^`]*`[^`]*`)*[^`]*$)/g,
    String.raw`\$&`,
  );
}
