/**
 * The failures in the output of `deno test`, so that a gate can show them behind everything else: whoever reads only the end
 * of a log sees which test failed, and why.
 */

/** A test that failed, or a file that could not be loaded. */
export interface TestFailure {
  /** The test and its place: `a test => ./a_test.ts:1:6`. */
  readonly name: string;
  /** The first line of its error. */
  readonly reason: string;
}

// deno-lint-ignore no-control-regex
const colors = /\x1b\[[0-9;]*m/g;
const section = /^ ERRORS \n\n([^]*?)^ FAILURES $/gm;
const failure = /^(.+ => .+:\d+:\d+|.+ \(uncaught error\))\nerror: (.*)$/gm;

/** The texts of all errors, without colors; several runs of `deno test` may be in one output. */
export function errorsIn(output: string): readonly string[] {
  return [...output.replace(colors, "").matchAll(section)].map(([, text = ""]) => text.trimEnd());
}

/** The tests that failed, in their order. */
export function failuresIn(output: string): readonly TestFailure[] {
  const found = errorsIn(output).flatMap((text) => [...text.matchAll(failure)]);
  return found.map(([, name = "", reason = ""]) => ({ name, reason }));
}
