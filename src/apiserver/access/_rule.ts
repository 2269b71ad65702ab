/** Rule: one rule of a Role or ClusterRole, read from stored JSON, and the question whether it allows something. */
import { type Attributes, isJsonObject, type Json, type JsonObject, read } from "../model/mod.ts";

/** One rule. */
export interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** The rules of a role. */
export function rulesOf(role: JsonObject): readonly Rule[] {
  const rules = read<Json>(role, "rules");
  if (!Array.isArray(rules)) return [];
  return rules.filter(isJsonObject).map((rule) => ({
    verbs: stringsOf(rule.verbs),
    apiGroups: stringsOf(rule.apiGroups),
    resources: stringsOf(rule.resources),
    resourceNames: stringsOf(rule.resourceNames),
    nonResourceURLs: stringsOf(rule.nonResourceURLs),
  }));
}

/** The strings of a list; none where there is no list. */
export function stringsOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** True when the rule alone is enough. */
export function allows(rule: Rule, asked: Attributes): boolean {
  if (!rule.verbs.includes("*") && !rule.verbs.includes(asked.verb)) return false;
  if (!asked.isResourceRequest) return rule.nonResourceURLs.some((pattern) => coversPath(pattern, asked.path));
  return (rule.apiGroups.includes("*") || rule.apiGroups.includes(asked.group)) &&
    rule.resources.some((pattern) => coversResource(pattern, asked)) &&
    (rule.resourceNames.length === 0 || rule.resourceNames.includes(asked.name));
}

function coversResource(pattern: string, { resource, subresource }: Attributes): boolean {
  if (pattern === "*") return true;
  if (subresource === "") return pattern === resource;
  return pattern === `${resource}/${subresource}` || pattern === `*/${subresource}`;
}

function coversPath(pattern: string, path: string): boolean {
  if (pattern === "*" || pattern === path) return true;
  return pattern.endsWith("*") && path.startsWith(pattern.slice(0, -1));
}
