/**
 * parseYaml(): YAML as Go programs read it: `yes` and `off` are booleans, `010` is eight, merge keys work, and a time is a
 * text. What is no YAML is refused in the words of go-yaml where people are likely to see them.
 */
import type { Tags } from "yaml";
import type { Json, Refusal } from "../model/mod.ts";

/** YAML as JSON, and what a strict decoder would say of it. */
export async function parseYaml(
  text: string,
  refuse: (why: string) => Refusal,
): Promise<{ readonly value: Json; readonly duplicates: readonly string[] }> {
  // Loaded when somebody writes YAML: most servers of a test never see any.
  const { parseDocument } = await import("yaml");
  const document = parseDocument(text, { version: "1.1", customTags: asGoReads, uniqueKeys: false });
  const [error] = document.errors;
  if (error !== undefined) throw refuse(`yaml: ${complaint(text, error)}`);
  const strict = parseDocument(text);
  const duplicates = strict.errors.filter(({ code }) => code === "DUPLICATE_KEY")
    .map(({ linePos, pos }) => `line ${linePos?.[0].line ?? 0}: key ${keyAt(text, pos[0])} already set in map`);
  return { value: jsonOf(document, refuse), duplicates };
}

/** Go leaves out what YAML 1.1 makes of times and of numbers to the base of 60. */
function asGoReads(tags: Tags): Tags {
  return tags.filter((tag) => {
    if (typeof tag === "string") return true;
    const isSexagesimal = "format" in tag && tag.format === "TIME";
    return !isSexagesimal && !tag.tag.endsWith(":timestamp");
  });
}

/** What the parser of this process says is wrong. */
interface YamlProblem {
  readonly code: string;
  readonly message: string;
  readonly pos: readonly [number, number];
  readonly linePos?: readonly [{ readonly line: number }, { readonly line: number }?];
}

function complaint(text: string, { code, message, pos, linePos }: YamlProblem): string {
  const line = linePos?.[0].line ?? 0;
  if (code === "BLOCK_AS_IMPLICIT_KEY") {
    const colon = /:(?=\s|$)/.exec(text.slice(pos[0]));
    const lines = text.slice(0, pos[0] + (colon?.index ?? 0)).split("\n").length;
    return `line ${lines}: mapping values are not allowed in this context`;
  }
  if (/^Flow (sequence|map) in block collection/.test(message)) {
    return `line ${line}: did not find expected node content`;
  }
  return `line ${line}: ${(message.split("\n")[0] ?? "").replace(/ at line \d+, column \d+:$/, "")}`;
}

/** The key that begins at a position, quoted. */
function keyAt(text: string, position: number): string {
  const key = /^[^:\s]+/.exec(text.slice(position, position + 300))?.[0] ?? "";
  return JSON.stringify(key.replace(/^["']|["']$/g, ""));
}

function jsonOf(
  document: { toJS(options: { maxAliasCount: number }): unknown },
  refuse: (why: string) => Refusal,
): Json {
  try {
    const text = JSON.stringify(document.toJS({ maxAliasCount: 100 })) ?? "null";
    const value: Json = JSON.parse(text);
    return value;
  } catch (error) {
    throw refuse(`error converting YAML to JSON: ${error instanceof Error ? error.message : "unreadable"}`);
  }
}
