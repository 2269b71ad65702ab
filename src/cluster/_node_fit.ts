/** Why a node does not take a Pod: cordoned, not ready, taints, selectors, affinity. Resources are not counted. */
import type { builtin, Infer } from "../api/mod.ts";
import type { Pod } from "./_pods.ts";

type Node = Infer<typeof builtin.Node>;
type Term = NonNullable<
  NonNullable<
    NonNullable<NonNullable<Pod["spec"]["affinity"]>["nodeAffinity"]>["requiredDuringSchedulingIgnoredDuringExecution"]
  >["nodeSelectorTerms"]
>[number];
type Requirement = NonNullable<Term["matchExpressions"]>[number];
type Taint = NonNullable<Node["spec"]["taints"]>[number];

/** The scheduler's words for why not; undefined when the node takes the Pod. */
export function refusalOf(node: Node, pod: Pod): string | undefined {
  const taint = node.spec.taints?.find((one) => one.effect !== "PreferNoSchedule" && !isTolerated(one, pod));
  if (node.spec.unschedulable === true && !isTolerated(cordon, pod)) return "node(s) were unschedulable";
  if (taint !== undefined) return `node(s) had untolerated taint(s) {${taint.key}: ${taint.value ?? ""}}`;
  if (!isReadyNode(node)) return "node(s) were not ready";
  return matchesNode(node, pod) ? undefined : "node(s) didn't match Pod's node affinity/selector";
}

const cordon: Taint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };

/** True for a node that says that it works. */
export function isReadyNode(node: Node): boolean {
  return node.status?.conditions?.find(({ type }) => type === "Ready")?.status === "True";
}

function isTolerated(taint: Taint, pod: Pod): boolean {
  return (pod.spec.tolerations ?? []).some(({ key = "", operator = "Equal", value = "", effect = "" }) =>
    (effect === "" || effect === taint.effect) &&
    (key === "" ? operator === "Exists" : key === taint.key && (operator === "Exists" || value === (taint.value ?? "")))
  );
}

function matchesNode(node: Node, pod: Pod): boolean {
  const labels = new Map(Object.entries(node.metadata.labels ?? {}));
  const selected = Object.entries(pod.spec.nodeSelector ?? {}).every(([key, value]) => labels.get(key) === value);
  const terms = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return selected && (terms === undefined || terms.some((term) => matchesTerm(term, labels, node)));
}

function matchesTerm(term: Term, labels: ReadonlyMap<string, string>, node: Node): boolean {
  const { matchExpressions = [], matchFields = [] } = term;
  if (matchExpressions.length + matchFields.length === 0) return false;
  const fields = new Map([["metadata.name", node.metadata.name ?? ""]]);
  return matchExpressions.every((requirement) => satisfies(requirement, labels)) &&
    matchFields.every((requirement) => satisfies(requirement, fields));
}

function satisfies({ key, operator, values = [] }: Requirement, held: ReadonlyMap<string, string>): boolean {
  const value = held.get(key);
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
