/**
 * What a NodePool may not say, each with the field and the value that are wrong. The validating webhook refuses it; the
 * controller leaves out what got past (no webhook, an older version) instead of writing it to Nodes.
 *
 * Guarantees: keys of Kubernetes itself (kubernetes.io, k8s.io and all below them, node-restriction too) are never
 * given to a Node (behaviours.md, security 22).
 */
import type { NodePool } from "./resource.ts";

/** One thing that is wrong, as the API server words such things. */
export interface Problem {
  /** `spec.taints[0].key`. */
  readonly field: string;
  readonly reason: "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueDuplicate";
  readonly message: string;
}

const name = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Everything that is wrong with a pool. */
export function problemsOf(pool: NodePool): readonly Problem[] {
  const { labels = {}, taints = [] } = pool.spec;
  return [
    ...Object.entries(labels).flatMap(([key, value]) => labelProblems(key, value)),
    ...taints.flatMap((taint, at) => taintProblems(taint, at)),
    ...duplicates(taints),
  ];
}

/** What is wrong with a change of a pool. What was wrong before may stay, so that the rest can still be changed. */
export function problemsOfChange(pool: NodePool, old: NodePool): readonly Problem[] {
  const known = new Set(problemsOf(old).map(textOf));
  const fresh = problemsOf(pool).filter((problem) => !known.has(textOf(problem)));
  return [...fresh, ...handlerProblems(pool, old)];
}

/** `spec.labels: Invalid value: "a b": …`, as kubectl shows problems of the API server. */
export function textOf(problem: Problem): string {
  return `${problem.field}: ${problem.message}`;
}

/** What is wrong with one label of a pool. */
export function labelProblems(key: string, value: string): readonly Problem[] {
  return [...keyProblems("spec.labels", key), ...valueProblems(`spec.labels[${key}]`, value)];
}

/** What is wrong with the taint at a place of the list, apart from the others. */
export function taintProblems(taint: NodePool["spec"]["taints"][number], at: number): readonly Problem[] {
  const field = `spec.taints[${at}]`;
  return [...keyProblems(`${field}.key`, taint.key), ...valueProblems(`${field}.value`, taint.value ?? "")];
}

/** What Node's own validation takes for the same taint: key and effect, whatever the value. */
export function taintId(taint: { readonly key: string; readonly effect: string }): string {
  return `${taint.key}:${taint.effect}`;
}

function duplicates(taints: NodePool["spec"]["taints"]): readonly Problem[] {
  const seen = new Set<string>();
  return taints.flatMap((taint, at): readonly Problem[] => {
    const id = taintId(taint);
    if (!seen.has(id)) {
      seen.add(id);
      return [];
    }
    const message = `Duplicate value: ${quoted(id)}: there is a taint with this key and effect before it`;
    return [{ field: `spec.taints[${at}]`, reason: "FieldValueDuplicate", message }];
  });
}

function keyProblems(field: string, key: string): readonly Problem[] {
  const slash = key.indexOf("/");
  const [domain, rest] = slash < 0 ? [undefined, key] : [key.slice(0, slash), key.slice(slash + 1)];
  const state = nameState(rest) ?? domainState(domain);
  if (state !== undefined) {
    return [{ field, reason: "FieldValueInvalid", message: `Invalid value: ${quoted(key)}: ${state}` }];
  }
  if (domain === undefined || !/(^|\.)(kubernetes|k8s)\.io$/.test(domain)) return [];
  const message = `Forbidden: ${quoted(key)}: keys under ${domain} belong to Kubernetes, use a domain of your own`;
  return [{ field, reason: "FieldValueForbidden", message }];
}

function nameState(text: string): string | undefined {
  if (text === "") return "the name of the key is empty";
  if (text.length > 63) return `the name of the key has ${text.length} characters, 63 is the most`;
  if (!name.test(text)) {
    return 'the name of the key must be letters, digits, "-", "_" or ".", a letter or digit at both ends';
  }
  return undefined;
}

function domainState(domain: string | undefined): string | undefined {
  if (domain === undefined) return undefined;
  if (domain.length > 253) return `the domain of the key has ${domain.length} characters, 253 is the most`;
  return subdomain.test(domain) ? undefined : "what stands before the slash must be a domain in lower case";
}

function valueProblems(field: string, value: string): readonly Problem[] {
  const invalid = (state: string): readonly Problem[] => [
    { field, reason: "FieldValueInvalid", message: `Invalid value: ${quoted(value)}: ${state}` },
  ];
  if (value.length > 63) return invalid(`it has ${value.length} characters, 63 is the most`);
  if (value === "" || name.test(value)) return [];
  return invalid('it must be letters, digits, "-", "_" or ".", a letter or digit at both ends, or empty');
}

/** A RuntimeClass cannot change its handler, and Pods on the pool's Nodes use it. */
function handlerProblems(pool: NodePool, old: NodePool): readonly Problem[] {
  const members = old.status?.nodeCount ?? 0;
  const { handler: before } = old.spec;
  const { handler } = pool.spec;
  if (handler === before || members === 0) return [];
  const message = `Forbidden: ${quoted(handler)}: it is ${quoted(before)} and cannot change while the pool has Nodes ` +
    `(${members} now)`;
  return [{ field: "spec.handler", reason: "FieldValueForbidden", message }];
}

/** Values of people in messages for people: bounded, and without control characters. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
