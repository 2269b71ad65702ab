/**
 * Who may do what: each user of a table with each resource of another one. The verbs take turns, so that every user meets
 * every verb. A case sends the request itself and the review that asks about it. Nothing is changed by an allowed request.
 */
import type { CaseRun } from "../case_run.ts";
import { type ConformanceCase, scenario } from "../conformance_case.ts";
import type { Body } from "./_objects.ts";

const rbac = "rbac.authorization.k8s.io";

/** A user of the matrix. */
interface Actor {
  readonly title: string;
  /** In the text, NAMESPACE is the namespace of the case. */
  readonly name: string;
  /** @default those that the server adds */
  readonly groups?: readonly string[];
  /** The role of a binding in the namespace of the case, or in the cluster. @default only those of a new cluster */
  readonly grant?: {
    readonly scope: "namespace" | "cluster";
    /** The name of a ClusterRole, or the rules of a role. */
    readonly role: string | readonly Body[];
    /** What the user may do as soon as the server knows the binding: a verb and a resource. */
    readonly probe: readonly [verb: string, resource: string, name?: string];
  };
}

const actors: readonly Actor[] = [
  { title: "an anonymous user", name: "system:anonymous" },
  { title: "a user without roles", name: "jane" },
  { title: "a member of system:masters", name: "jane", groups: ["system:masters"] },
  { title: "a member of system:nodes without a node's name", name: "jane", groups: ["system:nodes"] },
  { title: "a node", name: "system:node:worker-1", groups: ["system:nodes"] },
  { title: "a node's name outside of the group", name: "system:node:worker-1", groups: ["devs"] },
  { title: "a member of system:monitoring", name: "jane", groups: ["system:monitoring"] },
  { title: "the scheduler", name: "system:kube-scheduler" },
  { title: "the controller manager", name: "system:kube-controller-manager" },
  { title: "the proxy", name: "system:kube-proxy" },
  { title: "the garbage collector", name: "system:serviceaccount:kube-system:generic-garbage-collector" },
  { title: "the namespace controller", name: "system:serviceaccount:kube-system:namespace-controller" },
  { title: "a ServiceAccount without roles", name: "system:serviceaccount:default:default" },
  {
    title: "a viewer of the namespace",
    name: "jane",
    grant: { scope: "namespace", role: "view", probe: ["list", "pods"] },
  },
  {
    title: "an editor of the namespace",
    name: "system:serviceaccount:NAMESPACE:robot",
    grant: { scope: "namespace", role: "edit", probe: ["list", "pods"] },
  },
  {
    title: "an admin of the namespace",
    name: "jane",
    groups: ["admins"],
    grant: { scope: "namespace", role: "admin", probe: ["list", "pods"] },
  },
  {
    title: "a cluster-admin of the namespace",
    name: "jane",
    grant: { scope: "namespace", role: "cluster-admin", probe: ["list", "pods"] },
  },
  {
    title: "a viewer of the cluster",
    name: "NAMESPACE-viewer",
    grant: { scope: "cluster", role: "view", probe: ["list", "pods"] },
  },
  {
    title: "a user of wildcards",
    name: "NAMESPACE-wildcards",
    grant: {
      scope: "cluster",
      role: [
        { apiGroups: ["apps"], resources: ["*/scale"], verbs: ["*"] },
        { apiGroups: ["*"], resources: ["secrets", "roles"], verbs: ["get", "list"] },
        { apiGroups: ["", "storage.k8s.io"], resources: ["*"], verbs: ["watch", "deletecollection"] },
        { nonResourceURLs: ["/metrics", "/logs/*"], verbs: ["get"] },
      ],
      probe: ["list", "secrets"],
    },
  },
  {
    title: "a user of single names",
    name: "jane",
    grant: {
      scope: "namespace",
      role: [{
        apiGroups: ["", "apps", "coordination.k8s.io"],
        resources: ["pods", "pods/status", "configmaps", "secrets", "deployments", "leases"],
        resourceNames: ["missing"],
        verbs: ["*"],
      }],
      probe: ["get", "configmaps", "missing"],
    },
  },
];

