/** Who may grant permissions, approve and sign certificates, and be another user: the checks behind RBAC. */
import type { Call, CaseRun } from "../case_run.ts";
import { type ConformanceCase, scenario } from "../conformance_case.ts";
import { as, grant, type Headers, makeAccount, rbac, revoke, rule, whoAmI } from "./_access_users.ts";
import { at, type Body, role, signingRequest } from "./_objects.ts";

const writes = "create get update patch delete";
const merge = { method: "PATCH", type: "application/merge-patch+json" } as const;
const apply = { method: "PATCH", type: "application/apply-patch+yaml" } as const;
const jsonPatch = { method: "PATCH", type: "application/json-patch+json" } as const;

const roles = (run: CaseRun, name = "") => at(run, `${rbac}/v1/roles`, name);
const bindings = (run: CaseRun, name = "") => at(run, `${rbac}/v1/rolebindings`, name);
const held = [rule("get", "pods")];
const unheld = [rule("get list", "pods secrets")];

/** What the user of most cases may do. */
const own = [
  rule("get", "pods pods/log"),
  rule("get", "configmaps", { resourceNames: ["a", "b"] }),
  rule("*", "apps.example.com/deployments"),
  rule(writes, `${rbac}/roles ${rbac}/rolebindings`),
];

function bindingTo(name: string, kind = "Role", rest: Body = {}): Body {
  const subjects = [{ apiGroup: rbac, kind: "User", name: "bob" }];
  return { metadata: { name: "made" }, roleRef: { apiGroup: rbac, kind, name }, subjects, ...rest };
}

