/**
 * CelEnvironment: the variables and functions of expressions; compiles an expression to a program.
 *
 * The functions are those of the base environment of Kubernetes 1.36: the standard ones, strings, lists, sets, optional
 * values, two-variable loops, regular expressions, URLs, quantities, IP addresses, versions, named formats and
 * authorization checks.
 */
import { authorizerFunctions } from "./authorizer.ts";
import { checkCel, type Checked, type Declarations } from "./_checker.ts";
import type { FunctionDecl, Overload } from "./functions.ts";
import { formatIssues, type Issue } from "./issues.ts";
import { listFunctions, optionalFunctions } from "./_list_functions.ts";
import { formatFunctions } from "./string_formats.ts";
import { netFunctions } from "./net.ts";
import { parseCel } from "./parser.ts";
import { type CelProgram, planCel } from "./_planner.ts";
import { quantityFunctions } from "./_quantity.ts";
import { semverFunctions } from "./_semver.ts";
import { conversionFunctions, patternOf } from "./_standard_conversions.ts";
import { operatorFunctions } from "./_standard_operators.ts";
import { stringFunctions } from "./_strings.ts";
import type { CelExtension } from "./structs.ts";
import { type CelType, dynType, formatType, formatTypeName, isSameType, optionalContent } from "./types.ts";
import { type Call, childrenOf, type Expr } from "./ast.ts";
import { parseGoDuration, parseRfc3339 } from "./_time.ts";
import { CelError, CelTimestamp } from "./values.ts";

/** A program, or the reason why the expression does not compile. */
export type Compiled =
  | {
    readonly kind: "compiled";
    readonly program: CelProgram;
    readonly checked: Checked;
    /** Why a constant call fails, which cel-go evaluates when it makes the program. @default none fails */
    readonly constantError?: string;
  }
  /** `message` is shown to users: each issue with its position in the source. */
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

/** Functions with the same name in several libraries become one function with all overloads. */
const functions: ReadonlyMap<string, FunctionDecl> = (() => {
  const all = new Map<string, FunctionDecl>();
  for (const declaration of libraries.flat()) {
    const known = all.get(declaration.name);
    const overloads: readonly Overload[] = [...known?.overloads ?? [], ...declaration.overloads];
    all.set(declaration.name, { ...declaration, ...known, overloads });
  }
  return all;
})();

const standard: Declarations = { functions, findStruct: () => undefined };

