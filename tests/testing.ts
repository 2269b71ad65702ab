/**
 * The `test` function and the assertions of all tests, on Deno, on Bun and on Node.
 *
 * Deno's sanitizers (leaked operations and resources) are off, as they are by default since Deno 2.9; to look for leaks, run
 * `deno test -A --sanitize-ops --sanitize-resources FILE`. Tests of killed processes do not pass it: a kill is not waited
 * for. The name of a skipped test includes the reason, so a report always shows it. Assertions come from node:assert, which all runtimes print well.
 */
import assertModule from "node:assert/strict";

type TestFunction = () => void | Promise<void>;

interface BunTest {
  (name: string, fn: TestFunction, options?: { readonly timeout: number }): void;
  skip(name: string, fn: TestFunction): void;
}

/** The part of node:test that this file uses; the types of the module are not loaded on the other runtimes. */
interface NodeTest {
  (name: string, options: { readonly timeout: number }, fn: TestFunction): void;
  skip(name: string, fn: TestFunction): void;
}

/** The default time limit of Bun is 5 s, Node has none; ours only ends a test that hangs, also on a busy machine. */
const timeoutMs = 600_000;

const isDeno = "Deno" in globalThis;
const bunTest: BunTest | undefined = "Bun" in globalThis ? (await import("bun" + ":test")).test : undefined;
const nodeTest: NodeTest | undefined = isDeno || bunTest ? undefined : (await import("node" + ":test")).test;

/** Registers a test. The name is a sentence that says what must hold. */
export function test(name: string, fn: TestFunction): void {
  if (bunTest !== undefined) bunTest(name, fn, { timeout: timeoutMs });
  else if (nodeTest !== undefined) nodeTest(name, { timeout: timeoutMs }, async () => await fn());
  else Deno.test(name, async () => await fn());
}

/** Registers a test that cannot run here; the reason becomes part of its name. */
test.skip = function skip(name: string, reason: string): void {
  const label = `${name} [skipped: ${reason}]`;
  if (bunTest !== undefined) bunTest.skip(label, () => {});
  else if (nodeTest !== undefined) nodeTest.skip(label, () => {});
  else Deno.test({ name: label, ignore: true, fn: () => {} });
};

/** Fails unless `condition` is truthy. */
export function assert(condition: unknown, message?: string): asserts condition {
  if (message === undefined) assertModule.ok(condition);
  else assertModule.ok(condition, message);
}

/** Fails unless both values are deeply and strictly equal. */
export function assertEquals<T>(actual: T, expected: T, message?: string): void {
  if (message === undefined) assertModule.deepStrictEqual(actual, expected);
  else assertModule.deepStrictEqual(actual, expected, message);
}

/** Fails unless the two values differ deeply. */
export function assertNotEquals<T>(actual: T, expected: T, message?: string): void {
  if (message === undefined) assertModule.notDeepStrictEqual(actual, expected);
  else assertModule.notDeepStrictEqual(actual, expected, message);
}

/** Fails unless `text` contains `part`. */
export function assertStringIncludes(text: string, part: string): void {
  assertModule.ok(text.includes(part), `expected ${JSON.stringify(text)} to include ${JSON.stringify(part)}`);
}

/** Fails unless `text` matches `pattern`. */
export function assertMatch(text: string, pattern: RegExp): void {
  assertModule.match(text, pattern);
}

/** Fails unless `fn` throws; returns the error, so that the test can look at it. */
export function assertThrows(fn: () => unknown, expected?: RegExp): Error {
  try {
    fn();
  } catch (error) {
    return checked(error, expected);
  }
  throw new assertModule.AssertionError({ message: "expected the function to throw" });
}

/** Fails unless the promise rejects; returns the error, so that the test can look at it. */
export async function assertRejects(fn: () => Promise<unknown>, expected?: RegExp): Promise<Error> {
  try {
    await fn();
  } catch (error) {
    return checked(error, expected);
  }
  throw new assertModule.AssertionError({ message: "expected the promise to reject" });
}

/** Fails to compile unless the two types are the same: `assertType<Same<typeof x, string>>(true)`. */
export function assertType<T extends true>(_proof: T): void {}

/** `true` when the two types are mutually identical. */
export type Same<A, B> = (<X>() => X extends A ? 1 : 2) extends (<X>() => X extends B ? 1 : 2) ? true : false;

function checked(error: unknown, expected: RegExp | undefined): Error {
  assertModule.ok(error instanceof Error, `expected an Error, got ${String(error)}`);
  if (expected !== undefined) assertModule.match(error.message, expected);
  return error;
}