/** Requests of the user, after the administrator has created the Roles `held` and `unheld`, and a binding to the latter. */
const escalations:
  readonly (readonly [title: string, calls: (run: CaseRun) => readonly Call[], more?: readonly Body[]])[] = [
    ["a Role with held rules", (run) => [{ path: roles(run), body: role("made", held) }]],
    ["a Role with rules that are not held", (run) => [{ path: roles(run), body: role("made", unheld) }]],
    ["a Role with all verbs", (run) => [{ path: roles(run), body: role("made", [rule("*", "pods")]) }]],
    ["a Role with all resources", (run) => [{ path: roles(run), body: role("made", [rule("get", "*")]) }]],
    ["a Role with all groups", (run) => [
      { path: roles(run), body: role("made", [{ apiGroups: ["*"], resources: ["pods"], verbs: ["get"] }]) },
    ]],
    ["a Role with held names", (run) => [
      { path: roles(run), body: role("made", [rule("get", "configmaps", { resourceNames: ["b", "a"] })]) },
      { path: roles(run), body: role("more", [rule("get", "configmaps", { resourceNames: ["a", "c"] })]) },
      { path: roles(run), body: role("all", [rule("get", "configmaps")]) },
    ]],
    ["a Role with names of a resource that is held as a whole", (run) => [
      { path: roles(run), body: role("made", [rule("get", "pods", { resourceNames: ["x"] })]) },
    ]],
    ["a Role with subresources", (run) => [
      { path: roles(run), body: role("made", [rule("get", "pods/log")]) },
      { path: roles(run), body: role("more", [rule("get", "pods/status")]) },
      { path: roles(run), body: role("any", [rule("get", "*/log")]) },
    ]],
    ["a Role with several missing rules", (run) => [
      { path: roles(run), body: role("made", [...unheld, rule("watch", "secrets"), rule("get", "pods")]) },
    ]],
    ["a Role without rules", (run) => [{ path: roles(run), body: role("made", []) }]],
    ["an invalid Role", (run) => [{ path: roles(run), body: role("made", [{ verbs: [], resources: ["pods"] }]) }]],
    ["a Role as a dry run", (run) => [{ path: `${roles(run)}?dryRun=All`, body: role("made", unheld) }]],
    ["an update of a Role", (run) => [
      { method: "PUT", path: roles(run, "held"), body: role("held", held) },
      { method: "PUT", path: roles(run, "held"), body: role("held", unheld) },
    ]],
    ["an update that creates a Role", (run) => [{ method: "PUT", path: roles(run, "new"), body: role("new", unheld) }]],
    ["patches of a Role", (run) => [
      { ...merge, path: roles(run, "held"), body: { rules: unheld } },
      { ...jsonPatch, path: roles(run, "held"), body: [{ op: "add", path: "/rules/-", value: unheld[0] }] },
      { ...apply, path: `${roles(run, "held")}?fieldManager=a&force=true`, body: role("held", unheld) },
      { ...merge, path: roles(run, "held"), body: { rules: [] } },
    ]],
    [
      "an applied Role",
      (run) => [{ ...apply, path: `${roles(run, "made")}?fieldManager=a`, body: role("made", unheld) }],
    ],
    ["labels of a Role with rules that are not held", (run) => [
      { ...merge, path: roles(run, "unheld"), body: { metadata: { labels: { a: "b" } } } },
    ]],
    ["finalizers of a Role with rules that are not held", (run) => [
      { ...merge, path: roles(run, "unheld"), body: { metadata: { finalizers: ["example.com/a"] } } },
      { ...merge, path: roles(run, "unheld"), body: { metadata: { finalizers: [] } } },
    ]],
    ["the deletion of a Role with rules that are not held", (run) => [
      { method: "DELETE", path: roles(run, "unheld") },
    ]],
    ["escalate on all Roles", (run) => [
      { path: roles(run), body: role("made", unheld) },
      { ...merge, path: roles(run, "held"), body: { rules: unheld } },
    ], [rule("escalate", `${rbac}/roles`)]],
    ["escalate on one Role", (run) => [
      { path: roles(run), body: role("made", unheld) },
      { ...merge, path: roles(run, "held"), body: { rules: unheld } },
      { ...merge, path: roles(run, "unheld"), body: { rules: unheld } },
    ], [rule("escalate", `${rbac}/roles`, { resourceNames: ["held"] })]],
    ["escalate on ClusterRoles", (run) => [{ path: roles(run), body: role("made", unheld) }], [
      rule("escalate", `${rbac}/clusterroles`),
    ]],
    ["bind instead of escalate", (run) => [{ path: roles(run), body: role("made", unheld) }], [
      rule("bind", `${rbac}/roles`),
    ]],
    ["a binding to a held Role", (run) => [{ path: bindings(run), body: bindingTo("held") }]],
    ["a binding to a Role that is not held", (run) => [{ path: bindings(run), body: bindingTo("unheld") }]],
    ["a binding to a ClusterRole that is not held", (run) => [
      { path: bindings(run), body: bindingTo("system:discovery", "ClusterRole") },
      { path: bindings(run), body: bindingTo("system:kube-dns", "ClusterRole") },
    ]],
    ["a binding to a missing Role", (run) => [{ path: bindings(run), body: bindingTo("missing") }]],
    ["a binding to a missing ClusterRole", (run) => [
      { path: bindings(run), body: bindingTo(run.name("missing"), "ClusterRole") },
    ]],
    ["an invalid binding", (run) => [
      { path: bindings(run), body: bindingTo("unheld", "Pod") },
      { path: bindings(run), body: bindingTo("held", "Role", { subjects: [{ kind: "Robot", name: "x" }] }) },
    ]],
    ["the subjects of a binding", (run) => [
      { ...merge, path: bindings(run, "unheld"), body: { subjects: [] } },
      { ...merge, path: bindings(run, "held"), body: { subjects: bindingTo("held").subjects } },
    ]],
    ["the role of a binding", (run) => [
      { ...merge, path: bindings(run, "held"), body: { roleRef: { apiGroup: rbac, kind: "Role", name: "unheld" } } },
      { ...merge, path: bindings(run, "unheld"), body: { roleRef: { apiGroup: rbac, kind: "Role", name: "held" } } },
    ]],
    ["an applied binding", (run) => [
      { ...apply, path: `${bindings(run, "made")}?fieldManager=a`, body: bindingTo("unheld") },
      { ...apply, path: `${bindings(run, "made")}?fieldManager=a`, body: bindingTo("held") },
    ]],
    ["bind on all Roles", (run) => [
      { path: bindings(run), body: bindingTo("unheld") },
      { path: bindings(run), body: { ...bindingTo("missing"), metadata: { name: "other" } } },
    ], [rule("bind", `${rbac}/roles`)]],
    ["bind on one Role", (run) => [
      { path: bindings(run), body: bindingTo("unheld") },
      { path: bindings(run), body: { ...bindingTo("view", "ClusterRole"), metadata: { name: "other" } } },
    ], [rule("bind", `${rbac}/roles`, { resourceNames: ["unheld"] })]],
    ["bind on one ClusterRole", (run) => [
      { path: bindings(run), body: bindingTo("view", "ClusterRole") },
      { path: bindings(run), body: { ...bindingTo("edit", "ClusterRole"), metadata: { name: "other" } } },
    ], [rule("bind", `${rbac}/clusterroles`, { resourceNames: ["view"] })]],
    ["escalate instead of bind", (run) => [{ path: bindings(run), body: bindingTo("unheld") }], [
      rule("escalate", `${rbac}/roles`),
    ]],
    ["the deletion of a binding", (run) => [{ method: "DELETE", path: bindings(run, "unheld") }]],
  ];