/**
 * The environment of expressions.
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
  /** Types by name, in the order of the values of a program. */
  readonly variables: ReadonlyMap<string, CelType>;

  readonly #declared: Declarations;
  readonly #hasBindings: boolean;

  /** @param extension what the environment has besides. @default nothing */
  constructor(variables: ReadonlyMap<string, CelType>, extension?: CelExtension) {
    this.variables = variables;
    this.#hasBindings = extension?.hasBindings ?? false;
    this.#declared = extension === undefined ? standard : {
      functions: new Map([...functions, ...extension.functions.map((each) => [each.name, each] as const)]),
      findStruct: extension.findStruct,
    };
  }

  /** Compiles an expression. */
  compile(source: string): Compiled {
    const parsed = parseCel(source, this.#hasBindings);
    if (parsed.kind === "failed") return failed(source, parsed.issues);
    const checked = checkCel(parsed.expr, this.variables, this.#declared);
    if (checked.issues.length > 0) return failed(source, checked.issues);
    const issues = validateCel(checked);
    if (issues.length > 0) return failed(source, issues);
    const program = planCel(checked, this.variables, this.#declared);
    const constantError = this.#constantError(checked, checked.expr);
    return { kind: "compiled", checked, program, ...(constantError === undefined ? {} : { constantError }) };
  }

  /** The error of the first conversion of a literal that fails, or of a pattern that cannot be read. */
  #constantError(checked: Checked, expr: Expr): string | undefined {
    for (const child of childrenOf(expr)) {
      const found = this.#constantError(checked, child);
      if (found !== undefined) return found;
    }
    if (expr.kind !== "call") return undefined;
    const [argument] = expr.args;
    if (argument?.kind !== "literal") return undefined;
    if (expr.target !== undefined) {
      const isPattern = patternFunctions.has(expr.name) && typeof argument.value === "string";
      const pattern = isPattern ? patternOf(`${argument.value}`) : undefined;
      return pattern instanceof CelError ? pattern.message : undefined;
    }
    if (expr.args.length !== 1 || !conversions.has(expr.name)) return undefined;
    const outcome = planCel({ ...checked, expr }, this.variables, this.#declared).run([]);
    return outcome.kind === "error" ? outcome.message : undefined;
  }
}

/** The functions whose calls with a literal cel-go evaluates once. */
const conversions: ReadonlySet<string> = new Set([
  "bool",
  "bytes",
  "double",
  "duration",
  "int",
  "string",
  "timestamp",
  "uint",
]);
/** The functions whose literal patterns it compiles once; `matches` is checked before. */
const patternFunctions: ReadonlySet<string> = new Set(["find", "findAll"]);

function failed(source: string, issues: readonly Issue[]): Compiled {
  return { kind: "failed", issues, message: formatIssues(source, issues) };
}

/** The issues of a checked expression. */
function validateCel(checked: Checked): readonly Issue[] {
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

  /** @param isInFormat true inside a call of `format`, whose arguments may have any types */
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

  /** Only the first different type is reported. */
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

/** Checks a call such as `"%s is %d".format([a, 1])` with a literal string and list. @returns undefined when it is valid */
function formatCallIssue(call: Call, { types }: Checked): Issue | undefined {
  const [list] = call.args;
  const text = call.target?.kind === "literal" ? call.target.value : undefined;
  if (call.name !== "format" || typeof text !== "string" || list?.kind !== "list" || call.args.length !== 1) {
    return undefined;
  }
  const args = list.items.map((item) => item.value);
  const fail = (message: string): Issue => ({ offset: call.offset, message });
  let used = 0;
  for (let index = 0; index < text.length; index++) {
    if (text[index] !== "%") continue;
    index++;
    if (text[index] === "%") continue;
    if (index >= text.length) return fail("unexpected end of string");
    const argument = args[used];
    if (argument === undefined) return fail(`index ${used} out of range`);
    used++;
    const precision = /^\.\d*/.exec(text.slice(index))?.[0] ?? "";
    const wrongPrecision = precisionIssue(precision, index + precision.length >= text.length);
    if (wrongPrecision !== undefined) return fail(`could not parse formatting clause: ${wrongPrecision}`);
    index += precision.length;
    const verb = text[index] ?? "";
    const clause = clauses.get(verb);
    if (clause === undefined) {
      return fail(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
    }
    const wrong = wrongPart(argument, clause, verb === "s", types);
    if (wrong === undefined) continue;
    const found = typeName(types.get(wrong) ?? dynType);
    return { offset: wrong.offset, message: `error during formatting: ${clause.why}, was given ${found}` };
  }
  return args.length > used
    ? fail(`too many arguments supplied to string.format (expected ${used}, got ${args.length})`)
    : undefined;
}

function precisionIssue(precision: string, isLast: boolean): string | undefined {
  if (precision !== "" && isLast) return "error while parsing precision: could not find end of precision specifier";
  if (precision !== ".") return undefined;
  return 'error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax';
}

interface Clause {
  readonly kinds: ReadonlySet<CelType["kind"]>;
  readonly why: string;
}

const textKinds = [
  "list",
  "map",
  "int",
  "uint",
  "double",
  "bool",
  "string",
  "timestamp",
  "bytes",
  "duration",
  "type",
  "null",
] as const;

const clauses: ReadonlyMap<string, Clause> = new Map([
  ["s", {
    kinds: new Set(textKinds),
    why: "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and " +
      "timestamps",
  }],
  ["d", { kinds: new Set(["int", "uint"]), why: "decimal clause can only be used on integers" }],
  ["f", { kinds: new Set(["double", "string"]), why: "fixed-point clause can only be used on doubles" }],
  ["e", { kinds: new Set(["double", "string"]), why: "scientific clause can only be used on doubles" }],
  ["b", { kinds: new Set(["int", "uint", "bool"]), why: "only integers and bools can be formatted as binary" }],
  ...["x", "X"].map((verb): [string, Clause] => [verb, {
    kinds: new Set(["int", "uint", "string", "bytes"]),
    why: "only integers, byte buffers, and strings can be formatted as hex",
  }]),
  ["o", { kinds: new Set(["int", "uint"]), why: "octal clause can only be used on integers" }],
]);

/** The part of the argument that the clause does not accept. */
function wrongPart(
  expr: Expr,
  clause: Clause,
  isDeep: boolean,
  types: ReadonlyMap<Expr, CelType>,
): Expr | undefined {
  const { kind } = types.get(expr) ?? dynType;
  if (kind !== "dyn" && !clause.kinds.has(kind)) return expr;
  if (!isDeep) return undefined;
  const parts = expr.kind === "list"
    ? expr.items.map((item) => item.value)
    : expr.kind === "map"
    ? expr.entries.flatMap((entry) => [entry.key, entry.value])
    : [];
  for (const part of parts) {
    const wrong = wrongPart(part, clause, true, types);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function typeName(type: CelType): string {
  switch (type.kind) {
    case "list":
    case "map":
      return type.kind;
    case "opaque":
      return type.name;
    default:
      return formatTypeName(type);
  }
}
