/**
 * Steps: how the gate runs its parts. Each step is one command. Steps run at the same time as far as their order and
 * the processors allow (schedule.ts); the counts that Deno's and Bun's test runners print are added up, so that the gate
 * can end with one line that counts everything.
 *
 * Guarantees: each step has an outcome. A step that cannot be started, is killed, or waits for one that failed, counts
 * as failed.
 */
import { spawn } from "node:child_process";
import { availableParallelism, constants } from "node:os";
import process from "node:process";
import { runInOrder } from "./schedule.ts";
import { StepOutput } from "./step_output.ts";
import { errorsIn, failuresIn, inOneLine, type TestFailure } from "./test_failures.ts";

/** Tests counted so far. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** One command of a gate. */
export interface Step {
  readonly name: string;
  readonly command: readonly string[];
  /** Names of the steps whose results it uses; it starts when they have succeeded. @default none */
  readonly after?: readonly string[];
  /** Processors that it keeps busy; a step that measures time claims more than it uses. @default 1 */
  readonly load?: number;
  /** Steps that use a thing of this name never run at the same time, on however many processors. @default none */
  readonly uses?: string;
}

/** How a step ended. */
export interface Outcome extends Counts {
  readonly name: string;
  readonly ok: boolean;
  readonly seconds: number;
  /** Processor time of its command and all that it has waited for, in seconds; undefined if it is not known. */
  readonly cpuSeconds?: number | undefined;
  /** All errors of its tests if there are any, else the last lines that it printed, if it failed. @default "" */
  readonly errors?: string;
  /** Its tests that failed; if it failed without one, how its output ends. @default none */
  readonly failures?: readonly TestFailure[];
}

/** How a command ended. */
export interface Ending {
  readonly code: number;
  /** See {@link Outcome}. */
  readonly cpuSeconds?: number | undefined;
}

/** Starts a command; its output goes to `onOutput`. */
export type RunCommand = (command: readonly string[], onOutput: (text: string) => void) => Promise<Ending>;

/** What steps run with. */
export interface StepsOptions {
  /** The sum of the loads of the steps that run at the same time. @default one more than there are processors */
  readonly capacity?: number;
  /** @default a child process */
  readonly run?: RunCommand;
  /** @default stdout */
  readonly print?: (text: string) => void;
}

const none: Counts = { passed: 0, failed: 0, skipped: 0 };
const heartbeatMs = 60_000;
/** For a step without tests. */
const lastLineCount = 150;

/** Runs all steps, the first ones first, and returns their outcomes in the order of `steps`. */
export async function runSteps(steps: readonly Step[], options: StepsOptions = {}): Promise<readonly Outcome[]> {
  const { capacity = availableParallelism() + 1, run = runCommand } = options;
  const output = new StepOutput(options.print ?? ((text) => process.stdout.write(text)));
  const outcomes = new Map<string, Outcome>();
  const startedAt = performance.now();
  const heartbeat = setInterval(() => output.heartbeat(secondsSince(startedAt)), heartbeatMs);
  try {
    await runInOrder(steps, capacity, async (step) => {
      const failed = (step.after ?? []).filter((name) => outcomes.get(name)?.ok !== true);
      const outcome = failed.length > 0 ? notRun(step, failed, output) : await runStep(step, run, output);
      outcomes.set(step.name, outcome);
    });
  } finally {
    clearInterval(heartbeat);
  }
  return steps.map(({ name }) => outcomes.get(name) ?? { name, ok: false, seconds: 0, ...none });
}

/**
 * Prints the errors of each step that failed, a line per step, a line per test that failed and, last, the line that counts.
 *
 * @returns whether every step went well
 */
export function report(outcomes: readonly Outcome[]): boolean {
  for (const { name, ok, errors = "" } of outcomes) if (!ok) console.log(`\n=== ${name}: why it failed\n${errors}`);
  console.log("");
  for (const outcome of outcomes) {
    console.log(`${outcome.ok ? "ok    " : "FAILED"}  ${outcome.name} (${timesText(outcome)})`);
  }
  for (const { name, failures = [] } of outcomes) {
    for (const failure of failures) console.log(`FAILED  ${name}: ${failure.name}: ${failure.reason}`);
  }
  const total = outcomes.map(countable).reduce(sum, none);
  console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  return outcomes.every((outcome) => outcome.ok);
}

/** `12.3 s, CPU 4.5 s`. */
function timesText({ seconds, cpuSeconds }: Pick<Outcome, "seconds" | "cpuSeconds">): string {
  return `${seconds.toFixed(1)} s${cpuSeconds === undefined ? "" : `, CPU ${cpuSeconds.toFixed(1)} s`}`;
}

/** A step without tests of its own counts as one; a step that failed counts at least one failure. */
export function countable(outcome: Outcome): Counts {
  const { passed, failed, skipped, ok } = outcome;
  if (passed + failed + skipped === 0) return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 };
  return { passed, failed: ok ? failed : Math.max(1, failed), skipped };
}

function sum(left: Counts, right: Counts): Counts {
  return {
    passed: left.passed + right.passed,
    failed: left.failed + right.failed,
    skipped: left.skipped + right.skipped,
  };
}