/** The part of a response that is not about time. */
function kept({ metadata, rules, roleRef, subjects, status }: Body): unknown {
  return { name: Object(metadata).name, rules, roleRef, subjects, status };
}

const roleCases = escalations.map(([title, calls, more = []]) =>
  scenario(`escalation: ${title}`, async (run) => {
    await run.prepare({ path: roles(run), body: role("held", held) });
    await run.prepare({ path: roles(run), body: role("unheld", unheld) });
    for (const name of ["held", "unheld"]) {
      await run.prepare({ path: bindings(run), body: { ...bindingTo(name), metadata: { name } } });
    }
    await grant(run, "jane", [...own, ...more], "namespace");
    for (const call of calls(run)) await run.call({ ...call, headers: as("jane"), pick: kept });
  })
);

const everything = [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }, { nonResourceURLs: ["*"], verbs: ["*"] }];
const aggregation = { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] } };
const clusterRoles = `/apis/${rbac}/v1/clusterroles`;

/** The same for the cluster; the user's name is that of the namespace. */
const clusterEscalations: readonly (readonly [title: string, rules: readonly Body[], bodies: readonly Body[]])[] = [
  ["held paths", [{ nonResourceURLs: ["/logs/*"], verbs: ["get"] }], [
    { rules: [{ nonResourceURLs: ["/logs/a"], verbs: ["get"] }] },
    { rules: [{ nonResourceURLs: ["/logs/*"], verbs: ["get"] }] },
    { rules: [{ nonResourceURLs: ["/metrics", "/logs"], verbs: ["get", "post"] }] },
  ]],
  ["an aggregation rule", [], [aggregation]],
  ["an aggregation rule of a user with all resources", everything.slice(0, 1), [aggregation]],
  ["an aggregation rule of a user with everything", everything, [aggregation]],
  ["an aggregation rule of a user with escalate", [rule("escalate", `${rbac}/clusterroles`)], [aggregation]],
];

const clusterCases = clusterEscalations.map(([title, rules, bodies]) =>
  scenario(`escalation in the cluster: ${title}`, async (run) => {
    const user = run.name("jane");
    await grant(run, user, [rule(writes, `${rbac}/clusterroles`), ...rules], "cluster");
    for (const body of bodies) {
      const made = { metadata: { name: run.name("made") }, ...body };
      await run.call({ path: `${clusterRoles}?dryRun=All`, body: made, headers: as(user), pick: kept });
    }
    await revoke(run);
  })
);

