/** Which requests a policy, or one of its bindings, is about: `matchConstraints` and `matchResources`. */
import { type AdmissionRequest, isJsonObject, type Json, type JsonObject, type Kind, read } from "../model/mod.ts";
import { type HookSite, isSelectedBy, listOf, type RequestRule, ruleOf, stringsOf, takes } from "./_hook.ts";

interface NamedRule {
  readonly rule: RequestRule;
  /** Empty for any name. */
  readonly names: readonly string[];
}

/** A match, read once. */
export interface PolicyMatch {
  readonly namespaceSelector: Json;
  readonly objectSelector: Json;
  /** Empty for any request. */
  readonly included: readonly NamedRule[];
  readonly excluded: readonly NamedRule[];
  /** Also about the kind in its other versions. */
  readonly isEquivalent: boolean;
}

/** Reads a match; undefined, and so about everything, where there is none. */
export function policyMatchOf(match: Json | undefined): PolicyMatch | undefined {
  if (!isJsonObject(match)) return undefined;
  return {
    namespaceSelector: match.namespaceSelector ?? null,
    objectSelector: match.objectSelector ?? null,
    included: listOf(match.resourceRules).map(namedRuleOf),
    excluded: listOf(match.excludeResourceRules).map(namedRuleOf),
    isEquivalent: match.matchPolicy === "Equivalent",
  };
}

function namedRuleOf(rule: JsonObject): NamedRule {
  return { rule: ruleOf(rule), names: stringsOf(read(rule, "resourceNames")) };
}

/** The kind in which it is about the request; undefined where the request is none of its business. */
export function kindAbout(match: PolicyMatch | undefined, request: AdmissionRequest, site: HookSite): Kind | undefined {
  if (match === undefined) return request.kind;
  if (!isSelectedBy(match, request, site)) return undefined;
  const others = match.isEquivalent ? site.otherKinds : [];
  if (foundIn(match.excluded, request, others) !== undefined) return undefined;
  return match.included.length === 0 ? request.kind : foundIn(match.included, request, others);
}

function foundIn(
  rules: readonly NamedRule[],
  request: AdmissionRequest,
  others: readonly Kind[],
): Kind | undefined {
  const named = rules.filter(({ names }) => names.length === 0 || names.includes(request.name));
  if (named.some(({ rule }) => takes(rule, request, request.kind.version))) return request.kind;
  for (const { rule } of named) {
    const other = others.find(({ version }) => takes(rule, request, version));
    if (other !== undefined) return other;
  }
  return undefined;
}
