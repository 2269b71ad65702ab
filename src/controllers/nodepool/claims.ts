/**
 * Claims: an annotation on a Node for each pool that gave it something, saying what. It is how a pool knows its own
 * labels and taints from everybody else's, and a Node that left while nobody was looking.
 *
 * Server-side apply could tell for labels, not for taints: that list is atomic, so it belongs as a whole to whoever wrote
 * it last. One annotation for both, written in the same request as they are, is never half true.
 */
import type { Node } from "../../mod.ts";
import { rolePrefix, type Taint } from "./desired.ts";
import { taintId } from "./validate.ts";

/** Begins the annotation; the pool's name follows. */
export const claimPrefix = "nodepool.nodes.lailin.xyz/";

/** What a pool gave to a Node, by label key and by taint id; the values are those it gave. */
export interface Claims {
  readonly labels: ReadonlyMap<string, string>;
  readonly taints: ReadonlyMap<string, Pick<Taint, "key" | "value" | "effect">>;
}

/** Claims of nobody. */
export const noClaims: Claims = { labels: new Map(), taints: new Map() };

/** The claims of a pool on a Node, as they are stored; undefined when there are none. */
export function claimText(node: Pick<Node, "metadata">, pool: string): string | undefined {
  const { annotations = {} } = node.metadata;
  const key = claimPrefix + pool;
  return Object.hasOwn(annotations, key) ? annotations[key] : undefined;
}

/** The pools that are concerned by a Node: those it is a member of, and those that gave it something. */
export function poolsOf(node: Pick<Node, "metadata">): readonly string[] {
  const { labels = {}, annotations = {} } = node.metadata;
  return [...new Set([...namesAfter(rolePrefix, labels), ...namesAfter(claimPrefix, annotations)])];
}

/** The claims of all other pools on a Node. */
export function claimsOfOthers(node: Pick<Node, "metadata">, pool: string): readonly Claims[] {
  const others = namesAfter(claimPrefix, node.metadata.annotations ?? {}).filter((name) => name !== pool);
  return others.map((name) => parseClaims(claimText(node, name)));
}

/** Reads claims. What cannot be read claims nothing: then it is nobody's to take away. */
export function parseClaims(text: string | undefined): Claims {
  if (text === undefined) return noClaims;
  const value = json(text);
  const taints = arrayOf(fieldOf(value, "taints")).flatMap((one) => {
    const [key, effect, of] = [fieldOf(one, "key"), fieldOf(one, "effect"), fieldOf(one, "value")];
    if (typeof key !== "string" || typeof effect !== "string") return [];
    return [{ key, effect, ...(typeof of === "string" ? { value: of } : {}) }];
  });
  return {
    labels: new Map(entriesOf(fieldOf(value, "labels"))),
    taints: new Map(taints.map((taint) => [taintId(taint), taint])),
  };
}

/** Writes claims, in one form for the same claims. */
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
    return undefined; // anybody may write annotations
  }
}

function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function entriesOf(value: unknown): readonly (readonly [string, string])[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => typeof one === "string" ? [[key, one] as const] : []);
}

/** An own field of a value that may be anything. */
export function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  const found: unknown = Reflect.get(value, name);
  return found;
}