/** `GROUP/VERSION` and the resources in it; those of a cluster are named below. */
const served: readonly (readonly [groupVersion: string, resources: readonly string[]])[] = [
  ["v1", [
    "pods",
    "pods/status",
    "pods/eviction",
    "configmaps",
    "secrets",
    "services",
    "serviceaccounts/token",
    "events",
  ]],
  ["v1", ["nodes", "nodes/status", "namespaces", "namespaces/finalize", "persistentvolumes"]],
  ["apps/v1", ["deployments", "deployments/scale", "controllerrevisions"]],
  ["coordination.k8s.io/v1", ["leases"]],
  ["rbac.authorization.k8s.io/v1", ["roles", "rolebindings", "clusterroles"]],
  ["certificates.k8s.io/v1", ["certificatesigningrequests", "certificatesigningrequests/approval"]],
  ["storage.k8s.io/v1", ["csinodes"]],
  ["authorization.k8s.io/v1", ["subjectaccessreviews", "selfsubjectaccessreviews"]],
  ["apiextensions.k8s.io/v1", ["customresourcedefinitions"]],
];

const clusterScoped: ReadonlySet<string> = new Set([
  ...["nodes", "namespaces", "persistentvolumes", "clusterroles", "certificatesigningrequests", "csinodes"],
  ...["subjectaccessreviews", "selfsubjectaccessreviews", "customresourcedefinitions"],
]);

const paths = ["/metrics", "/version", "/logs/kube.log", "/apis/apps", "/"];

type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

const verbs: readonly Verb[] = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];
/** Those of a subresource, and of a resource that can only be created. */
const partVerbs: readonly Verb[] = ["get", "create", "update", "patch", "delete"];

/** What a case does: a verb on a resource, or on a path. */
interface Target {
  readonly groupVersion: string;
  readonly resource: string;
  readonly subresource: string;
  readonly verb: Verb;
}

function* targetsOf(user: number): Generator<Target> {
  let row = 0;
  for (const [groupVersion, resources] of served) {
    for (const full of resources) {
      const [resource = "", subresource = ""] = full.split("/");
      const usual = subresource === "" ? verbs : partVerbs;
      // Three places apart: the next resource and the next user get another verb.
      yield { groupVersion, resource, subresource, verb: usual[(user + row * 3) % usual.length] ?? "get" };
      row++;
    }
  }
}

/** The matrix. */
export const matrixCases: readonly ConformanceCase[] = actors.flatMap((actor, index) => [
  ...[...targetsOf(index)].map((target) => resourceCase(actor, target)),
  matrixCase(actor, "a path", async (run, headers) => {
    for (const path of paths) {
      await run.call({ path, headers, recordsDenial: true });
      const asked = review(run, actor, { nonResourceAttributes: { path, verb: "get" } });
      // Several roles allow some paths, and the real server finds them in any order.
      await run.call({ ...asked, pick: ({ status }) => status.allowed });
    }
  }),
  matrixCase(actor, "its rules", async (run, headers) => {
    const body = { spec: { namespace: run.namespace } };
    await run.call({ path: "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", body, headers, pick: sortedRules });
  }),
]);

function resourceCase(actor: Actor, target: Target): ConformanceCase {
  const { groupVersion, resource, subresource, verb } = target;
  const full = subresource === "" ? resource : `${resource}/${subresource}`;
  return matrixCase(actor, `${verb} ${full}`, async (run, headers) => {
    const isNamed = subresource !== "" || ["get", "update", "patch", "delete"].includes(verb);
    const namespace = clusterScoped.has(resource) ? "" : run.namespace;
    const root = groupVersion === "v1" ? "/api/v1" : `/apis/${groupVersion}`;
    const place = namespace === "" ? root : `${root}/namespaces/${namespace}`;
    const path = [place, resource, ...(isNamed ? ["missing"] : []), ...(subresource === "" ? [] : [subresource])];
    await run.call({
      ...methods[verb],
      path: `${path.join("/")}${queries[verb] ?? "?dryRun=All"}`,
      headers,
      recordsDenial: true,
    });
    const slash = groupVersion.indexOf("/");
    const [group, version] = [groupVersion.slice(0, Math.max(slash, 0)), groupVersion.slice(slash + 1)];
    const name = isNamed ? "missing" : "";
    const resourceAttributes = { namespace, verb, group, version, resource, subresource, name };
    await run.call(review(run, actor, { resourceAttributes }));
  });
}

/** A body that no kind accepts: only authorization, which comes before, is compared. */
const unreadable = { body: "unreadable" };
const methods = {
  get: { method: "GET" },
  list: { method: "GET" },
  watch: { method: "GET" },
  create: { method: "POST", ...unreadable },
  update: { method: "PUT", ...unreadable },
  patch: { method: "PATCH", ...unreadable, type: "application/merge-patch+json" },
  delete: { method: "DELETE" },
  deletecollection: { method: "DELETE" },
} as const;
const queries: Partial<Record<Verb, string>> = { get: "", list: "", watch: "?watch=true&timeoutSeconds=1" };