const memberCases: readonly ConformanceCase[] = [
  scenario("escalation: a group holds the rules", async (run) => {
    const path = roles(run);
    await run.prepare({ path, body: role("of-group", [...own, ...unheld]) });
    const subjects = [{ apiGroup: rbac, kind: "Group", name: "devs" }];
    await run.prepare({ path: bindings(run), body: bindingTo("of-group", "Role", { subjects }) });
    await run.until({ path: at(run, "secrets"), headers: as("jane", "devs") }, (_, code) => code === 200);
    await run.call({ path, body: role("made", unheld), headers: as("jane", "devs"), pick: kept });
    await run.call({ path, body: role("more", unheld), headers: as("jane", "ops"), pick: kept });
    await run.call({ path, body: role("most", [rule("*", "*")]), headers: as("jane", "devs"), pick: kept });
    await run.call({ path, body: role("root", [rule("*", "*")]), headers: as("jane", "system:masters"), pick: kept });
  }),
  scenario("a binding whose role is missing", async (run) => {
    const [user, name] = [run.name("jane"), "dangling"];
    await grant(run, user, own, "namespace");
    const subjects = [{ apiGroup: rbac, kind: "User", name: user }];
    for (const kind of ["Role", "ClusterRole"]) {
      const roleRef = { apiGroup: rbac, kind, name: run.name("missing") };
      await run.prepare({ path: bindings(run), body: { metadata: { name }, roleRef, subjects } });
      const secrets = { path: at(run, "secrets"), headers: as(user) };
      await run.until(secrets, ({ message }) => message.includes("not found"));
      await run.call(secrets);
      await run.call({ path: roles(run), body: role("made", unheld), headers: as(user) });
      await run.prepare({ method: "DELETE", path: bindings(run, name) });
      await run.until(secrets, ({ message }) => !message.includes("not found"));
    }
  }),
];

const requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
/** PKCS#10 requests for jane in system:masters, and for a node. */
const masters =
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIak1JR0tBZ0VBTUNneEZ6QVZCZ05WQkFvTURuTjVjM1JsYlRwdFlYTjBaWE" +
  "p6TVEwd0N3WURWUVFEREFScQpZVzVsTUZrd0V3WUhLb1pJemowQ0FRWUlLb1pJemowREFRY0RRZ0FFenBWWWNPeGJmNWZZRVBlTXZicm1XbjIr" +
  "CnhqMXgxdlJIL3BvTkhGcGVkQWpCNjRUeitHNUQ5WHFXSDJTRVpGWkR0RDdpci85NGhsMFpoWmg4Y0VxQkJxQUEKTUFvR0NDcUdTTTQ5QkFNQ0" +
  "EwZ0FNRVVDSUd6UjIzVEd5UXRjUGZLU012cGpqcW02YWxVbWliUkJ2clRYdlhBbwpFcnBwQWlFQXhsZE5yRmVTMGlydmkrVVl4RHJWWFVWQnZY" +
  "Q2k0TmI0UThmellNKzlQZUk9Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=";
const nodeRequest =
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIeE1JR1lBZ0VBTURZeEZUQVRCZ05WQkFvTURITjVjM1JsYlRwdWIyUmxjek" +
  "VkTUJzR0ExVUVBd3dVYzNsegpkR1Z0T201dlpHVTZjMjl0WldKdlpIa3dXVEFUQmdjcWhrak9QUUlCQmdncWhrak9QUU1CQndOQ0FBVE9sVmh3" +
  "CjdGdC9sOWdROTR5OXV1WmFmYjdHUFhIVzlFZittZzBjV2w1MENNSHJoUFA0YmtQMWVwWWZaSVJrVmtPMFB1S3YKLzNpR1hSbUZtSHh3U29FR2" +
  "9BQXdDZ1lJS29aSXpqMEVBd0lEU0FBd1JRSWhBSkZnaU1lckFZZkF5S1dsZUdyWQprYWdLdGVhSDRCTDRWa2wyeXBsdlhVNHZBaUFYY1EyKzlv" +
  "TjhXVU9oaEhVOTVLSzMyekV3SUJkaHhIZm5mRE5lCldWeDJDdz09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=";
const signer = "example.com/a";
const csr = "certificates.k8s.io/certificatesigningrequests";
const csrWrites = rule("*", `${csr} ${csr}/approval ${csr}/status`);

