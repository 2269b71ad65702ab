/**
 * Readiness of one controller: is every cache it needs in step, and if not, what is to be done about it. A missing
 * permission is answered with the very rule that is missing, as YAML that can be pasted into a ClusterRole.
 */
import type { Resource } from "../api/mod.ts";
import { type InformerStatus, problemOf } from "../cache/mod.ts";
import type { Caches, ControllerDefinition } from "../controller/mod.ts";
import type { SharedCaches } from "./shared_caches.ts";

/** One question of readiness. */
export interface Check {
  /** As it stands in `/readyz/NAME`. */
  readonly name: string;
  /** What is wrong, in one sentence; undefined when nothing is. */
  readonly problem: () => string | undefined;
}

/** What is known of controllers that ended, and of what they are not allowed to do. */
export interface Failures {
  failureOf(name: string): unknown;
  refusalsOf(name: string): readonly string[];
}

/** The check of a controller. */
export function syncCheck(definition: ControllerDefinition, caches: SharedCaches, failures: Failures): Check {
  const problem = () => {
    const failure = failures.failureOf(definition.name);
    const own = caches.within(definition.options.namespace);
    const troubles = definition.watches.flatMap(({ resource }) => troubleWith(resource, own));
    troubles.push(...failures.refusalsOf(definition.name).map((rule) => `it is forbidden; missing rule: ${rule}`));
    if (failure !== undefined) troubles.unshift(failure instanceof Error ? failure.message : String(failure));
    return troubles.length === 0 ? undefined : troubles.join("; ");
  };
  return { name: definition.name, problem };
}

function troubleWith(resource: Resource, caches: Caches): readonly string[] {
  const informer = caches.findInformer(resource);
  return informer?.statuses().flatMap((status) => {
    const problem = problemOf(status);
    if (problem === undefined) return [];
    return isForbidden(status) ? `${problem}; missing rule: ${ruleFor(resource)}` : problem;
  }) ?? [];
}

function isForbidden({ reflector }: InformerStatus): boolean {
  return reflector.kind === "waiting" && reflector.reason === "forbidden";
}

/** The PolicyRule that lets a cache read a kind, as a YAML flow mapping: one line, since it goes into log and readiness. */
export function ruleFor(resource: Pick<Resource, "group" | "plural">): string {
  return `{apiGroups: ["${resource.group}"], resources: ["${resource.plural}"], verbs: ["get", "list", "watch"]}`;
}
