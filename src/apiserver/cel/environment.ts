/**
 * CelEnvironment: the variables and functions an expression may use, and from the text of one to a program.
 *
 * The functions are those of the real server's base environment of Kubernetes 1.36: the standard ones, strings, lists,
 * sets, optional values, loops with two variables, regular expressions, URLs, quantities, IP addresses, versions, named
 * formats and authorization checks.
 */
import { authorizerFunctions } from "./authorizer.ts";
import { checkCel, type Checked } from "./_checker.ts";
import type { FunctionDecl, Overload } from "./functions.ts";
import { formatIssues, type Issue } from "./issues.ts";
import { listFunctions, optionalFunctions } from "./_list_functions.ts";
import { formatFunctions } from "./_named_formats.ts";
import { netFunctions } from "./_net_functions.ts";
import { parseCel } from "./parser.ts";
import { type CelProgram, planCel } from "./_planner.ts";
import { quantityFunctions } from "./_quantity.ts";
import { semverFunctions } from "./_semver.ts";
import { conversionFunctions } from "./_standard_conversions.ts";
import { operatorFunctions } from "./_standard_operators.ts";
import { stringFunctions } from "./_strings.ts";
import type { CelType } from "./types.ts";
import { validateCel } from "./_validators.ts";

/** A program, or why there is none. */
export type Compiled =
  | { readonly kind: "compiled"; readonly program: CelProgram; readonly checked: Checked }
  /** `message` is shown to people: each issue with its place in the source. */
  | { readonly kind: "failed"; readonly issues: readonly Issue[]; readonly message: string };

const libraries: readonly (readonly FunctionDecl[])[] = [
  operatorFunctions,
  conversionFunctions,
  optionalFunctions,
  stringFunctions,
  listFunctions,
  quantityFunctions,
  semverFunctions,
  netFunctions,
  formatFunctions,
  authorizerFunctions,
];

/** Functions of several libraries that share a name are one function with all of their overloads. */
const functions: ReadonlyMap<string, FunctionDecl> = (() => {
  const all = new Map<string, FunctionDecl>();
  for (const declaration of libraries.flat()) {
    const known = all.get(declaration.name);
    const overloads: readonly Overload[] = [...known?.overloads ?? [], ...declaration.overloads];
    all.set(declaration.name, { ...declaration, ...known, overloads });
  }
  return all;
})();

/**
 * What an expression may use.
 *
 * @example
 * ```ts
 * import { CelEnvironment, intType } from "./mod.ts";
 *
 * const environment = new CelEnvironment(new Map([["self", intType]]));
 * const compiled = environment.compile("self > 1");
 * const outcome = compiled.kind === "compiled" ? compiled.program.run([2n]) : undefined;
 * console.assert(outcome?.kind === "value" && outcome.value === true && outcome.cost === 2);
 * ```
 */
export class CelEnvironment {
  /** Types by name, in the order in which a program takes the values. */
  readonly variables: ReadonlyMap<string, CelType>;

  constructor(variables: ReadonlyMap<string, CelType>) {
    this.variables = variables;
  }

  /** Compiles an expression. */
  compile(source: string): Compiled {
    const parsed = parseCel(source);
    if (parsed.kind === "failed") return failed(source, parsed.issues);
    const checked = checkCel(parsed.expr, this.variables, functions);
    if (checked.issues.length > 0) return failed(source, checked.issues);
    const issues = validateCel(checked);
    if (issues.length > 0) return failed(source, issues);
    return { kind: "compiled", checked, program: planCel(checked, this.variables, functions) };
  }
}

function failed(source: string, issues: readonly Issue[]): Compiled {
  return { kind: "failed", issues, message: formatIssues(source, issues) };
}
