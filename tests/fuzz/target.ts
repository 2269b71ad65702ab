/**
 * What a fuzz target is. A target takes bytes of any kind, gives them to one parser or handler, and throws when a promise of
 * that code does not hold. An error that the code documents is a good answer.
 */
import type fc from "fast-check";
import { isDeepEqual, parseExactJson, printExactJson } from "../../src/api/mod.ts";

/** One piece of code that reads bytes of others. */
export interface FuzzTarget {
  /** Inputs to start from. */
  readonly seeds: readonly (string | Uint8Array)[];
  /** Inputs of the right structure. */
  readonly arbitrary: fc.Arbitrary<string | Uint8Array>;
  /** Words that mean something to the code; a mutation inserts them. */
  readonly words: readonly (string | Uint8Array)[];
  /** @throws any error when a promise does not hold */
  check(input: Uint8Array): void | Promise<void>;
}

/** The error of a promise that does not hold. */
export class Finding extends Error {
  override readonly name = "Finding";
}

/** Throws a {@link Finding} unless the condition holds. */
export function promise(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Finding(message);
}

/** Calls a function that may throw errors of the given classes. @returns undefined when it threw one */
export function orRefused<T>(act: () => T, ...refusals: readonly (new (...args: never[]) => Error)[]): T | undefined {
  try {
    return act();
  } catch (error) {
    if (refusals.some((refusal) => error instanceof refusal)) return undefined;
    throw error;
  }
}

/** True when both are the same value of JSON, in which -0 is 0. */
export function isSameJson(one: unknown, other: unknown): boolean {
  const printed = (value: unknown) => parseExactJson(printExactJson(value) ?? "null");
  return isDeepEqual(printed(one), printed(other));
}

/** Bytes as UTF-8 text; wrong bytes become U+FFFD. */
export function textOf(input: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(input);
}

/** The parts of an input that consists of several texts. */
export function partsOf(input: Uint8Array, count: number): readonly string[] {
  const parts = textOf(input).split(partSeparator);
  return Array.from({ length: count }, (_, index) => parts[index] ?? "");
}

/** What stands between the parts of an input. */
export const partSeparator = "\n%%\n";

/** Makes an input of several texts. */
export function joinParts(...parts: readonly string[]): string {
  return parts.join(partSeparator);
}

/** Names that identify an error, so that one defect is reported once: its class, its message without values, its place. */
export function signatureOf(error: unknown): string {
  if (!(error instanceof Error)) return `thrown: ${typeof error}`;
  const message = error.message.split("\n")[0] ?? "";
  const shape = message.replace(/"[^"]*"|'[^']*'|`[^`]*`|\d+|\{.*\}|\[.*\]/g, "_").slice(0, 80);
  const frame = /\/src\/([\w./]+)\.ts:\d+/.exec(error.stack?.slice(error.stack.indexOf("\n    at ")) ?? "")?.[1] ?? "";
  return `${error.name}: ${shape}${error instanceof Finding ? "" : ` (${frame})`}`;
}
