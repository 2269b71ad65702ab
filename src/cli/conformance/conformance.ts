/**
 * `conformance`: plays the requests of files against two API servers, and prints what they answer differently.
 *
 * Guarantees: each case has a namespace of its own on each server, which is deleted afterwards; nothing else is changed, unless
 * a case says so. Values that always differ are masked; no value of a Secret is printed.
 */
import { type Random, scope, untilAborted } from "../../async/mod.ts";
import { errorText, type Line, printable } from "../../observe/mod.ts";
import {
  type Call,
  CommandError,
  type ExitCode,
  exitCode,
  listenForInterrupts,
  type Session,
  subcommand,
} from "../command/mod.ts";
import { UsageError } from "../flags/mod.ts";
import { count, formatValue, toned } from "../output/mod.ts";
import type { Transcript } from "./case_recorder.ts";
import { type ConformanceFlags, conformanceFlags } from "./conformance_flags.ts";
import { type ComparedServer, playCase, type PlayOptions, replacer } from "./play_case.ts";
import { readCases, type RequestCase } from "./request_files.ts";
import { choicesOf, connectServers, namesOf } from "./servers.ts";
import { type ServerNames, shownDifference, withoutSecrets } from "./transcript.ts";

/** The command. */
export const conformance = subcommand({
  description: [
    "Plays the requests of files against two API servers, and prints what they answer differently. Each case gets a new",
    "namespace on each server, which is deleted afterwards; nothing else is changed, unless a case says clusterWrites: true.",
    "Exit code: 0 if all cases agree, 2 if some differ, other codes for errors; an invalid command line is 1.",
  ].join(" "),
  positionals: {
    syntax: "[files...]",
    about: "request files, folders with them, or - for standard input",
    choices: [],
    completes: "file",
  },
  examples: [
    { line: "--kubeconfig old.yaml --kubeconfig new.yaml requests/", about: "compare the servers of two kubeconfigs" },
    { line: "--context old --context new requests.yaml", about: "those of two contexts of the kubeconfig" },
    { line: "--embedded requests.yaml", about: "the server of the current context, and the embedded one" },
    { line: "--embedded --dry-run requests.yaml", about: "what would be created" },
  ],
  flags: conformanceFlags,
  quietLoggers: ["client"],
  async run(call) {
    using interrupts = listenForInterrupts(call.session);
    return await Promise.race([interrupts.forced, runConformance(call, interrupts.stop)]);
  },
});

/** A case on both servers. */
interface ComparedCase {
  readonly name: string;
  readonly place: string;
  /** Why it could not be compared. */
  readonly error?: string;
  /** The lines of a unified diff; none if the servers agree. */
  readonly difference: readonly string[];
  /** The masked answers of a case that differs. */
  readonly answers?: { readonly left: unknown; readonly right: unknown };
}

async function runConformance(
  { flags, positionals, session }: Call<ConformanceFlags>,
  signal: AbortSignal,
): Promise<ExitCode> {
  if (positionals.length === 0) {
    throw new UsageError(
      "Cannot compare servers: no request file is named",
      "Example: conformance --embedded requests.yaml",
    );
  }
  const names = namesOf(choicesOf(flags));
  const cases = await readCases(positionals, session.processEnvironment.stdin);
  if (flags.dryRun) {
    session.print(
      ...cases.flatMap(dryRunLines),
      `${count(cases.length, "case")} on ${names.map(quoted).join(" and ")}`,
    );
    return exitCode.done;
  }
  const results = await compareAll(cases, { flags, session, signal, names });
  const agreeing = results.filter(({ error, difference }) => error === undefined && difference.length === 0).length;
  const failed = results.filter(({ error }) => error !== undefined).length;
  if (flags.output === "json") session.printDocument(formatValue(documentOf(results, names, agreeing), "json"));
  else session.print(summaryText(results.length, agreeing, failed));
  if (signal.aborted) throw new CommandError("Cannot compare all cases: a signal ended it", { code: exitCode.failed });
  if (failed > 0) {
    const [first] = results.filter(({ error }) => error !== undefined);
    throw new CommandError(`Cannot compare ${count(failed, "case")}: ${first?.error}`, { code: exitCode.failed });
  }
  return agreeing === results.length ? exitCode.done : exitCode.changes;
}

interface CompareOptions {
  readonly flags: ConformanceFlags;
  readonly session: Session;
  readonly signal: AbortSignal;
  readonly names: ServerNames;
}

