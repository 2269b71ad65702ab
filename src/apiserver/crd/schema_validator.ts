/**
 * compileValidator: from a schema to a closure that checks values against it, as kube-openapi's validator does, message for
 * message. A closure holds only the checks that its schema asks for; a valid value costs no allocation but its paths.
 *
 * With a correlation (an update), findings about values that did not change are dropped, as CRDValidationRatcheting wants.
 */
import { isJsonArray, isJsonObject, isSameJson, type Json, type JsonObject } from "../model/mod.ts";
import type { Correlation } from "./correlation.ts";
import { compileJunctions } from "./_junctions.ts";
import { compileNumberChecks, compileStringChecks } from "./_scalar_checks.ts";
import { SchemaResult } from "./_schema_errors.ts";
import type { SchemaProps } from "./schema_props.ts";
import { compileTypeCheck, typesOf, usedFormat } from "./_type_check.ts";

/** Checks one value and adds what it finds. `path` is from the validated root. */
export type Check = (value: Json, path: string, result: SchemaResult, link: Correlation | undefined) => void;

/** Checks a whole value. */
export type Validator = (value: Json, link?: Correlation) => SchemaResult;

/** Compiles a schema. */
export function compileValidator(schema: SchemaProps): Validator {
  const check = ratcheted(compileCheck(schema));
  return (value, link) => {
    const result = new SchemaResult();
    check(value, "", result, link);
    return result;
  };
}

/** A check that drops what it finds where the value is as it was. */
function ratcheted(check: Check): Check {
  return (value, path, result, link) => {
    const count = result.errors.length;
    check(value, path, result, link);
    if (link !== undefined && result.errors.length > count && link.isEqual) result.truncate(count);
  };
}

/** Compiles one node. */
export function compileCheck(schema: SchemaProps): Check {
  const hasTypeCheck = typesOf(schema).length > 0 || usedFormat(schema) !== "";
  const checkType = hasTypeCheck ? compileTypeCheck(schema) : undefined;
  const junctions = compileJunctions(schema);
  const checkString = compileStringChecks(schema);
  const checkNumber = compileNumberChecks(schema);
  const checkList = compileListChecks(schema);
  const checkObject = compileObjectChecks(schema);
  const checkEnum = schema.enum.length === 0 ? undefined : compileEnumCheck(schema.enum);
  // Junctions, enum and the whole each count as met, the type where it is looked at.
  const matches = hasTypeCheck ? 4 : 3;
  return (value, path, result, link) => {
    checkType?.(value, path, result, link);
    if (value === null) return checkEnum?.(value, path, result, link);
    result.matches += matches;
    junctions?.(value, path, result, link);
    switch (typeof value) {
      case "string":
        checkString?.(value, path, result);
        result.matches++;
        break;
      case "number":
        checkNumber?.(value, path, result);
        result.matches += 2;
        break;
      case "object":
        result.matches++;
        if (isJsonArray(value)) checkList(value, path, result, link);
        break;
      default:
    }
    checkEnum?.(value, path, result, link);
    if (isJsonObject(value)) checkObject(value, path, result, link);
  };
}

function compileEnumCheck(values: readonly Json[]): Check {
  const scalars = new Set<Json>(values.filter((value) => value !== null && typeof value !== "object"));
  const others = values.filter((value) => value !== null && typeof value === "object");
  return (value, path, result) => {
    if (value !== null && (scalars.has(value) || others.some((other) => isSameJson(other, value)))) return;
    const shown = values.map((each) => typeof each === "string" ? each : JSON.stringify(each)).join(" ");
    result.add({ code: "enum", path, value, values, message: `${path} in body should be one of [${shown}]` });
  };
}

type ListCheck = (value: readonly Json[], path: string, result: SchemaResult, link: Correlation | undefined) => void;

