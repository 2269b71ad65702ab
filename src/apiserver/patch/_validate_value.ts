/**
 * validateValue(): checks that an applied value fits its type well enough to decide ownership. The validation of the kind
 * finds all other errors, after the merge.
 */
import { goPlain, goSyntax, goType } from "../model/mod.ts";
import type { Json, ListSchema, ScalarSchema, TypeSchema } from "../model/mod.ts";
import { isJsonArray, isJsonNumber, isJsonObject } from "../model/mod.ts";
import { elementText, FieldsError, type FieldsProblem, itemElement } from "./_element.ts";
import { fieldTypeOf } from "./_shape.ts";

/**
 * @param mayRepeat true to allow duplicate items in keyed lists and sets, which a stored object may have
 * @throws FieldsError with all problems
 */
export function validateValue(value: Json, type: TypeSchema, { mayRepeat = false } = {}): void {
  const findings: Findings = { problems: [], mayRepeat };
  check(value, type, "", findings);
  if (findings.problems.length > 0) throw new FieldsError(findings.problems);
}

interface Findings {
  readonly problems: FieldsProblem[];
  readonly mayRepeat: boolean;
}

function check(value: Json, type: TypeSchema, path: string, findings: Findings): void {
  if (value === null) return;
  switch (type.kind) {
    case "any":
      return;
    case "scalar": {
      const message = scalarProblem(value, type);
      if (message !== undefined) findings.problems.push({ path, message });
      return;
    }
    case "list":
      return checkItems(value, type, path, findings);
    case "struct":
    case "map":
      return checkFields(value, type, path, findings);
    default:
      return type satisfies never;
  }
}

function scalarProblem(value: Json, type: ScalarSchema): string | undefined {
  switch (type.type) {
    case "integer":
    case "number":
      return isJsonNumber(value) ? undefined : `expected numeric (int or float), got ${goType(value)}`;
    case "boolean":
      return typeof value === "boolean" ? undefined : `expected boolean, got &{${goPlain(value)}}`;
    case "string":
      if (type.format === undefined || type.format === "byte") {
        if (typeof value === "string") return undefined;
        return `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`;
      }
      return anyScalarProblem(value);
    case "quantity":
      return anyScalarProblem(value);
    case "intOrString":
      // Its schema has no type, so that only the conversion to the kind finds a list or a map.
      return undefined;
    default:
      return type.type satisfies never;
  }
}

function anyScalarProblem(value: Json): string | undefined {
  return typeof value === "object" ? `expected any scalar, got &{${goPlain(value)}}` : undefined;
}

function checkItems(value: Json, type: ListSchema, path: string, findings: Findings): void {
  if (!isJsonArray(value)) {
    findings.problems.push({ path, message: `expected list, got &{${goPlain(value)}}` });
    return;
  }
  const seen = new Set<string>();
  for (const [index, item] of value.entries()) {
    const element = type.listType === "atomic" ? `i:${index}` : elementOrProblem(item, type, index, path, findings);
    if (element === undefined) return;
    const text = elementText(element);
    if (seen.has(element) && !findings.mayRepeat) {
      findings.problems.push({ path, message: `duplicate entries for key ${text}` });
    }
    seen.add(element);
    check(item, type.items, path + text, findings);
  }
}

function elementOrProblem(
  item: Json,
  type: ListSchema,
  index: number,
  path: string,
  findings: Findings,
): string | undefined {
  try {
    return itemElement(item, type);
  } catch (error) {
    if (!(error instanceof FieldsError)) throw error;
    findings.problems.push({ path, message: `element ${index}: ${error.message}` });
    return undefined;
  }
}

function checkFields(value: Json, type: TypeSchema, path: string, findings: Findings): void {
  if (!isJsonObject(value)) {
    findings.problems.push({ path, message: `expected map, got &{${goPlain(value)}}` });
    return;
  }
  for (const name of Object.keys(value)) {
    const field = `${path}.${name}`;
    if (type.kind === "struct" && !type.keepsUnknown && !type.fields.has(name)) {
      findings.problems.push({ path: field, message: "field not declared in schema" });
      return;
    }
    check(value[name] ?? null, fieldTypeOf(type, name), field, findings);
  }
}
