/** Checks of constants that would fail each time: patterns, spans of time and instants that cannot be read. */
import type { Expr } from "./ast.ts";
import type { Issue } from "./issues.ts";
import { patternOf } from "./_patterns.ts";
import { parseGoDuration, parseRfc3339 } from "./_time.ts";
import { CelError, CelTimestamp } from "./values.ts";

/** What is wrong with the constants of an expression. */
export function validateLiterals(expr: Expr): readonly Issue[] {
  const issues: Issue[] = [];
  visit(expr, issues);
  return issues;
}

const checks: ReadonlyMap<string, (text: string) => boolean> = new Map<string, (text: string) => boolean>([
  ["matches", (text) => !(patternOf(text) instanceof CelError)],
  ["duration", (text) => parseGoDuration(text) !== undefined],
  ["timestamp", (text) => parseRfc3339(text) instanceof CelTimestamp],
]);

function visit(expr: Expr, issues: Issue[]): void {
  if (expr.kind === "call") {
    const check = checks.get(expr.name);
    const argument = expr.args[expr.args.length - 1];
    if (check !== undefined && argument?.kind === "literal" && typeof argument.value === "string") {
      const isWrong = (expr.name === "matches") === (expr.target !== undefined || expr.args.length === 2) &&
        !check(argument.value);
      if (isWrong) issues.push({ offset: argument.offset, message: `invalid ${expr.name} argument` });
    }
  }
  for (const child of childrenOf(expr)) visit(child, issues);
}

/** The parts of a node. */
export function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case "select":
      return [expr.operand];
    case "call":
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    case "list":
      return expr.items.map((item) => item.value);
    case "map":
      return expr.entries.flatMap((entry) => [entry.key, entry.value]);
    case "struct":
      return expr.fields.map((field) => field.value);
    case "comprehension":
      return [expr.range, expr.initial, expr.condition, expr.step, expr.result];
    default:
      return [];
  }
}
