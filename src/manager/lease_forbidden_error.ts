/** LeaseForbiddenError: RBAC keeps this process from leading. Says which rule is missing, ready to be pasted. */

/** What is done to a Lease, as RBAC names it. */
export type LeaseVerb = "get" | "create" | "update";

/** Options of a {@link LeaseForbiddenError}. */
export interface LeaseForbiddenErrorOptions {
  readonly verb: LeaseVerb;
  readonly namespace: string;
  readonly name: string;
  /** What the API server answered. */
  readonly cause: unknown;
}

/** Not allowed to touch the Lease. The answer of the API server is the cause, so the exit code is that of a 403. */
export class LeaseForbiddenError extends Error {
  override readonly name = "LeaseForbiddenError";
  /** The rules of a Role in the Lease's namespace that allow everything an elector does, as YAML. */
  readonly rules: string;

  constructor(options: LeaseForbiddenErrorOptions) {
    const { verb, namespace, name, cause } = options;
    super(
      `Cannot lead by Lease "${namespace}/${name}": it is not allowed to ${verb} it; ` +
        `a Role in namespace "${namespace}" needs ${ruleOf(verb, name)}`,
      { cause },
    );
    this.rules = leaseRules(name);
  }
}

/** The RBAC rules an elector needs in the namespace of its Lease, as YAML of `rules:`. */
export function leaseRules(name: string): string {
  return [
    '- apiGroups: ["coordination.k8s.io"]',
    '  resources: ["leases"]',
    // No create by name: the server knows no name yet when it authorizes one.
    '  verbs: ["create"]',
    '- apiGroups: ["coordination.k8s.io"]',
    '  resources: ["leases"]',
    `  resourceNames: [${JSON.stringify(name)}]`,
    '  verbs: ["get", "update"]',
    "",
  ].join("\n");
}

function ruleOf(verb: LeaseVerb, name: string): string {
  const names = verb === "create" ? "" : `, resourceNames: [${JSON.stringify(name)}]`;
  return `{apiGroups: ["coordination.k8s.io"], resources: ["leases"]${names}, verbs: ["${verb}"]}`;
}
