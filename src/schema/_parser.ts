/**
 * Parsing objects of one kind at the edges: manifests, webhooks, values of a reconciler in doubt. This is a decoder,
 * so the one assertion that turns a checked value into its type is here.
 *
 * Guarantees: metadata passes through as it is; a key `__proto__`, which zod would drop without a word, is an issue.
 */
import type { DeepReadonly } from "../api/mod.ts";
import { z } from "zod";
import type { CustomObject, ParseIssue, ParseResult } from "./custom_resource.ts";
import { dotPath } from "./dot_path.ts";

/** What is parsed. */
export interface ParserParts {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: z.ZodType;
  readonly status: z.ZodType | undefined;
}

/** Makes the parser of one kind. */
export function parserOf<T extends CustomObject>(parts: ParserParts): (value: unknown) => ParseResult<DeepReadonly<T>> {
  const { apiVersion, kind, spec, status } = parts;
  const schema = z.object({
    apiVersion: z.literal(apiVersion),
    kind: z.literal(kind),
    metadata: z.custom<T["metadata"]>(isMetadata, "Invalid input: expected an object with names and labels as strings"),
    spec,
    ...(status === undefined ? {} : { status: status.optional() }),
  });
  return (value) => {
    const hidden = protoKeyIn(value);
    if (hidden !== undefined) {
      return { kind: "invalid", issues: [{ path: hidden, message: "The key __proto__ is not supported" }] };
    }
    const parsed = schema.safeParse(value);
    if (!parsed.success) return { kind: "invalid", issues: parsed.error.issues.map(issueOf) };
    return { kind: "valid", object: parsed.data as unknown as DeepReadonly<T> };
  };
}

/** The message of values that are no objects of the kind. */
export function cannotParse(kind: string, value: unknown, issues: readonly ParseIssue[]): TypeError {
  const list = issues.map(({ path, message }) => path === "" ? message : `${path}: ${message}`);
  return new TypeError(`Cannot parse ${kind}${nameOf(value)}: ${list.join("; ")}`);
}

function issueOf(issue: z.core.$ZodIssue): ParseIssue {
  return { path: dotPath(issue.path), message: issue.message };
}

function nameOf(value: unknown): string {
  if (!isRecord(value) || !isRecord(value.metadata)) return "";
  const { namespace, name } = value.metadata;
  if (typeof name !== "string") return "";
  return typeof namespace === "string" ? ` "${namespace}/${name}"` : ` "${name}"`;
}

function isMetadata(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { name, namespace, labels, annotations } = value;
  return [name, namespace].every((text) => text === undefined || typeof text === "string") &&
    [labels, annotations].every((map) => map === undefined || isStringMap(map));
}

function isStringMap(value: unknown): boolean {
  return isRecord(value) && Object.values(value).every((item) => typeof item === "string");
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The path of a key `__proto__` in spec or status. A loop, not recursion: depth is the writer's choice. */
function protoKeyIn(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined;
  const waiting: [path: string, value: unknown][] = [["spec", value.spec], ["status", value.status]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [path, held] = next;
    if (typeof held !== "object" || held === null) continue;
    if (Object.hasOwn(held, "__proto__")) return `${path}.__proto__`;
    for (const [key, item] of Object.entries(held)) {
      if (typeof item === "object") waiting.push([`${path}.${key}`, item]);
    }
  }
  return undefined;
}