function compileListChecks(schema: SchemaProps): ListCheck {
  const { minItems, maxItems, uniqueItems } = schema;
  const checkItem = schema.items === undefined ? undefined : ratcheted(compileCheck(schema.items));
  return (value, path, result, link) => {
    if (checkItem !== undefined) {
      for (let index = 0; index < value.length; index++) {
        checkItem(value[index] ?? null, `${path}[${index}]`, result, link?.index(index));
      }
    }
    const size = value.length;
    if (minItems !== undefined && size < minItems) {
      result.add({
        code: "invalid",
        path,
        value: size,
        message: `${path} in body should have at least ${minItems} items`,
      });
    }
    if (maxItems !== undefined && size > maxItems) {
      const message = `${path} in body should have at most ${maxItems} items`;
      result.add({ code: "tooMany", path, value: size, limit: maxItems, message });
    }
    if (uniqueItems && hasDuplicates(value)) {
      result.add({ code: "invalid", path, message: `${path} in body shouldn't contain duplicates` });
    }
    result.matches++;
  };
}

function hasDuplicates(items: readonly Json[]): boolean {
  return items.some((item, index) => items.slice(0, index).some((other) => isSameJson(item, other)));
}

type ObjectCheck = (value: JsonObject, path: string, result: SchemaResult, link: Correlation | undefined) => void;

function compileObjectChecks(schema: SchemaProps): ObjectCheck {
  const checkSize = compileSizeChecks(schema);
  const checkKeys = compileKeyChecks(schema);
  const properties = Array.from(schema.properties, ([name, property]) => ({
    name,
    dotted: `.${name}`,
    check: ratcheted(compileCheck(property)),
  }));
  const required = schema.required.map((name) => ({ name, dotted: `.${name}` }));
  return (value, path, result, link) => {
    checkSize?.(value, path, result, link);
    checkKeys?.(value, path, result, link);
    const isRoot = path === "";
    for (const { name, dotted, check } of properties) {
      if (!Object.hasOwn(value, name)) continue;
      check(value[name] ?? null, isRoot ? name : path + dotted, result, childLink(link, name, isRoot));
    }
    for (const { name, dotted } of required) {
      if (Object.hasOwn(value, name)) continue;
      result.add({ code: "required", path: path + dotted, message: `${path}${dotted} in body is required` });
    }
  };
}

/** The type of an object cannot be compared: both states are shown in the same one. */
function childLink(link: Correlation | undefined, name: string, isRoot: boolean): Correlation | undefined {
  if (link === undefined || (isRoot && (name === "apiVersion" || name === "kind"))) return undefined;
  return link.key(name);
}

function compileSizeChecks({ minProperties, maxProperties }: SchemaProps): ObjectCheck | undefined {
  if (minProperties === undefined && maxProperties === undefined) return undefined;
  return (value, path, result) => {
    const size = Object.keys(value).length;
    if (minProperties !== undefined && size < minProperties) {
      const message = `${path} in body should have at least ${minProperties} properties`;
      result.add({ code: "invalid", path, value: size, message });
    }
    if (maxProperties !== undefined && size > maxProperties) {
      const message = `${path} in body should have at most ${maxProperties} properties`;
      result.add({ code: "tooMany", path, value: size, limit: maxProperties, message });
    }
  };
}

/** Checks of the keys that are no properties. */
function compileKeyChecks({ additionalProperties, properties }: SchemaProps): ObjectCheck | undefined {
  if (additionalProperties === undefined || additionalProperties === true) return undefined;
  if (additionalProperties === false) {
    return (value, path, result) => {
      for (const key of Object.keys(value)) {
        if (properties.has(key)) continue;
        result.add({ code: "invalid", path, value: key, message: `${path}.${key} in body is a forbidden property` });
      }
    };
  }
  const check = ratcheted(compileCheck(additionalProperties));
  return (value, path, result, link) => {
    const isRoot = path === "";
    for (const key of Object.keys(value)) {
      if (!properties.has(key)) check(value[key] ?? null, `${path}.${key}`, result, childLink(link, key, isRoot));
    }
  };
}
