/**
 * The failures in the output of `deno test`, `bun test` and tasks/node.ts, so that a gate can show them behind everything
 * else: whoever reads only the end of a log sees which test failed, and why.
 */

/** A test that failed, or a file that could not be loaded. */
export interface TestFailure {
  /** The test and its place, as far as its runner says it: `a test => ./a_test.ts:1:6`. */
  readonly name: string;
  /** The message of its error in one line; of a long one, how it begins and ends. */
  readonly reason: string;
}

/** Enough for the values that differ, and for the last lines of a program's output. */
const mostOfReason = { beginning: 200, end: 300 } as const;

// deno-lint-ignore no-control-regex
const colors = /\x1b\[[0-9;]*m/g;
const denoSection = /^ ERRORS \n\n([^]*?)^ FAILURES $/gm;
const denoFailure =
  /^(.+ => .+:\d+:\d+|.+ \(uncaught error\))\nerror: ([^]*?)(?:\n+.*\n *\^)?(?=\n {4}at |\n\n\n|$(?![^]))/gm;
/** As tasks/_node_reporter.ts prints it. */
const nodeFailure = /^FAILED (\S+): (.+)\n([^]*?)(?=\n {4}at |\n\n|$(?![^]))/gm;
/** A result of a test, a file, or an error outside of tests: each one ends what was printed about the one before it. */
const bunMark =
  /^(?:\((pass|fail|skip|todo)\) (.+?)(?: \[[\d.]+m?s\])?|(\S+\.[jt]sx?):|# Unhandled error between tests\n-+\n([^]*?)\n-{9,})$/gm;
/** The lines of source that Bun prints before a message. */
const bunSource = /^[^]*\n *\^\n/;

interface TextOfFailure extends TestFailure {
  /** All that the runner says of it. */
  readonly text: string;
}

/** The texts of all errors, without colors; the output of several runs may be in one. */
export function errorsIn(output: string): readonly string[] {
  const text = output.replace(colors, "");
  return [...denoErrors(text), ...[...nodeFailures(text), ...bunFailures(text)].map(({ text }) => text)];
}

/** The tests that failed: those of Deno, of Node and of Bun, each in their order. */
export function failuresIn(output: string): readonly TestFailure[] {
  const text = output.replace(colors, "");
  const deno = denoErrors(text).flatMap((errors) => [...errors.matchAll(denoFailure)])
    .map(([, name = "", message = ""]) => ({ name, reason: inOneLine(message) }));
  const others = [...nodeFailures(text), ...bunFailures(text)].map(({ name, reason }) => ({ name, reason }));
  return [...deno, ...others];
}

function denoErrors(text: string): readonly string[] {
  return [...text.matchAll(denoSection)].map(([, errors = ""]) => errors.trimEnd());
}

function nodeFailures(text: string): readonly TextOfFailure[] {
  return [...text.matchAll(nodeFailure)].map(([all, file = "", test = "", message = ""]) => {
    return { name: `${test} => ${file}`, reason: inOneLine(message), text: all };
  });
}

function bunFailures(text: string): readonly TextOfFailure[] {
  const failures: TextOfFailure[] = [];
  let [file, end] = ["", 0];
  for (const mark of text.matchAll(bunMark)) {
    const [all, result, test, nextFile, loose] = mark;
    if (nextFile !== undefined) file = nextFile;
    if (loose !== undefined) failures.push(bunFailure(`(error between tests) => ${file}`, loose));
    if (result === "fail") failures.push(bunFailure(`${test} => ${file}`, text.slice(end, mark.index)));
    end = mark.index + all.length;
  }
  return failures;
}

function bunFailure(name: string, text: string): TextOfFailure {
  const [message = ""] = text.replace(bunSource, "").split("\n      at ");
  return { name, reason: inOneLine(message), text: `${name}\n${text.trim()}` };
}

/** A message without its line ends; of a long one, how it begins and ends. */
export function inOneLine(message: string): string {
  const { beginning, end } = mostOfReason;
  const line = message.trim().replaceAll(/\s*\n\s*/g, " | ");
  return line.length <= beginning + end ? line : `${line.slice(0, beginning)} … ${line.slice(-end)}`;
}
