/**
 * Parses the text of a label selector as a user types it: `app=web,tier in (front, back),!canary`. The grammar is that of
 * apimachinery `labels.Parse` of Kubernetes 1.36, without `>` and `<`, which a LabelSelector cannot express.
 */
import { labelKeyProblem, labelValueProblem } from "./names.ts";
import type { LabelRequirement, LabelSelector } from "./selector.ts";

/** Longer selectors do not fit into the URL of a request. */
const maxLength = 4_096;

/**
 * Parses a label selector.
 *
 * @throws SyntaxError whose message is the end of a sentence: `"x y" is not a requirement on a label`.
 */
export function parseLabelSelector(text: string): LabelSelector {
  if (text.length > maxLength) throw new SyntaxError(`it has more than ${maxLength} characters`);
  return { matchExpressions: requirementsIn(text).map(parseRequirement) };
}

/** Splits at the commas outside of parentheses. */
function requirementsIn(text: string): readonly string[] {
  const parts = [""];
  let depth = 0;
  for (const character of text) {
    if (character === "(") depth++;
    if (character === ")") depth--;
    if (character === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += character;
  }
  return parts.map(trimmed);
}

/** The white space of the server. JavaScript has more, such as U+00A0. */
const blank = " \\t\\r\\n";
const [key, value] = [`[^${blank}=!(),<>]+`, `[^${blank}=!(),<>]*`];
const equality = new RegExp(`^(${key})[${blank}]*(==|=|!=)[${blank}]*(${value})$`);
const membership = new RegExp(`^(${key})[${blank}]+(in|notin)[${blank}]*\\(([^()=!<>]*)\\)$`);
const existence = new RegExp(`^(!?)[${blank}]*(${key})$`);

function trimmed(text: string): string {
  return text.replace(/^[ \t\r\n]+/, "").replace(/(?<![ \t\r\n])[ \t\r\n]+$/, "");
}

function parseRequirement(text: string): LabelRequirement {
  const [, equalKey, sign, single = ""] = equality.exec(text) ?? [];
  if (equalKey !== undefined) return checked(equalKey, sign === "!=" ? "NotIn" : "In", [single]);
  const [, memberKey, word, list = ""] = membership.exec(text) ?? [];
  if (memberKey !== undefined) {
    const values = list.split(",").map(trimmed);
    return checked(memberKey, word === "notin" ? "NotIn" : "In", values);
  }
  const [, negation, lonelyKey] = existence.exec(text) ?? [];
  if (lonelyKey !== undefined) return checked(lonelyKey, negation === "!" ? "DoesNotExist" : "Exists", undefined);
  throw new SyntaxError(`"${text}" is not a requirement on a label`);
}

function checked(
  key: string,
  operator: LabelRequirement["operator"],
  values: readonly string[] | undefined,
): LabelRequirement {
  const wrongKey = labelKeyProblem(key);
  if (wrongKey !== undefined) throw new SyntaxError(`the key "${key}" is wrong, ${wrongKey}`);
  if (values === undefined) return { key, operator };
  for (const value of values) {
    const wrongValue = labelValueProblem(value);
    if (wrongValue !== undefined) throw new SyntaxError(`the value "${value}" is wrong, ${wrongValue}`);
  }
  return { key, operator, values };
}
