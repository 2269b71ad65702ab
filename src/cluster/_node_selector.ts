/** Node selector terms: of the affinity of Pods, and of PersistentVolumes that only some nodes reach. */
import type { builtin, Infer } from "../api/mod.ts";

type Node = Infer<typeof builtin.Node>;
type Pod = Infer<typeof builtin.Pod>;
type Term = NonNullable<
  NonNullable<
    NonNullable<NonNullable<Pod["spec"]["affinity"]>["nodeAffinity"]>["requiredDuringSchedulingIgnoredDuringExecution"]
  >["nodeSelectorTerms"]
>[number];
type Requirement = NonNullable<Term["matchExpressions"]>[number];

/** True when one of the terms selects the node. */
export function matchesAnyTerm(terms: readonly Term[], node: Node): boolean {
  const labels = new Map(Object.entries(node.metadata.labels ?? {}));
  return terms.some((term) => matchesTerm(term, labels, node));
}

function matchesTerm(term: Term, labels: ReadonlyMap<string, string>, node: Node): boolean {
  const { matchExpressions = [], matchFields = [] } = term;
  if (matchExpressions.length + matchFields.length === 0) return false;
  const fields = new Map([["metadata.name", node.metadata.name ?? ""]]);
  return matchExpressions.every((requirement) => satisfies(requirement, labels)) &&
    matchFields.every((requirement) => satisfies(requirement, fields));
}

function satisfies({ key, operator, values = [] }: Requirement, labels: ReadonlyMap<string, string>): boolean {
  const value = labels.get(key);
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
      return value !== undefined && Number(value) > Number(values[0]);
    case "Lt":
      return value !== undefined && Number(value) < Number(values[0]);
    default:
      return false;
  }
}
