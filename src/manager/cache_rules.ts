/** CacheRule: what the Manager of an operator caches of one kind, for all its controllers. */
import { type KubeObject, type Resource, resourceId, resourceName } from "../api/mod.ts";
import type { CacheScope } from "../cache/mod.ts";

/** Which objects of a kind are cached, and which part of them, for all controllers of a Manager. */
export interface CachedRule extends CacheScope {
  /** The kind that the rule is about. */
  readonly resource: Resource;
  /** True, or absent: the kind is cached. */
  readonly isCached?: true;
  /** Called once with each object before it is cached; it must not change the object, but may return a copy. @default drops managedFields */
  readonly transform?: <T extends KubeObject>(object: T) => T;
}

/** A kind that no controller of a Manager may watch. Its objects are read from the API server, see `notCached`. */
export interface NotCachedRule {
  /** The kind that the rule is about. */
  readonly resource: Resource;
  /** The kind is not cached. */
  readonly isCached: false;
}

/** What a Manager caches of one kind; an element of the option `cacheRules`. */
export type CacheRule = CachedRule | NotCachedRule;

/** @throws TypeError when two rules are about the same kind: one of them would have no effect. */
export function assertOneRulePerKind(rules: readonly CacheRule[]): void {
  const seen = new Set<string>();
  for (const { resource } of rules) {
    const id = resourceId(resource);
    if (seen.has(id)) {
      throw new TypeError(`Cannot cache ${resourceName(resource)}: it has two cache rules. Combine them into one rule`);
    }
    seen.add(id);
  }
}
