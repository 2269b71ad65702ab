/**
 * The permissions of the operator's account in a cluster: exactly those that the manifests declare, as the API server's own
 * authorizer lists them. That they are enough, every installation of these tests checks with the audit log.
 */
import { type PolicyRule, rightsOf } from "../e2e/_rbac.ts";
import { assert, assertEquals } from "../testing.ts";
import { Operator } from "./operator.ts";
import { realNodeTest } from "./test.ts";

realNodeTest("the account may do exactly what the manifests declare, and was denied nothing", async (node) => {
  await using operator = await Operator.install(node);
  await operator.leader();
  for (const namespace of [operator.namespace, "default", "kube-system"]) {
    const everyone = await listed(operator, namespace, `system:serviceaccount:${namespace}:default`);
    const allowed = await listed(operator, namespace, operator.user);
    const roles = operator.objects.filter(({ kind, metadata }) =>
      // metrics-reader is for others: no binding of the manifests names it.
      (kind === "ClusterRole" && !metadata.name.includes("metrics-reader")) ||
      (kind === "Role" && metadata.namespace === namespace)
    );
    assertEquals(
      new Set([...allowed].filter((right) => !everyone.has(right))),
      new Set(roles.flatMap(({ rules = [] }) => [...detailed(rules)])),
      namespace,
    );
  }
  assertEquals(operator.denied(), []);
  const used = new Set(operator.requests().map(({ verb }) => verb));
  assert(used.has("watch") && used.has("create"), [...used].join(", "));
});

/** What the API server says that a user may do in a namespace. */
async function listed(operator: Operator, namespace: string, user: string): Promise<ReadonlySet<string>> {
  const review = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectRulesReview", spec: { namespace } };
  const args = ["create", "--filename=-", "--output=json", "--validate=false", `--as=${user}`];
  const text = await operator.controlPlane.kubectlOutput(args, { stdin: JSON.stringify(review) });
  const { status }: { readonly status: { readonly resourceRules: readonly PolicyRule[] } } = JSON.parse(text);
  return detailed(status.resourceRules);
}

/** One entry per verb, resource and name. */
function detailed(rules: readonly PolicyRule[]): ReadonlySet<string> {
  return new Set(rules.flatMap((rule) => {
    const rights = rightsOf([{ kind: "Role", metadata: { name: "" }, rules: [rule] }]);
    const names = rule.resourceNames ?? [];
    return [...rights].flatMap((right) => names.length === 0 ? [right] : names.map((name) => `${right} ${name}`));
  }));
}
