/**
 * Checks of expressions whose types are right: constants that would fail each time (patterns, spans of time, instants),
 * lists and maps of mixed types, and calls of `format` whose clauses and arguments do not go together. Messages of cel-go's
 * AST validators.
 */
import type { Call, Expr } from "./ast.ts";
import { childrenOf } from "./ast.ts";
import type { Checked } from "./_checker.ts";
import { formatCallIssue } from "./_format_checks.ts";
import type { Issue } from "./issues.ts";
import { patternOf } from "./_patterns.ts";
import { parseGoDuration, parseRfc3339 } from "./_time.ts";
import { type CelType, dynType, formatType, isSameType, optionalContent } from "./types.ts";
import { CelError, CelTimestamp } from "./values.ts";

/** What is wrong. */
export function validateCel(checked: Checked): readonly Issue[] {
  const issues: Issue[] = [];
  new Visitor(checked, issues).visit(checked.expr, false);
  return issues;
}

const literalChecks: ReadonlyMap<string, (text: string) => boolean> = new Map<string, (text: string) => boolean>([
  ["matches", (text) => !(patternOf(text) instanceof CelError)],
  ["duration", (text) => parseGoDuration(text) !== undefined],
  ["timestamp", (text) => parseRfc3339(text) instanceof CelTimestamp],
]);

class Visitor {
  readonly #checked: Checked;
  readonly #issues: Issue[];

  constructor(checked: Checked, issues: Issue[]) {
    this.#checked = checked;
    this.#issues = issues;
  }

  /** @param isInFormat true below a call of `format`, whose arguments may be of any types */
  visit(expr: Expr, isInFormat: boolean): void {
    switch (expr.kind) {
      case "call":
        this.#checkLiteral(expr);
        this.#add(formatCallIssue(expr, this.#checked));
        break;
      case "list":
        if (!isInFormat) this.#checkSame(expr.items);
        break;
      case "map":
        if (isInFormat) break;
        this.#checkSame(expr.entries.map((entry) => ({ value: entry.key, isOptional: false })));
        this.#checkSame(expr.entries);
        break;
      default:
    }
    const isFormat = expr.kind === "call" && expr.name === "format";
    for (const child of childrenOf(expr)) this.visit(child, isInFormat || isFormat);
  }

  #checkLiteral(call: Call): void {
    const check = literalChecks.get(call.name);
    const argument = call.args[call.args.length - 1];
    if (check === undefined || argument?.kind !== "literal" || typeof argument.value !== "string") return;
    const isTwoPart = call.target !== undefined || call.args.length === 2;
    if ((call.name === "matches") !== isTwoPart || check(argument.value)) return;
    this.#add({ offset: argument.offset, message: `invalid ${call.name} argument` });
  }

  /** Only the first that differs is reported. */
  #checkSame(items: readonly { readonly value: Expr; readonly isOptional: boolean }[]): void {
    let first: CelType | undefined;
    for (const { value, isOptional } of items) {
      const type = this.#checked.types.get(value) ?? dynType;
      const plain = isOptional ? optionalContent(type) ?? type : type;
      first ??= plain;
      if (isSameType(first, plain)) continue;
      const message = `expected type '${formatType(first)}' but found '${formatType(plain)}'`;
      return this.#add({ offset: value.offset, message });
    }
  }

  #add(issue: Issue | undefined): void {
    if (issue !== undefined) this.#issues.push(issue);
  }
}
