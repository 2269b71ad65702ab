/**
 * selectorText(): a LabelSelector of an object as people write it on a command line, as apimachinery `labels` prints it.
 * (src/api formats those that clients send; these come from the storage and may be anything.)
 */
import { findObject, objectsAt, textAt } from "../kinds/mod.ts";
import { isJsonObject, type Json, type JsonObject } from "../model/mod.ts";
import { textsIn } from "./_values.ts";

interface Requirement {
  readonly key: string;
  readonly text: string;
}

/** The text, "" for one that selects everything or nothing. @returns undefined where it is no selector */
export function selectorText(selector: Json | undefined): string | undefined {
  if (!isJsonObject(selector)) return "";
  const requirements: Requirement[] = [];
  for (const [key, value] of Object.entries(findObject(selector, "matchLabels") ?? {})) {
    requirements.push({ key, text: `${key}=${value}` });
  }
  for (const expression of objectsAt(selector, "matchExpressions")) {
    const requirement = requirementOf(expression);
    if (requirement === undefined) return undefined;
    requirements.push(requirement);
  }
  const ordered = requirements.sort((left, right) => left.key < right.key ? -1 : left.key > right.key ? 1 : 0);
  return ordered.map(({ text }) => text).join(",");
}

function requirementOf(expression: JsonObject): Requirement | undefined {
  const key = textAt(expression, "key");
  const values = [...textsIn(expression["values"])].sort().join(",");
  switch (textAt(expression, "operator")) {
    case "In":
      return { key, text: `${key} in (${values})` };
    case "NotIn":
      return { key, text: `${key} notin (${values})` };
    case "Exists":
      return { key, text: key };
    case "DoesNotExist":
      return { key, text: `!${key}` };
    default:
      return undefined;
  }
}

/** A LabelSelector as Go's generated code prints the struct: one column shows it so. */
export function selectorStruct(selector: JsonObject): string {
  const labels = Object.entries(findObject(selector, "matchLabels") ?? {}).map(([key, value]) => `${key}: ${value},`);
  const expressions = objectsAt(selector, "matchExpressions").map((expression) =>
    `LabelSelectorRequirement{Key:${textAt(expression, "key")},Operator:${textAt(expression, "operator")},` +
    `Values:[${textsIn(expression["values"]).join(" ")}],},`
  );
  return `&LabelSelector{MatchLabels:map[string]string{${labels.sort().join("")}},` +
    `MatchExpressions:[]LabelSelectorRequirement{${expressions.join("")}},}`;
}
