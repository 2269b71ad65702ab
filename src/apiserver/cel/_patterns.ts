/** Regular expressions in expressions. Compiled ones are kept, up to a number, since rules run again and again. */
import { Pattern } from "../model/mod.ts";
import { CelError, type Value } from "./values.ts";

const maxKept = 200;
const kept = new Map<string, Pattern | CelError>();

/** The compiled expression, or the error that names what is wrong with it. */
export function patternOf(source: string): Pattern | CelError {
  let found = kept.get(source);
  if (found === undefined) {
    if (kept.size >= maxKept) kept.clear();
    kept.set(source, found = compiled(source));
  }
  return found;
}

function compiled(source: string): Pattern | CelError {
  try {
    return new Pattern(source);
  } catch (error) {
    if (error instanceof SyntaxError) return new CelError(error.message);
    throw error;
  }
}

/** `text.matches(pattern)`. */
export function matchesPattern(text: string, pattern: string): Value {
  const regex = patternOf(pattern);
  return regex instanceof CelError ? regex : regex.test(text);
}