function signers(verbs: string, ...resourceNames: readonly string[]): Body {
  return rule(verbs, "certificates.k8s.io/signers", { resourceNames });
}

/** Permissions on signers. */
const signerGrants: readonly (readonly [title: string, rules: readonly Body[]])[] = [
  ["nothing", []],
  ["approve on the signer", [signers("approve", signer)]],
  ["approve on the domain", [signers("approve", "example.com/*")]],
  ["approve on another signer", [signers("approve", "example.com/b", "example.org/*")]],
  ["sign on the signer", [signers("sign", signer)]],
  ["sign on the domain", [signers("sign", "example.com/*")]],
  ["all verbs on all signers", [rule("*", "certificates.k8s.io/signers")]],
];

function condition(type: string): Body {
  return { type, status: "True", reason: "Tested", message: "m" };
}

const signerCases = signerGrants.map(([title, rules]) =>
  scenario(`certificates: ${title}`, async (run) => {
    const [user, name] = [run.name("jane"), run.name("request")];
    await grant(run, user, [csrWrites, ...rules], "cluster");
    const spec = { request: signingRequest, signerName: signer, usages: ["client auth"] };
    const headers = as(user);
    const object = await run.call({ path: requests, body: { metadata: { name }, spec }, headers });
    const statusOf = ({ status }: Body) => status;
    const send = (part: string, status: Body) =>
      run.call({ ...merge, path: `${requests}/${name}/${part}`, body: { status }, headers, pick: statusOf });
    await send("approval", { conditions: [condition("Approved")] });
    await send("approval", { conditions: null });
    await send("status", { conditions: [condition("Failed")] });
    await send("status", {});
    await send("status", { certificate: "bm9uZQ==" });
    const denied = { ...object, status: { conditions: [condition("Denied")] } };
    await run.call({ method: "PUT", path: `${requests}/${name}/approval`, body: denied, headers, pick: statusOf });
    await run.call({
      ...merge,
      path: `${requests}/${name}`,
      body: { metadata: { labels: { a: "b" } } },
      headers,
      pick: kept,
    });
    await run.prepare({ method: "DELETE", path: `${requests}/${name}` });
    await revoke(run);
  })
);

/** Requests that are refused whoever sends them, and others. */
const subjects: readonly (readonly [title: string, request: string, signerName: string])[] = [
  ["system:masters from the signer of clients", masters, "kubernetes.io/kube-apiserver-client"],
  ["system:masters from another signer", masters, signer],
  ["a user from the signer of clients", signingRequest, "kubernetes.io/kube-apiserver-client"],
  ["a node from the signer of kubelets", nodeRequest, "kubernetes.io/kube-apiserver-client-kubelet"],
];

const subjectCases = subjects.map(([title, request, signerName]) =>
  scenario(`certificates: a request for ${title}`, async (run) => {
    const body = { metadata: { name: run.name("request") }, spec: { request, signerName, usages: ["client auth"] } };
    for (const headers of [{}, as("jane", "system:masters"), as("system:node:worker-1", "system:nodes")]) {
      await run.call({ path: `${requests}?dryRun=All`, body, headers, pick: ({ spec }) => spec.signerName });
    }
  }, { needsNamespace: false })
);

