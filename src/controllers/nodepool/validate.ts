/**
 * The validation of NodePools, and the webhooks that use it. The validating webhook rejects an invalid NodePool; the controller
 * ignores an invalid part that was stored nevertheless (without a webhook, or by an older version).
 *
 * Guarantees: a Node never gets a label or taint with a key of Kubernetes itself: kubernetes.io, k8s.io, and all domains below
 * them, including node-restriction (security 22).
 */
import { type AdmissionWebhook, allow, defaulting, deny, validating, type Verdict } from "../../webhook.ts";
import { NodePool, withDefaults } from "./resource.ts";

/** A problem, in the wording of the API server. */
export interface Problem {
  /** `spec.taints[0].key`. */
  readonly field: string;
  readonly reason: "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueDuplicate";
  readonly message: string;
}

/** The webhooks of NodePool: one stores the defaults, one rejects invalid NodePools. */
export const nodepoolWebhooks: readonly AdmissionWebhook[] = [
  defaulting(NodePool, withDefaults),
  validating(NodePool, {
    create: (pool) => verdictOn(pool, problemsOf(pool)),
    update: (pool, old) => verdictOn(pool, problemsOfChange(pool, old)),
  }),
];

function verdictOn(pool: NodePool, problems: readonly Problem[]): Verdict {
  if (problems.length === 0) return allow();
  return deny(`NodePool "${pool.metadata.name ?? ""}" is invalid: ${problems.map(textOf).join("; ")}`, {
    causes: problems,
  });
}

const name = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Returns all problems of a pool. */
export function problemsOf(pool: NodePool): readonly Problem[] {
  const { labels = {}, taints = [] } = pool.spec;
  return [
    ...Object.entries(labels).flatMap(([key, value]) => labelProblems(key, value)),
    ...taints.flatMap((taint, at) => taintProblems(taint, at)),
    ...duplicates(taints),
  ];
}

/** Returns the new problems of a changed pool. Old problems are accepted, so that other fields can still be changed. */
export function problemsOfChange(pool: NodePool, old: NodePool): readonly Problem[] {
  const known = new Set(problemsOf(old).map(textOf));
  const fresh = problemsOf(pool).filter((problem) => !known.has(textOf(problem)));
  return [...fresh, ...handlerProblems(pool, old)];
}

/** `spec.labels: Invalid value: "a b": …`, as kubectl prints problems. */
export function textOf(problem: Problem): string {
  return `${problem.field}: ${problem.message}`;
}

/** Returns the problems of a label. */
export function labelProblems(key: string, value: string): readonly Problem[] {
  return [...keyProblems("spec.labels", key), ...valueProblems(`spec.labels[${key}]`, value)];
}

/** Returns the problems of a taint, without duplicates. @param at Its index in the list */
export function taintProblems(taint: NodePool["spec"]["taints"][number], at: number): readonly Problem[] {
  const field = `spec.taints[${at}]`;
  return [...keyProblems(`${field}.key`, taint.key), ...valueProblems(`${field}.value`, taint.value ?? "")];
}

/** The identity of a taint in the validation of Nodes: key and effect, without the value. */
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
    const message = `Duplicate value: ${quoted(id)}: an earlier taint has the same key and effect`;
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
  const message = `Forbidden: ${quoted(key)}: keys under ${domain} belong to Kubernetes, use your own domain`;
  return [{ field, reason: "FieldValueForbidden", message }];
}

function nameState(text: string): string | undefined {
  if (text === "") return "the name of the key is empty";
  if (text.length > 63) return `the name of the key has ${text.length} characters, the limit is 63`;
  if (!name.test(text)) {
    return 'the name of the key must be letters, digits, "-", "_" or ".", a letter or digit at both ends';
  }
  return undefined;
}

function domainState(domain: string | undefined): string | undefined {
  if (domain === undefined) return undefined;
  if (domain.length > 253) return `the domain of the key has ${domain.length} characters, the limit is 253`;
  return subdomain.test(domain) ? undefined : "the text before the slash must be a domain in lower case";
}

function valueProblems(field: string, value: string): readonly Problem[] {
  const invalid = (state: string): readonly Problem[] => [
    { field, reason: "FieldValueInvalid", message: `Invalid value: ${quoted(value)}: ${state}` },
  ];
  if (value.length > 63) return invalid(`it has ${value.length} characters, the limit is 63`);
  if (value === "" || name.test(value)) return [];
  return invalid('it must be letters, digits, "-", "_" or ".", a letter or digit at both ends, or empty');
}

/** The handler of a RuntimeClass is immutable, and Pods on the Nodes of the pool use it. */
function handlerProblems(pool: NodePool, old: NodePool): readonly Problem[] {
  const members = old.status?.nodeCount ?? 0;
  const { handler: before } = old.spec;
  const { handler } = pool.spec;
  if (handler === before || members === 0) return [];
  const message = `Forbidden: ${quoted(handler)}: it is ${quoted(before)} and cannot change while the pool has Nodes ` +
    `(${members} now)`;
  return [{ field: "spec.handler", reason: "FieldValueForbidden", message }];
}

/** Quotes a value in a message: with limited length and escaped control characters. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
