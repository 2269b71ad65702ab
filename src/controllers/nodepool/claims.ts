/**
 * Claims: for each pool an annotation on a Node that contains the labels and taints that the pool has set. By it a pool
 * distinguishes its own labels and taints from those of others, also on a Node that left while the controller did not run.
 *
 * Server-side apply records owners of labels, but not of taints: their list is atomic, so that the last writer owns all of it.
 * One annotation for both is written in the same request as they are, so that it is always consistent with them.
 */
import type { Node } from "../../mod.ts";
import { rolePrefix, type Taint } from "./desired.ts";
import { taintId } from "./validate.ts";

/** Prefix of the annotation, before the name of the pool. */
export const claimPrefix = "nodepool.nodes.lailin.xyz/";

/** The labels and taints that a pool has set on a Node, by label key and by taint id, with the values it has set. */
export interface Claims {
  readonly labels: ReadonlyMap<string, string>;
  readonly taints: ReadonlyMap<string, Pick<Taint, "key" | "value" | "effect">>;
}

/** The claims of a pool that has set nothing. */
export const noClaims: Claims = { labels: new Map(), taints: new Map() };

/** Returns the stored annotation of a pool; undefined when there is none. */
export function claimText(node: Pick<Node, "metadata">, pool: string): string | undefined {
  const { annotations = {} } = node.metadata;
  const key = claimPrefix + pool;
  return Object.hasOwn(annotations, key) ? annotations[key] : undefined;
}

/** Returns the pools of a Node: those it is a member of, and those that have set something on it. */
export function poolsOf(node: Pick<Node, "metadata">): readonly string[] {
  const { labels = {}, annotations = {} } = node.metadata;
  return [...new Set([...namesAfter(rolePrefix, labels), ...namesAfter(claimPrefix, annotations)])];
}

/** Returns the claims of all other pools on a Node. */
export function claimsOfOthers(node: Pick<Node, "metadata">, pool: string): readonly Claims[] {
  const others = namesAfter(claimPrefix, node.metadata.annotations ?? {}).filter((name) => name !== pool);
  return others.map((name) => parseClaims(claimText(node, name)));
}

/** Parses claims. An invalid annotation claims nothing, so that nothing is removed because of it. */
export function parseClaims(text: string | undefined): Claims {
  if (text === undefined) return noClaims;
  const value = json(text);
  const taints = arrayOf(fieldOf(value, "taints")).flatMap((one) => {
    const [key, effect, taintValue] = [fieldOf(one, "key"), fieldOf(one, "effect"), fieldOf(one, "value")];
    if (typeof key !== "string" || !isEffect(effect)) return [];
    return [{ key, effect, ...(typeof taintValue === "string" ? { value: taintValue } : {}) }];
  });
  return {
    labels: new Map(entriesOf(fieldOf(value, "labels"))),
    taints: new Map(taints.map((taint) => [taintId(taint), taint])),
  };
}

function isEffect(value: unknown): value is Taint["effect"] {
  return value === "NoSchedule" || value === "PreferNoSchedule" || value === "NoExecute";
}

/** Formats claims. Equal claims have equal text. */
export function formatClaims(claims: Claims): string {
  const labels = [...claims.labels].sort(([left], [right]) => left < right ? -1 : 1);
  const taints = [...claims.taints].sort(([left], [right]) => left < right ? -1 : 1);
  return JSON.stringify({
    labels: Object.fromEntries(labels),
    taints: taints.map(([, { key, value = "", effect }]) => value === "" ? { key, effect } : { key, value, effect }),
  });
}

function namesAfter(prefix: string, names: Readonly<Record<string, string>>): readonly string[] {
  return Object.keys(names).filter((name) => name.startsWith(prefix) && name.length > prefix.length)
    .map((name) => name.slice(prefix.length));
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // any client may write annotations
  }
}

function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function entriesOf(value: unknown): readonly (readonly [string, string])[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => typeof one === "string" ? [[key, one] as const] : []);
}

/** Returns an own field of a value of unknown type. */
export function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  const found: unknown = Reflect.get(value, name);
  return found;
}