async function compareAll(
  cases: readonly RequestCase[],
  { flags, session, signal, names }: CompareOptions,
): Promise<readonly ComparedCase[]> {
  const { clock, random } = session.processEnvironment;
  const [left, right] = await untilAborted(connectServers(flags, session, signal), signal);
  using _left = left;
  using _right = right;
  session.info(plannedText(cases, names));
  const results: ComparedCase[] = [];
  for (const subject of cases) {
    if (signal.aborted) break;
    using playing = scope(signal);
    const requestTimeoutMs = flags.requestTimeout === 0 ? Infinity : flags.requestTimeout;
    const options = { clock, signal: playing.signal, requestTimeoutMs };
    const result = await compareCase(subject, [left, right], { ...options, names, random });
    results.push(result);
    if (flags.output === "diff") session.print(...caseLines(result));
  }
  return results;
}

async function compareCase(
  { name, ...rest }: RequestCase,
  [left, right]: readonly [ComparedServer, ComparedServer],
  { names, random, ...options }: Omit<PlayOptions, "unique"> & { readonly names: ServerNames; readonly random: Random },
): Promise<ComparedCase> {
  const { place } = rest;
  const play = (server: ComparedServer) =>
    playCase({ name, ...rest }, server, { ...options, unique: uniqueWord(random) });
  const played = await Promise.allSettled([play(left), play(right)]);
  const [index, failure] = [...played.entries()].find(([, { status }]) => status === "rejected") ?? [];
  if (failure?.status === "rejected") {
    const error = `"${name}" on ${quoted(names[index === 1 ? 1 : 0])}: ${errorText(failure.reason)}`;
    return { name, place, error: printable(error, 1_000), difference: [] };
  }
  const [before = [], after = []] = played.map((one): Transcript => one.status === "fulfilled" ? one.value : []);
  const difference = shownDifference(before, after, names);
  if (difference.length === 0) return { name, place, difference };
  return { name, place, difference, answers: withoutSecrets(before, after, names) };
}

/** Eight letters and digits. */
function uniqueWord(random: Random): string {
  const part = () => Math.floor(random.next() * 0x10000).toString(16).padStart(4, "0");
  return part() + part();
}

/** What will be created, on stderr: nothing is asked. */
function plannedText(cases: readonly RequestCase[], names: ServerNames): string {
  const namespaces = cases.filter(({ hasNamespace }) => hasNamespace).length;
  const others = cases.filter(({ clusterWrites }) => clusterWrites).length;
  const texts = [
    `creating and deleting ${count(namespaces, "namespace")} conformance-… on ${names.map(quoted).join(" and ")}`,
    ...(others === 0 ? [] : [`${count(others, "case")} with clusterWrites may change something else`]),
  ];
  return texts.join("; ");
}

/** A case as it would be played. */
function dryRunLines({ name, place, hasNamespace, clusterWrites, requests, cleanup }: RequestCase): readonly Line[] {
  const replaced = replacer({ namespace: "conformance-UNIQUE", unique: "UNIQUE" });
  const lineOf = ({ method, path, watch, as: sender }: RequestCase["requests"][number]) =>
    `  ${watch === undefined ? method : "WATCH"} ${replaced(path)}${sender === undefined ? "" : ` as ${sender.user}`}`;
  return [
    toned(`${name} (${place})${clusterWrites ? ", with clusterWrites" : ""}`, "strong"),
    ...(hasNamespace ? ["  create namespace conformance-UNIQUE"] : []),
    ...requests.map(lineOf),
    ...cleanup.map((request) => `${lineOf(request)} (cleanup)`),
    ...(hasNamespace ? ["  delete namespace conformance-UNIQUE"] : []),
  ];
}

function caseLines({ name, place, error, difference }: ComparedCase): readonly Line[] {
  if (error !== undefined) return [toned(`# error: ${name} (${place}): ${error}`, "error")];
  if (difference.length === 0) return [];
  return [toned(`# differs: ${name} (${place})`, "strong"), ...difference.map(coloured)];
}

function coloured(line: string): Line {
  if (/^(---|\+\+\+) /.test(line)) return toned(line, "muted");
  if (line.startsWith("@@")) return toned(line, "info");
  if (line.startsWith("-")) return toned(line, "error");
  return line.startsWith("+") ? toned(line, "success") : line;
}

function summaryText(all: number, agreeing: number, failed: number): string {
  return `${count(all, "case")}, ${agreeing} agree${failed === 0 ? "" : `, ${count(failed, "error")}`}`;
}

/** The result for programs. */
function documentOf(results: readonly ComparedCase[], names: ServerNames, agreeing: number): object {
  return {
    apiVersion: "pintle.dev/v1alpha1",
    kind: "Conformance",
    servers: names,
    summary: { cases: results.length, agree: agreeing },
    cases: results.map(({ name, place, error, difference, answers }) => ({
      name,
      place,
      result: error !== undefined ? "error" : difference.length === 0 ? "agrees" : "differs",
      ...(error === undefined ? {} : { error }),
      ...(answers === undefined ? {} : { difference: difference.join("\n"), ...answers }),
    })),
  };
}

function quoted(name: string): string {
  return `"${name}"`;
}
