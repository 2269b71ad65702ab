/**
 * Decides of which errors a log shows the stack: of defects, because only there the place in the code says more than the
 * message. An expected failure, such as a conflict or a server that cannot be reached, is explained by its message.
 */
import { errorChain } from "./error_chain.ts";

/** What the language throws because of a mistake in the code. */
const defects: ReadonlySet<string> = new Set([
  "TypeError",
  "ReferenceError",
  "RangeError",
  "SyntaxError",
  "EvalError",
  "URIError",
  "AssertionError",
]);

/**
 * Returns the stacks to show of an error and of its causes.
 *
 * - A defect: always.
 * - A plain Error, which may be anything: only with `isVerbose`.
 * - An error with a class or a code of its own, such as an ApiError or ECONNREFUSED, is expected: never, and neither are its
 *   causes, which it explains.
 */
export function stacksToShow(error: unknown, isVerbose: boolean): readonly string[] {
  const stacks: string[] = [];
  for (const at of errorChain(error)) {
    const kind = kindOf(at);
    if (kind === "expected") break;
    if ((kind === "defect" || isVerbose) && at.stack !== undefined) stacks.push(at.stack);
  }
  return stacks;
}

function kindOf(error: Error): "defect" | "expected" | "plain" {
  if (defects.has(error.name)) return "defect";
  return error.constructor === Error && !("code" in error) ? "plain" : "expected";
}
