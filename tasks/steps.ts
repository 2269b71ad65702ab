/**
 * Steps: how the gate runs its parts. Each step is one command whose output is passed through; the counts that Deno's
 * and Bun's test runners print are added up, so that the gate can end with one line that counts everything.
 */
import { spawn } from "node:child_process";
import process from "node:process";

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
}

/** How a step ended. */
export interface Outcome extends Counts {
  readonly name: string;
  readonly ok: boolean;
  readonly seconds: number;
}

const none: Counts = { passed: 0, failed: 0, skipped: 0 };

/** Runs the steps one after the other, all of them even when one fails, and reports. */
export async function runSteps(steps: readonly Step[]): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const step of steps) {
    console.log(`\n=== ${step.name}: ${step.command.join(" ")}`);
    const outcome = await runStep(step);
    console.log(`=== ${step.name}: ${outcome.ok ? "ok" : "FAILED"} (${outcome.seconds.toFixed(1)} s)`);
    outcomes.push(outcome);
  }
  return outcomes;
}

/** Prints a line per step and, last, the line that counts. Returns true when every step went well. */
export function report(outcomes: readonly Outcome[]): boolean {
  console.log("");
  for (const outcome of outcomes) {
    console.log(`${outcome.ok ? "ok    " : "FAILED"}  ${outcome.name} (${outcome.seconds.toFixed(1)} s)`);
  }
  const total = outcomes.map(countable).reduce(sum, none);
  console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  return outcomes.every((outcome) => outcome.ok);
}

/** A step without tests of its own counts as one; a step that failed counts at least one failure. */
function countable(outcome: Outcome): Counts {
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

async function runStep(step: Step): Promise<Outcome> {
  const startedAt = performance.now();
  const { code, output } = await passThrough(step.command);
  const seconds = (performance.now() - startedAt) / 1000;
  return { name: step.name, ok: code === 0, seconds, ...countTests(output) };
}

/** Runs a command with its output shown as it comes; returns the output as well. */
function passThrough(command: readonly string[]): Promise<{ readonly code: number; readonly output: string }> {
  const [name = "", ...args] = command;
  // The Deno that runs this, wherever it came from: `npx deno` puts none on everybody's PATH.
  const program = name === "deno" ? process.execPath : name;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env: process.env });
    const chunks: string[] = [];
    const collect = (to: NodeJS.WriteStream) => (chunk: Uint8Array) => {
      to.write(chunk);
      chunks.push(new TextDecoder().decode(chunk));
    };
    child.stdout.on("data", collect(process.stdout));
    child.stderr.on("data", collect(process.stderr));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? 1, output: chunks.join("") }));
  });
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
