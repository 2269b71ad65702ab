/**
 * PolicyRule: one rule of a Role or ClusterRole, and the decision whether it allows a request. This is the only place that
 * knows how RBAC matches: the embedded API server, and the check of declarations for other servers, decide with it.
 * Source: kubernetes `pkg/registry/rbac/validation` and `plugin/pkg/auth/authorizer/rbac` of 1.36.
 */

/** One rule of a Role or ClusterRole. It allows every combination of its verbs, groups, resources and names. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  /** "" for core. */
  readonly apiGroups?: readonly string[];
  /** Plurals, with the subresource where there is one: `foos/status`. */
  readonly resources?: readonly string[];
  /** @default all objects */
  readonly resourceNames?: readonly string[];
  /** Paths that are not about resources; a `*` may stand at the end. */
  readonly nonResourceURLs?: readonly string[];
}

/** What a rule decides about. */
export interface AccessRequest {
  /** `get`, `list`, `create`, ...; for other paths the HTTP method in lower case. */
  readonly verb: string;
  /** False for a path such as `/version`. */
  readonly isResourceRequest: boolean;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  /** "" for a collection, and for an object that is to be created. */
  readonly name: string;
  /** The path of the URL. */
  readonly path: string;
}

/** True when the rule alone allows the request. */
export function isAllowedBy(rule: PolicyRule, request: AccessRequest): boolean {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  if (!verbs.includes("*") && !verbs.includes(request.verb)) return false;
  if (!request.isResourceRequest) return nonResourceURLs.some((pattern) => coversPath(pattern, request.path));
  return (apiGroups.includes("*") || apiGroups.includes(request.group)) &&
    resources.some((pattern) => coversResource(pattern, request)) &&
    (resourceNames.length === 0 || resourceNames.includes(request.name));
}

function coversResource(pattern: string, { resource, subresource }: AccessRequest): boolean {
  if (pattern === "*") return true;
  if (subresource === "") return pattern === resource;
  return pattern === `${resource}/${subresource}` || pattern === `*/${subresource}`;
}

function coversPath(pattern: string, path: string): boolean {
  if (pattern === "*" || pattern === path) return true;
  return pattern.endsWith("*") && path.startsWith(pattern.slice(0, -1));
}