/** What a ServiceAccount may impersonate, and what it tries. */
const impersonations: readonly (readonly [title: string, rules: readonly Body[], tries: readonly Headers[]])[] = [
  ["nothing", [], [
    as("jane"),
    as("system:serviceaccount:default:robot"),
    as("system:node:worker-1"),
    as("system:anonymous"),
    as("jane", "devs"),
    { "impersonate-group": "devs" },
    { "impersonate-uid": "7" },
    { "impersonate-extra-scopes": "view" },
  ]],
  ["users", [rule("impersonate", "users")], [
    as("jane"),
    as("jane", "devs"),
    as("system:anonymous"),
    as("system:node:worker-1"),
    as("system:serviceaccount:default:robot"),
    { ...as("jane"), "impersonate-uid": "7" },
    { ...as("jane"), "impersonate-extra-scopes": "view" },
  ]],
  ["one user", [rule("impersonate", "users", { resourceNames: ["jane"] })], [as("jane"), as("bob")]],
  ["groups", [rule("impersonate", "users groups", { resourceNames: ["jane", "devs", "ops"] })], [
    as("jane", "devs"),
    as("jane", "devs", "ops"),
    as("jane", "devs", "system:masters"),
    as("jane", "system:authenticated"),
    as("jane", "system:unauthenticated"),
  ]],
  ["ServiceAccounts", [rule("impersonate", "serviceaccounts")], [
    as("system:serviceaccount:default:robot"),
    as("system:serviceaccount:default:robot", "devs"),
    as("system:serviceaccount:default"),
    as("jane"),
  ]],
  ["uids and extra values", [
    rule("impersonate", "users"),
    rule("impersonate", "authentication.k8s.io/uids authentication.k8s.io/userextras/scopes", {
      resourceNames: ["7", "view", "edit"],
    }),
  ], [
    { ...as("jane"), "impersonate-uid": "7" },
    { ...as("jane"), "impersonate-uid": "8" },
    { ...as("jane"), "impersonate-extra-scopes": "view" },
    { ...as("jane"), "impersonate-extra-scopes": "admin" },
    { ...as("jane"), "impersonate-extra-example.com%2fother": "view" },
  ]],
  ["users for one action", [
    rule("impersonate:user-info", "authentication.k8s.io/users authentication.k8s.io/groups"),
    rule("impersonate-on:user-info:create", "authentication.k8s.io/selfsubjectreviews"),
  ], [
    as("jane"),
    as("jane", "devs"),
    as("jane", "system:masters"),
    as("jane", "a", "b", "c", "d"),
    as("system:anonymous"),
    as("system:node:worker-1"),
    as("system:serviceaccount:default:robot"),
    { ...as("jane"), "impersonate-uid": "7" },
    { ...as("jane"), "impersonate-extra-scopes": "view" },
    { ...as("jane"), "impersonate-extra-example.com%2fa": "view" },
  ]],
  ["users, but no action", [rule("impersonate:user-info", "authentication.k8s.io/users")], [as("jane")]],
  ["an action, but no users", [rule("impersonate-on:user-info:create", "authentication.k8s.io/selfsubjectreviews")], [
    as("jane"),
    as("jane", "system:masters"),
  ]],
  ["ServiceAccounts for one action", [
    rule("impersonate:serviceaccount", "authentication.k8s.io/serviceaccounts"),
    rule("impersonate-on:serviceaccount:create", "authentication.k8s.io/selfsubjectreviews"),
  ], [as("system:serviceaccount:default:robot"), as("system:serviceaccount:default:robot", "devs"), as("jane")]],
  ["Nodes for one action", [
    rule("impersonate:arbitrary-node", "authentication.k8s.io/nodes", { resourceNames: ["worker-1"] }),
    rule("impersonate-on:arbitrary-node:create", "authentication.k8s.io/selfsubjectreviews"),
  ], [
    as("system:node:worker-1"),
    as("system:node:worker-2"),
    as("system:node:worker-1", "system:nodes"),
    as("system:node:Worker"),
    as("jane"),
  ]],
];

const impersonationCases = impersonations.map(([title, rules, tries]) =>
  scenario(`impersonation of a sender who may impersonate ${title}`, async (run) => {
    const { user, headers } = await makeAccount(run, "sender");
    await grant(run, user, rules, "cluster");
    for (const wanted of tries) {
      await run.call({ ...whoAmI, headers: { ...headers, ...wanted } });
      await run.call({ path: at(run, "configmaps"), headers: { ...headers, ...wanted } });
    }
    await revoke(run);
  })
);

/** Cases of granted permissions. */
export const grantCases: readonly ConformanceCase[] = [
  ...roleCases,
  ...clusterCases,
  ...memberCases,
  ...signerCases,
  ...subjectCases,
  ...impersonationCases,
];
