/**
 * anyOf, oneOf, allOf and not. Of several schemas none of which is met, the findings of the one that was met best are shown
 * beside the statement that none is.
 */
import { goQuote, type Json } from "../model/mod.ts";
import type { Correlation } from "./correlation.ts";
import { SchemaResult } from "./_schema_errors.ts";
import type { SchemaProps } from "./schema_props.ts";
import { type Check, compileCheck } from "./schema_validator.ts";

/** Compiles them; undefined where a schema has none. */
export function compileJunctions({ anyOf, oneOf, allOf, not }: SchemaProps): Check | undefined {
  if (anyOf.length + oneOf.length + allOf.length === 0 && not === undefined) return undefined;
  const any = anyOf.map(compileCheck);
  const one = oneOf.map(compileCheck);
  const all = allOf.map(compileCheck);
  const none = not === undefined ? undefined : compileCheck(not);
  return (value, path, result, link) => {
    const run = (check: Check): SchemaResult => runAlone(check, value, path, link);
    if (any.length > 0) checkAny(any, run, path, result);
    if (one.length > 0) checkOne(one, run, path, result);
    if (all.length > 0) checkAll(all, run, path, result);
    if (none !== undefined && run(none).errors.length === 0) {
      composite(result, path, `${goQuote(path)} must not validate the schema (not)`);
    }
  };
}

type Run = (check: Check) => SchemaResult;

function runAlone(check: Check, value: Json, path: string, link: Correlation | undefined): SchemaResult {
  const result = new SchemaResult();
  check(value, path, result, link);
  return result;
}

function checkAny(checks: readonly Check[], run: Run, path: string, result: SchemaResult): void {
  let best: SchemaResult | undefined;
  for (const check of checks) {
    const found = run(check);
    if (found.errors.length === 0) return result.merge(found);
    if (best === undefined || found.matches > best.matches) best = found;
  }
  composite(result, path, `${goQuote(path)} must validate at least one schema (anyOf)`);
  if (best !== undefined) result.merge(best);
}

function checkOne(checks: readonly Check[], run: Run, path: string, result: SchemaResult): void {
  let best: SchemaResult | undefined;
  let met: SchemaResult | undefined;
  let count = 0;
  for (const check of checks) {
    const found = run(check);
    if (found.errors.length === 0) {
      count++;
      best = undefined;
      met ??= found;
    } else if (count === 0 && (best === undefined || found.matches > best.matches)) best = found;
  }
  if (count === 1) {
    if (met !== undefined) result.merge(met);
    return;
  }
  const why = count === 0 ? "Found none valid" : `Found ${count} valid alternatives`;
  composite(result, path, `${goQuote(path)} must validate one and only one schema (oneOf). ${why}`);
  if (best !== undefined) result.merge(best);
}

function checkAll(checks: readonly Check[], run: Run, path: string, result: SchemaResult): void {
  let count = 0;
  for (const check of checks) {
    const found = run(check);
    if (found.errors.length === 0) count++;
    result.merge(found);
  }
  if (count === checks.length) return;
  composite(
    result,
    path,
    `${goQuote(path)} must validate all the schemas (allOf)${count === 0 ? ". None validated" : ""}`,
  );
}

function composite(result: SchemaResult, path: string, message: string): void {
  result.add({ code: "composite", path, message });
}