type Headers = Readonly<Record<string, string>>;

/** A case of a user. Users without a binding of their own need no namespace. */
function matrixCase(
  actor: Actor,
  title: string,
  act: (run: CaseRun, headers: Headers) => Promise<void>,
): ConformanceCase {
  return scenario(`${actor.title}: ${title}`, async (run) => {
    if (actor.grant !== undefined) await grant(run, actor, actor.grant);
    const { groups = [] } = actor;
    const impersonated = { "impersonate-user": nameIn(run, actor) };
    await act(run, groups.length === 0 ? impersonated : { ...impersonated, "impersonate-group": groups.join(", ") });
    if (actor.grant?.scope === "cluster") await revoke(run);
  }, { needsNamespace: actor.grant !== undefined });
}

function nameIn(run: CaseRun, { name }: Actor): string {
  return name.replace("NAMESPACE", run.namespace);
}

function review(run: CaseRun, actor: Actor, attributes: Body) {
  const body = { spec: { user: nameIn(run, actor), groups: groupsOf(run, actor), ...attributes } };
  return { path: "/apis/authorization.k8s.io/v1/subjectaccessreviews", body, pick: ({ status }: Body) => status };
}

/** All groups: a review adds none. */
function groupsOf(run: CaseRun, actor: Actor): readonly string[] {
  const { groups = [] } = actor;
  const name = nameIn(run, actor);
  if (name === "system:anonymous") return ["system:unauthenticated"];
  const account = /^system:serviceaccount:([^:]+):/.exec(name);
  const own = account === null ? [] : ["system:serviceaccounts", `system:serviceaccounts:${account[1]}`];
  return [...groups, ...own, "system:authenticated"];
}

async function grant(run: CaseRun, actor: Actor, { scope, role, probe }: NonNullable<Actor["grant"]>): Promise<void> {
  const [isCluster, name] = [scope === "cluster", run.namespace];
  const root = `/apis/${rbac}/v1`;
  const place = isCluster ? root : `${root}/namespaces/${run.namespace}`;
  const [roles, bindings] = isCluster ? ["clusterroles", "clusterrolebindings"] : ["roles", "rolebindings"];
  const kind = typeof role === "string" || isCluster ? "ClusterRole" : "Role";
  if (typeof role !== "string") {
    await run.prepare({ path: `${place}/${roles}`, body: { metadata: { name }, rules: role } });
  }
  const roleRef = { apiGroup: rbac, kind, name: typeof role === "string" ? role : name };
  const subjects = [subjectOf(run, actor)];
  await run.prepare({ path: `${place}/${bindings}`, body: { metadata: { name }, roleRef, subjects } });
  const [verb, resource, object = ""] = probe;
  const resourceAttributes = { namespace: run.namespace, verb, resource, name: object };
  // The authorizer reads bindings from a cache.
  await run.until(review(run, actor, { resourceAttributes }), ({ status }) => status.allowed);
}

/** The kinds of subjects take turns: a group, a ServiceAccount, a user. */
function subjectOf(run: CaseRun, actor: Actor): Body {
  const [group] = actor.groups ?? [];
  if (group !== undefined) return { apiGroup: rbac, kind: "Group", name: group };
  const name = nameIn(run, actor);
  const account = /^system:serviceaccount:([^:]+):(.*)$/.exec(name);
  if (account !== null) return { kind: "ServiceAccount", namespace: account[1], name: account[2] };
  return { apiGroup: rbac, kind: "User", name };
}

async function revoke(run: CaseRun): Promise<void> {
  await run.prepare({ method: "DELETE", path: `/apis/${rbac}/v1/clusterrolebindings/${run.namespace}` });
  const path = `/apis/${rbac}/v1/clusterroles/${run.namespace}`;
  // A binding to a role of the cluster has made none.
  await run.until({ method: "DELETE", path }, (_, code) => code === 200 || code === 404);
}

/** The real server finds bindings in any order. */
function sortedRules({ status }: { readonly status: Readonly<Record<string, unknown>> }): unknown {
  const sorted = (rules: unknown) => Array.isArray(rules) ? rules.map((rule) => JSON.stringify(rule)).sort() : rules;
  const { resourceRules, nonResourceRules, ...rest } = status;
  return { ...rest, resourceRules: sorted(resourceRules), nonResourceRules: sorted(nonResourceRules) };
}
