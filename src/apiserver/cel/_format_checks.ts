/** Checks calls like `"%s is %d".format([a, 1])` whose text and list are written out. */
import type { Call, Expr } from "./ast.ts";
import type { Checked } from "./_checker.ts";
import type { Issue } from "./issues.ts";
import { type CelType, dynType, formatTypeName } from "./types.ts";

/** What is wrong with a call; undefined for other calls and for what is right. */
export function formatCallIssue(call: Call, { types }: Checked): Issue | undefined {
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

/** The part that the clause cannot take. */
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
