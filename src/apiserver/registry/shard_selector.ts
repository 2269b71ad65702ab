/**
 * Parses the shardSelector parameter (KEP-5866, behind the feature gate ShardedListAndWatch) into a Matcher, with the grammar
 * and the errors of apiserver `pkg/sharding`: calls of shardRange() joined by `||`, all about one field.
 */
import { shardHash } from "../../api/mod.ts";
import { type CelExpr, parseCel, qualifiedName } from "../../cel/mod.ts";
import type { JsonObject } from "../model/mod.ts";
import { type Matcher, SelectorError } from "./label_selector.ts";
import { metadataText } from "./metadata.ts";

/** The objects of a shard. */
export interface ShardSelection {
  readonly matches: Matcher;
  /** The selector as the server understood it, for `metadata.shardInfo` of a list. */
  readonly text: string;
}

interface ShardRange {
  readonly field: string;
  /** `0x` and 16 digits. */
  readonly start: string;
  /** The same; 17 digits only for 2^64. */
  readonly end: string;
}

const fields: ReadonlyMap<string, (object: JsonObject) => string> = new Map([
  ["object.metadata.uid", (object) => metadataText(object, "uid")],
  ["object.metadata.namespace", (object) => metadataText(object, "namespace")],
]);
const endOfHashes = "0x10000000000000000";

/** Parses a shard selector. @throws SelectorError */
export function parseShardSelector(text: string): ShardSelection {
  const ranges = rangesOf(parsedExpr(text.trim()));
  const [first] = ranges;
  const valueOf = fields.get(first?.field ?? "");
  const other = ranges.find(({ field }) => field !== first?.field);
  if (first === undefined || valueOf === undefined) throw new SelectorError("it has no range");
  if (other !== undefined) {
    throw new SelectorError(
      `all shard ranges must use the same field, got ${JSON.stringify(first.field)} and ${JSON.stringify(other.field)}`,
    );
  }
  return {
    matches({ object }) {
      const hash = `0x${shardHash(valueOf(object))}`;
      return ranges.some(({ start, end }) => !isLess(hash, start) && isLess(hash, end));
    },
    text: ranges.map(({ field, start, end }) => `shardRange(${field}, '${start}', '${end}')`).join(" || "),
  };
}

function parsedExpr(text: string): CelExpr {
  if (text === "") {
    throw new SelectorError("empty shard selector is not allowed; omit the parameter for unfiltered lists");
  }
  const parsed = parseCel(text);
  if (parsed.kind === "failed") throw new SelectorError(`CEL parse error: ${parsed.issues[0]?.message}`);
  return parsed.expr;
}

function rangesOf(expr: CelExpr): readonly ShardRange[] {
  if (expr.kind !== "call") {
    throw new SelectorError(
      `unexpected expression kind ${kindNumbers[expr.kind]}; expected shardRange() call or || operator`,
    );
  }
  if (expr.name === "_||_") return expr.args.flatMap(rangesOf);
  if (expr.name === "shardRange") return [rangeOf(expr.args)];
  throw new SelectorError(`unsupported function ${JSON.stringify(expr.name)}; only shardRange() and || are allowed`);
}

function rangeOf(args: readonly CelExpr[]): ShardRange {
  const [fieldExpr, startExpr, endExpr] = args;
  if (args.length !== 3 || fieldExpr === undefined || startExpr === undefined || endExpr === undefined) {
    throw new SelectorError(`shardRange() requires exactly 3 arguments, got ${args.length}`);
  }
  const field = qualifiedName(fieldExpr);
  if (field === undefined) {
    const kind = kindNumbers[fieldExpr.kind];
    throw new SelectorError(
      `shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind ${kind}`,
    );
  }
  if (!fields.has(field)) {
    throw new SelectorError(
      `unsupported field path ${JSON.stringify(field)}; supported: object.metadata.uid, object.metadata.namespace`,
    );
  }
  const [start, end] = [hexOf(startExpr, "hexStart"), hexOf(endExpr, "hexEnd")];
  if (!isLess(start, end)) throw new SelectorError(`shard range start ${start} must be less than end ${end}`);
  return { field, start, end };
}

function hexOf(expr: CelExpr, name: string): string {
  if (expr.kind !== "literal") {
    const kind = kindNumbers[expr.kind];
    throw new SelectorError(`${name} must be a string literal (e.g. '0xff'), got expression kind ${kind}`);
  }
  const { value } = expr;
  if (typeof value !== "string") throw new SelectorError(`${name} must be a string literal, got ${goTypeOf(value)}`);
  const quoted = JSON.stringify(value);
  if (!value.startsWith("0x")) throw new SelectorError(`${name} must have '0x' prefix, got ${quoted}`);
  const hex = value.slice(2);
  if (hex === "") throw new SelectorError(`${name}: hex value is required after '0x'`);
  if (hex.length > 17) {
    const digits = JSON.stringify(hex);
    throw new SelectorError(`${name}: hex value too long (${hex.length} chars, max 17): ${digits}`);
  }
  const wrong = /[^0-9a-f]/.exec(hex)?.[0];
  if (wrong !== undefined) {
    throw new SelectorError(`${name}: invalid hex character ${JSON.stringify(wrong)} in ${quoted}`);
  }
  if (hex.length === 17 && value !== endOfHashes) {
    throw new SelectorError(`${name}: 17-digit hex value must be '${endOfHashes}' (2^64), got ${quoted}`);
  }
  if (hex.length < 16) {
    const meant = JSON.stringify(`0x${hex.padStart(16, "0")}`);
    throw new SelectorError(`${name} must be a 0x-prefixed 16-digit hex value, got ${quoted} (did you mean ${meant}?)`);
  }
  return value;
}

/** Compares by length first: only 2^64 has 17 digits. */
function isLess(left: string, right: string): boolean {
  return left.length === right.length ? left < right : left.length < right.length;
}

/** ast.ExprKind of cel-go, which messages show. */
const kindNumbers: Readonly<Record<CelExpr["kind"], number>> = {
  call: 1,
  comprehension: 2,
  ident: 3,
  list: 4,
  literal: 5,
  map: 6,
  select: 7,
  struct: 8,
};

/** The type of a constant in cel-go. */
function goTypeOf(value: unknown): string {
  if (value === null) return "structpb.NullValue";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "bigint") return "int64";
  if (typeof value === "number") return "float64";
  return value instanceof Uint8Array ? "[]uint8" : "uint64";
}
