/**
 * `replay`: runs the controllers of this program on a recording of `run --record`, in memory and under the recorded clock, and
 * compares what they write. An incident becomes a regression test: with the program that was recorded it says "the same",
 * with a newer one it shows the first write that differs.
 *
 * Guarantees: there is no cluster and no network; while the controllers run, this process calls nobody, and a controller
 * writes no file and prints nothing. What the recording does not tell is reported, and never guessed.
 */
import { type Scope, scope, untilAborted } from "../../async/mod.ts";
import { History } from "../../explain/mod.ts";
import { knownController, type OperatorController, type RunSetup } from "../../manager/mod.ts";
import type { Entry } from "../../observe/mod.ts";
import { findText, refuseOutgoingCalls } from "../../runtime/mod.ts";
import {
  type Call,
  CommandError,
  type ExitCode,
  exitCode,
  listenForInterrupts,
  selectControllers,
  subcommand,
} from "../command/mod.ts";
import { UsageError } from "../flags/mod.ts";
import { formatValue, listOf } from "../output/mod.ts";
import { readRecordingFiles, type RecordedRun } from "../recording/mod.ts";
import { configureControllers, controllerFlagGroups } from "../run/mod.ts";
import { causesOf, differenceLines, headline, notComparedTexts, summaryText, timeText } from "./print_replay.ts";
import { type ReplayEnd, type ReplayFlags, replayFlags } from "./replay_flags.ts";
import { Steps } from "./steps.ts";
import { type ReplayResult, replayRun } from "./replay_run.ts";

/** The command. */
export const replay = subcommand({
  description: [
    "Runs the controllers of this program on a recording of run --record, in memory and at the recorded times, and shows the",
    "first write that differs from the recorded one, with its causes. Give the flags of the controllers that run had. Exit",
    "code: 0 when all is the same, 2 when something differs, 1 for errors and an invalid command line.",
  ].join(" "),
  positionals: {
    syntax: "<file>",
    about:
      "the recording; of a rotated one, the newest file (FILE.1 and so on are read before it); - for standard input",
    choices: [],
    completes: "file",
  },
  examples: [
    { line: "incident.jsonl", about: "does this build do the same" },
    { line: "incident.jsonl --controllers NAME --key default/web", about: "one object of one controller" },
    { line: "incident.jsonl --step", about: "one input after the other" },
    { line: "incident.jsonl -o json", about: "for a script: all differences" },
  ],
  flags: replayFlags,
  extraFlags: controllerFlagGroups,
  hidesExtraFlags: true,
  silentLoggers: ({ controllers }) => ["manager", "client", "cache", ...controllers.flatMap(loggersOf)],
  async run(call) {
    using interrupts = listenForInterrupts(call.session);
    using stopping = scope(interrupts.stop);
    return await Promise.race([interrupts.forced, runReplay(call, stopping)]);
  },
});

function loggersOf({ name }: OperatorController): readonly string[] {
  return [`controller.${name}`, `events.${name}`];
}

async function runReplay(call: Call<ReplayFlags>, { signal }: Scope): Promise<ExitCode> {
  const { session, positionals: [path = "", ...others] } = call;
  try {
    if (others.length > 0) throw new UsageError("Cannot replay several files: name the newest one of a recording");
    const recorded = await untilAborted(readFile(call, path), signal);
    const controllers = await configure(call, recorded);
    const history = new History(recorded.entries, session.operator.controllers.map(knownController));
    noteLimits(call, recorded, controllers);
    using _guard = refuseOutgoingCalls("a replay calls no other system");
    const { key, until, step, output } = call.flags;
    const names = new Set(controllers.map(({ name }) => name));
    const steps = step
      ? new Steps({ session, history, isJson: output === "json", controllers: names, key })
      : undefined;
    const isOver = until === undefined ? () => false : isAfter(until);
    const result = await replayRun({
      ...{ entries: recorded.entries, controllers, signal },
      isOver: (entry) => steps?.isEnded === true || isOver(entry),
      ...(key === undefined ? {} : { key }),
      ...(steps === undefined ? {} : {
        onEntry: (entry) => steps.showEntry(entry),
        onCompared: (compared) => steps.showCompared(compared),
      }),
    });
    printResult(call, { result, recorded, controllers, history });
    return codeOf(path, result);
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error;
    throw new CommandError("Cannot replay: a signal ended it", { code: exitCode.failed });
  } finally {
    session.processEnvironment.stdout.flush();
  }
}

