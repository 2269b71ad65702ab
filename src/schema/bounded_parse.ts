/**
 * boundedParse(): validates a value of another program. zod collects every problem of a value, and a body of 6 MB can have
 * millions: their messages took gigabytes and seconds.
 *
 * Guarantees: a list ends at its first wrong item, sizes are checked before items, and at most 20 problems get a message.
 * A small value, as a person writes it, is validated to its end, so that all its problems are reported together.
 */
import { z } from "zod";
import { dotPath } from "./dot_path.ts";
import { rawIssues, withMessages } from "./_zod.ts";

/** The result of {@link boundedParse}. */
export type BoundedResult<T> =
  | { readonly kind: "valid"; readonly value: T }
  | { readonly kind: "invalid"; readonly issues: readonly BoundedIssue[] };

/** One problem. */
export interface BoundedIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** The most problems that are reported. */
export const maxIssues = 20;

/** Characters of a message; zod repeats unknown keys and allowed values in it. */
const maxMessageCharacters = 256;

/** Up to this number of items and fields, a value is validated to its end. */
const maxSmallParts = 2_000;

/** Validates `value`. It reports at most {@link maxIssues} problems. */
export function boundedParse<T extends z.core.$ZodType>(schema: T, value: unknown): BoundedResult<z.output<T>> {
  const first = rawIssues(schema, value, { abortEarly: true });
  if (first.issues.length === 0) return { kind: "valid", value: first.value };
  const { issues } = isSmall(value) ? rawIssues(schema, value, { abortEarly: false }) : first;
  const reported = withMessages(issues.slice(0, maxIssues));
  return {
    kind: "invalid",
    issues: reported.map(({ path, message }) => ({ path, message: message.slice(0, maxMessageCharacters) })),
  };
}

/** As {@link boundedParse}. @throws {SyntaxError} with the first problem */
export function parseBounded<T extends z.core.$ZodType>(schema: T, value: unknown): z.output<T> {
  const parsed = boundedParse(schema, value);
  if (parsed.kind === "valid") return parsed.value;
  const [issue] = parsed.issues;
  throw new SyntaxError(`Cannot read a value: at ${dotPath(issue?.path ?? []) || "the top"}: ${issue?.message}`);
}

/** True for a value with few parts. Stops counting at the limit. */
function isSmall(value: unknown): boolean {
  let left = maxSmallParts;
  const waiting = [value];
  for (let part = waiting.pop(); left >= 0 && part !== undefined; part = waiting.pop()) {
    if (typeof part !== "object" || part === null) continue;
    if (Array.isArray(part)) left -= part.length;
    else for (const _ in part) if (--left < 0) return false;
    if (left >= 0) waiting.push(...Object.values(part));
  }
  return left >= 0;
}
