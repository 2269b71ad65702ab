/**
 * The fieldSelector parameter: terms like `status.phase!=Failed,metadata.name=a`, with the grammar and the complaints of
 * apimachinery `fields.ParseSelector`. Which fields there are is up to the kind.
 */
import { SelectorError } from "./label_selector.ts";

/** One term: the field has the value, or has not. */
export interface FieldTerm {
  readonly field: string;
  readonly isEqual: boolean;
  readonly value: string;
}

/** Parses a field selector. @throws SelectorError */
export function parseFieldSelector(text: string): readonly FieldTerm[] {
  return splitTerms(text).sort().filter((term) => term !== "").map((term) => {
    const match = /^(.*?)(!=|==|=)(.*)$/s.exec(term);
    if (match === null) throw new SelectorError(`invalid selector: '${text}'; can't understand '${term}'`);
    const [, field = "", operator = "", value = ""] = match;
    return { field, isEqual: operator !== "!=", value: unescaped(value) };
    // A term that says nothing asks for nothing.
  }).filter(({ field, value }) => field !== "" || value !== "");
}

/** The one value that the field must have, where the selector says so. */
export function requiredValue(terms: readonly FieldTerm[], field: string): string | undefined {
  return terms.find((term) => term.field === field && term.isEqual)?.value;
}

function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    if (text[index] === "\\") index++;
    else if (text[index] === ",") {
      terms.push(text.slice(start, index));
      start = index + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

function unescaped(text: string): string {
  if (!/[\\,=]/.test(text)) return text;
  let value = "";
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? "";
    if (character === "\\") {
      index++;
      const escaped = text[index] ?? "";
      if (!["\\", ",", "="].includes(escaped)) {
        throw new SelectorError(`invalid field selector: invalid escape sequence: \\${escaped}`);
      }
      value += escaped;
    } else if (character === "," || character === "=") {
      const code = character.charCodeAt(0);
      throw new SelectorError(`invalid field selector: unescaped character in value: ${code}`);
    } else value += character;
  }
  return value;
}