async function runStep({ name, command }: Step, run: RunCommand, output: StepOutput): Promise<Outcome> {
  const startedAt = performance.now();
  const chunks: string[] = [];
  output.start(name, command.join(" "));
  const { code, cpuSeconds } = await run(command, (text) => {
    chunks.push(text);
    output.write(name, text);
  }).catch((error: unknown): Ending => {
    output.write(name, `Cannot run ${command.join(" ")}: ${error instanceof Error ? error.message : error}\n`);
    return { code: 1 };
  });
  const ok = code === 0;
  const times = { seconds: secondsSince(startedAt), cpuSeconds };
  output.end(name, `${ok ? "ok" : `FAILED with ${code}`} (${timesText(times)})`);
  const text = chunks.join("");
  const counts = countTests(text);
  if (ok) return { name, ok, ...times, ...counts };
  const errors = errorsIn(text).join("\n\n") || lastLinesOf(text);
  const failures = failuresIn(text);
  const end = { name: `exit code ${code}`, reason: inOneLine(errors) };
  return { name, ok, ...times, ...counts, errors, failures: failures.length > 0 ? failures : [end] };
}

function notRun({ name, command }: Step, failed: readonly string[], output: StepOutput): Outcome {
  output.start(name, command.join(" "));
  output.end(name, `FAILED: not run, because "${failed.join('" and "')}" failed`);
  return { name, ok: false, seconds: 0, ...none };
}

function lastLinesOf(text: string): string {
  return text.trimEnd().split("\n").slice(-lastLineCount).join("\n");
}

function secondsSince(startedAt: number): number {
  return (performance.now() - startedAt) / 1000;
}

/** Ends this process when it gets a signal to end; its commands end with it, see {@link guard}. */
export function endWithSignals(): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => process.exit(128 + constants.signals[signal]));
  }
}

/**
 * Runs a command, and ends it and all that it has started when the pipe of standard input closes: this process has ended,
 * however it did, SIGKILL included. The command has a group of processes of its own, so that those are found that its own
 * parent does not end: `tasks/node.ts` waits for Node without handling signals. At the end, descriptor 4 gets the processor
 * times of the shell and of what it has waited for.
 */
const guard = `exec 3<&0 </dev/null
"$@" 3<&- 4>&- &
command=$!
( trap '' TERM; read -r _ <&3; kill -TERM 0; sleep 2; kill -KILL 0 ) >/dev/null 2>&1 4>&- &
watch=$!
wait "$command"
code=$?
kill -KILL "$watch" 2>/dev/null
times >&4
exit "$code"`;

/** Runs a command in a group of its own that ends with this process. */
function runCommand(command: readonly string[], onOutput: (text: string) => void): Promise<Ending> {
  const [name = "", ...args] = command;
  // The Deno that runs this, wherever it came from: `npx deno` puts none on everybody's PATH.
  const program = name === "deno" ? process.execPath : name;
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", guard, name, program, ...args], {
      stdio: ["pipe", "pipe", "pipe", "ignore", "pipe"],
      env: process.env,
      detached: true,
    });
    let times = "";
    child.stdio[4]?.on("data", (bytes: Uint8Array) => times += new TextDecoder().decode(bytes));
    child.stdout?.setEncoding("utf8").on("data", onOutput);
    child.stderr?.setEncoding("utf8").on("data", onOutput);
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (signal !== null) onOutput(`${name} was ended by ${signal}\n`);
      const ended = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
      resolve({ code: ended, cpuSeconds: cpuSecondsIn(times) });
    });
  });
}

/** The sum of what the shell's `times` prints: `0m0.010000s 0m0.020000s` for itself, and a second line for its children. */
export function cpuSecondsIn(times: string): number | undefined {
  const parts = [...times.matchAll(/(\d+)m([\d.,]+)s/g)];
  return parts.length === 4
    ? parts.reduce(
      (sum, [, minutes, seconds = ""]) => sum + Number(minutes) * 60 + Number(seconds.replace(",", ".")),
      0,
    )
    : undefined;
}

/** Reads the closing lines of `deno test` and of `bun test`. */
export function countTests(output: string): Counts {
  // deno-lint-ignore no-control-regex
  const text = output.replace(/\x1b\[[0-9;]*m/g, "");
  const deno = [
    ...text.matchAll(/(\d+) passed(?: \(\d+ steps?\))? \| (\d+) failed(?: \(\d+ steps?\))?(?: \| (\d+) ignored)?/g),
  ]
    .map(([, passed, failed, skipped]) => ({
      passed: Number(passed),
      failed: Number(failed),
      skipped: Number(skipped ?? 0),
    }));
  const bun = [...text.matchAll(/^ *(\d+) pass\n(?: *(\d+) skip\n)?(?: *\d+ todo\n)? *(\d+) fail$/gm)]
    .map(([, passed, skipped, failed]) => ({
      passed: Number(passed),
      failed: Number(failed),
      skipped: Number(skipped ?? 0),
    }));
  return [...deno, ...bun].reduce(sum, none);
}