async function readFile({ session }: Call<ReplayFlags>, path: string): Promise<RecordedRun> {
  const { stdin } = session.processEnvironment;
  return await readRecordingFiles(path, {
    keepsStates: true,
    ...(stdin.readAll === undefined
      ? {}
      : { readInput: (maxBytes) => stdin.readAll?.(maxBytes) ?? Promise.resolve("") }),
  });
}

function isAfter(end: ReplayEnd): (entry: Entry) => boolean {
  return end.kind === "entry" ? ({ id }) => id > end.id : ({ at }) => at >= end.at;
}

/** The controllers as `run` configures them, without output and without files. */
async function configure(call: Call<ReplayFlags>, { header }: RecordedRun): Promise<readonly OperatorController[]> {
  const { session: { operator, metrics, logFormat }, flags: { controllers: names }, extraFlags: flags } = call;
  const known = operator.controllers.map(({ name }) => name);
  const missing = header.controllers.filter((name) => !known.includes(name));
  if (names.length === 0 && missing.length > 0) {
    throw new CommandError(
      `Cannot replay controller "${
        missing[0]
      }": it was recorded by ${header.operator} ${header.version}, and this program ` +
        `has none of that name, ${listOf(known)}`,
      { code: exitCode.failed, advice: "Choose others with --controllers" },
    );
  }
  const controllers = selectControllers(operator, names.length === 0 ? header.controllers : names);
  const files: RunSetup["files"] = { findText, writeText: () => Promise.resolve() };
  const print = () => Promise.resolve();
  return await configureControllers({
    ...{ operator, controllers, flags, namespaces: [], allNamespaces: false, metrics, print, logFormat, files },
  });
}

/** Says what the replay cannot know. */
function noteLimits(
  { session }: Call<ReplayFlags>,
  { isFirstMissing, cutLine }: RecordedRun,
  controllers: readonly OperatorController[],
): void {
  if (isFirstMissing) {
    session.info("the first files of the recording are gone: a reconcile that reads what they had cannot be compared");
  }
  if (cutLine !== undefined) session.info(`line ${cutLine} has no end: the replay ends before it`);
  const others = controllers.filter(({ runnables = [] }) => runnables.length > 0).map(({ name }) => name);
  if (others.length > 0) session.info(`the replay does not run the further parts (runnables) of ${others.join(", ")}`);
}

/** Most differences, and most reasons, of the JSON document. */
const maxListed = 100;

function printResult(
  { flags: { output, step }, session }: Call<ReplayFlags>,
  { result, recorded: { header, isFirstMissing, cutLine }, controllers, history }: {
    readonly result: ReplayResult;
    readonly recorded: RecordedRun;
    readonly controllers: readonly OperatorController[];
    readonly history: History;
  },
): void {
  const { same, sameDecisions, differences, notCompared, unfinished } = result;
  if (output === "text") {
    const [first] = differences;
    if (first !== undefined) session.print(...differenceLines(first, history));
    for (const text of notComparedTexts(notCompared)) session.info(text);
    return session.info(`replay: ${summaryText(result)}`);
  }
  const { operator, version } = session;
  const document = {
    apiVersion: "pintle.dev/v1alpha1",
    kind: "Replay",
    operator: { name: operator.name, version },
    recorded: {
      operator: header.operator,
      version: header.version,
      time: timeText(header.startedAt),
      isFirstMissing,
      ...(cutLine === undefined ? {} : { cutLine }),
    },
    controllers: controllers.map(({ name }) => name),
    reconciles: { same, differ: differences.length, notCompared: notCompared.length, unfinished },
    sameDecisions,
    differences: differences.slice(0, maxListed).map(({ at, cause, ...difference }) => ({
      time: timeText(at),
      ...difference,
      text: headline({ at, cause, ...difference }),
      causes: causesOf({ at, cause, ...difference }, history),
    })),
    notCompared: notCompared.slice(0, maxListed).map(({ at, ...rest }) => ({ time: timeText(at), ...rest })),
  };
  // With steps, each document is one line.
  if (step) session.print(JSON.stringify(document));
  else session.printDocument(formatValue(document, "json"));
}

/** @throws CommandError when nothing was compared: then nothing is known */
function codeOf(path: string, { same, sameDecisions, differences, notCompared: [first] }: ReplayResult): ExitCode {
  if (differences.length > 0) return exitCode.changes;
  if (same > 0 || (first === undefined && sameDecisions > 0)) return exitCode.done;
  const why = first === undefined ? "it has no reconcile of these controllers and this key" : first.reason;
  throw new CommandError(`Cannot replay "${path}": nothing could be compared, ${why}`, { code: exitCode.failed });
}
