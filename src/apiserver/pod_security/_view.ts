/** How the checks look at a Pod: its spec, its containers in the order in which they are named, and lists of names. */
import { findObject, objectAt, objectsAt, textAt, textMapAt } from "../kinds/mod.ts";
import type { JsonObject } from "../model/mod.ts";
import { readMetadata } from "../registry/mod.ts";

/** A Pod, or the template of Pods. */
export interface PodView {
  readonly spec: JsonObject;
  readonly security: JsonObject;
  readonly annotations: ReadonlyMap<string, string>;
  readonly containers: readonly ContainerView[];
  readonly isWindows: boolean;
  /** True in a user namespace of its own, where root is nobody. */
  readonly hasOwnUsers: boolean;
}

/** One of its containers. */
export interface ContainerView {
  readonly name: string;
  readonly container: JsonObject;
  /** Empty where there is none. */
  readonly security: JsonObject;
}

/** What a check found wrong. */
export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

/** One rule of a level. */
export type Check = (pod: PodView) => Violation | undefined;

/** Looks at a Pod. */
export function viewOf(pod: JsonObject): PodView {
  const spec = objectAt(pod, "spec");
  const containers = ["initContainers", "containers", "ephemeralContainers"].flatMap((list) => objectsAt(spec, list));
  return {
    spec,
    security: objectAt(spec, "securityContext"),
    annotations: textMapAt(readMetadata(pod), "annotations"),
    containers: containers.map((container) => ({
      name: textAt(container, "name"),
      container,
      security: objectAt(container, "securityContext"),
    })),
    isWindows: textAt(objectAt(spec, "os"), "name") === "windows",
    hasOwnUsers: spec["hostUsers"] === false,
  };
}

/** `"a", "b"`. */
export function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(", ");
}

/** `"a", "b"`, sorted, each once. */
export function quotedSet(names: Iterable<string>): string {
  return quoted([...new Set(names)].sort());
}

/** `container "a"` or `containers "a", "b"`. */
export function containersText(names: readonly string[]): string {
  return `${names.length === 1 ? "container" : "containers"} ${quoted(names)}`;
}

/** Who sets what they must not: the Pod, containers, or both. */
export function settersText(isPod: boolean, names: readonly string[]): string {
  return [...(isPod ? ["pod"] : []), ...(names.length > 0 ? [containersText(names)] : [])].join(" and ");
}

/** The value of a setting in a security context, e.g. the type of a profile; undefined where there is none. */
export function typeIn(security: JsonObject, key: string): string | undefined {
  const profile = findObject(security, key);
  return profile === undefined ? undefined : textAt(profile, "type");
}
