/** Strings and numbers against the keywords that bound them, in words that fit behind the path of a field. */
import { z } from "zod";
import type { StructuralSchema } from "./structural_schema.ts";

/** `is 12, the maximum is 10`: to be put behind a path. */
export type Finding = string;

/** Length and pattern of a string. The server counts code points. */
export function stringProblems(schema: StructuralSchema, value: string): readonly Finding[] {
  const { minLength, maxLength, pattern } = schema;
  const findings: Finding[] = [];
  const length = [...value].length;
  if (minLength !== undefined && length < minLength) {
    findings.push(`has ${length} characters, at least ${minLength} are wanted`);
  }
  if (maxLength !== undefined && length > maxLength) {
    findings.push(`has ${length} characters, at most ${maxLength} are admitted`);
  }
  if (pattern !== undefined && matches(pattern, value) === false) {
    findings.push(`is ${shown(value)}, which does not match ${cut(pattern)}`);
  }
  return findings;
}

/** Range and step of a number. */
export function numberProblems(schema: StructuralSchema, value: number): readonly Finding[] {
  const { minimum, maximum, exclusiveMinimum = false, exclusiveMaximum = false, multipleOf } = schema;
  const findings: Finding[] = [];
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
    findings.push(`is ${value}, ${exclusiveMinimum ? "it must be above" : "the minimum is"} ${minimum}`);
  }
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
    findings.push(`is ${value}, ${exclusiveMaximum ? "it must be below" : "the maximum is"} ${maximum}`);
  }
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) {
    findings.push(`is ${value}, which is no multiple of ${multipleOf}`);
  }
  return findings;
}

/** What the format says of the value; undefined when it fits, or the format means nothing to the server. */
export function formatProblem(schema: StructuralSchema, value: unknown): Finding | undefined {
  const { format } = schema;
  if (format === undefined || formatOf(format)?.safeParse(value).success !== false) return undefined;
  return `is ${shown(value)}, which is no ${format}`;
}

/** A value in a message: short, whatever it is. */
export function shown(value: unknown): string {
  return cut(JSON.stringify(value) ?? String(value));
}

function cut(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}

/** Made when first asked for: a program that compares no schemas pays nothing. */
const made = new Map<string, z.ZodType>();

function formatOf(name: string): z.ZodType | undefined {
  const known = made.get(name) ?? makeFormat(name);
  if (known !== undefined) made.set(name, known);
  return known;
}

/** Formats of kube-openapi's strfmt that our own schemas use, and int32; the ranges of other numbers are JSON's own. */
function makeFormat(name: string): z.ZodType | undefined {
  switch (name) {
    case "int32":
      return z.int32();
    case "byte":
      return z.base64();
    case "cidr":
      return z.union([z.cidrv4(), z.cidrv6()]);
    case "date":
      return z.iso.date();
    case "date-time":
      return z.iso.datetime({ offset: true });
    case "email":
      return z.email();
    case "ipv4":
      return z.ipv4();
    case "ipv6":
      return z.ipv6();
    case "uri":
      return z.url();
    case "uuid":
      return z.guid();
    default:
      return undefined;
  }
}

/** undefined for a pattern that only the server's RE2 understands. */
function matches(pattern: string, value: string): boolean | undefined {
  const [, flags = "", source = pattern] = /^\(\?([ims]+)\)(.*)$/s.exec(pattern) ?? [];
  try {
    return new RegExp(source.replaceAll("(?P<", "(?<").replaceAll(/\\x\{([0-9a-fA-F]+)\}/g, "\\u{$1}"), `u${flags}`)
      .test(value);
  } catch {
    return undefined;
  }
}

function isMultiple(value: number, step: number): boolean {
  const quotient = value / step;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9;
}
