/** Who sent a request: tokens of ServiceAccounts, client certificates, no credential. And the reviews that tell. */
import type { Call, CaseRun } from "../case_run.ts";
import { type ConformanceCase, requests, scenario } from "../conformance_case.ts";
import { as, type Headers, makeAccount, tokenHeaders, whoAmI } from "./_access_users.ts";
import { at, type Body, pod, secret } from "./_objects.ts";

const authorization = "/apis/authorization.k8s.io/v1";
const tokenReviews = "/apis/authentication.k8s.io/v1/tokenreviews";
const statusOf = ({ status }: { readonly status: Body }) => status;

function tokenOf({ authorization = "" }: Headers): string {
  return authorization.replace("Bearer ", "");
}

/** Requests for tokens, after a ServiceAccount, a Pod of it, another Pod and a Secret exist. */
const tokenRequests: readonly (readonly [title: string, body: (uids: Uids) => Body])[] = [
  ["without anything", () => ({})],
  ["with a lifetime", () => ({ spec: { expirationSeconds: 7200 } })],
  ["with a lifetime that is too short", () => ({ spec: { expirationSeconds: 599 } })],
  ["with a lifetime that is too long", () => ({ spec: { expirationSeconds: 2 ** 32 + 1 } })],
  ["with audiences", () => ({ spec: { audiences: ["a", "b"] } })],
  ["with another name", () => ({ metadata: { name: "other" } })],
  ["with another namespace", () => ({ metadata: { namespace: "default" } })],
  ["with the UID", ({ account }) => ({ metadata: { uid: account } })],
  ["with another UID", () => ({ metadata: { uid: "other" } })],
  ["for a Pod", () => bound("v1", "Pod", "own")],
  ["for a Pod with its UID", ({ own }) => bound("v1", "Pod", "own", own)],
  ["for a Pod with another UID", () => bound("v1", "Pod", "own", "other")],
  ["for a Pod of another ServiceAccount", () => bound("v1", "Pod", "foreign")],
  ["for a missing Pod", () => bound("v1", "Pod", "missing")],
  ["for a Secret", () => bound("v1", "Secret", "bound")],
  ["for a missing Secret", () => bound("v1", "Secret", "missing")],
  ["for a missing Node", () => bound("v1", "Node", "missing")],
  ["for a ConfigMap", () => bound("v1", "ConfigMap", "bound")],
  ["for a Pod of a group", () => bound("apps/v1", "Pod", "own")],
  ["for a Deployment", () => bound("apps/v1", "Deployment", "bound")],
  ["for a Pod, as the kubelet asks", () => ({
    spec: { expirationSeconds: 3607, boundObjectRef: { apiVersion: "v1", kind: "Pod", name: "own" } },
  })],
];

interface Uids {
  readonly account: string;
  readonly own: string;
}

function bound(apiVersion: string, kind: string, name: string, uid?: string): Body {
  return { spec: { boundObjectRef: { apiVersion, kind, name, ...uid === undefined ? {} : { uid } } } };
}

async function makeObjects(run: CaseRun): Promise<Uids> {
  const { metadata } = await run.prepare({ path: at(run, "serviceaccounts"), body: { metadata: { name: "robot" } } });
  const own = await run.prepare({ path: at(run, "pods"), body: pod("own", { serviceAccountName: "robot" }) });
  await run.prepare({ path: at(run, "pods"), body: pod("foreign") });
  await run.prepare({ path: at(run, "secrets"), body: secret("bound") });
  return { account: metadata.uid, own: own.metadata.uid };
}

const requestCases = tokenRequests.map(([title, body]) =>
  scenario(`a request for a token ${title}`, async (run) => {
    const uids = await makeObjects(run);
    const path = `${at(run, "serviceaccounts", "robot")}/token`;
    const { status } = await run.call({ path, body: body(uids) });
    if (status?.token === undefined) return;
    await run.call({ ...whoAmI, headers: { authorization: `Bearer ${status.token}` } });
    await run.call({ path: tokenReviews, body: { spec: { token: status.token } }, pick: statusOf });
    await run.call({
      path: tokenReviews,
      body: { spec: { token: status.token, audiences: ["b", "c"] } },
      pick: statusOf,
    });
  }, { needsAccount: true })
);

/** What ends a token. */
const ends: readonly (readonly [title: string, spec: Body, deletes: string])[] = [
  ["its ServiceAccount", {}, "serviceaccounts/robot"],
  ["its Pod", bound("v1", "Pod", "own")["spec"] as Body, "pods/own?gracePeriodSeconds=0"],
  ["its Secret", bound("v1", "Secret", "bound")["spec"] as Body, "secrets/bound"],
];

const endCases = ends.map(([title, spec, deletes]) =>
  scenario(`a token ends with ${title}`, async (run) => {
    await makeObjects(run);
    const headers = await tokenHeaders(run, "robot", spec);
    await run.call({ ...whoAmI, headers });
    const [plural = "", name = ""] = deletes.split("/");
    await run.prepare({ method: "DELETE", path: at(run, plural, name) });
    // The real server remembers a valid token for ten seconds.
    await run.until({ ...whoAmI, headers }, (_, code) => code === 401);
    await run.call({ ...whoAmI, headers });
    await run.call({
      path: tokenReviews,
      body: { spec: { token: tokenOf(headers) } },
      pick: ({ status }) => status.user,
    });
  }, { needsAccount: true })
);

/** Certificates, and who their owners are. */
const certificates: readonly (readonly [commonName: string, organizations: readonly string[]])[] = [
  ["jane", []],
  ["jane", ["devs", "ops"]],
  ["jane", ["system:masters"]],
  ["system:node:worker-1", ["system:nodes"]],
  ["system:kube-scheduler", []],
  ["system:serviceaccount:default:robot", []],
  ["jane", ["system:authenticated"]],
];

const certificateCases = certificates.map(([commonName, organizations]) =>
  scenario(`a certificate of ${[commonName, ...organizations].join(", ")}`, async (run) => {
    const subject = { commonName, organizations };
    await run.call({ ...whoAmI, subject });
    for (const path of ["/api/v1/nodes", "/api/v1/nodes/worker-1", "/version", "/metrics"]) {
      await run.call({ path, subject, recordsDenial: true });
    }
    await run.call({ path: "/api/v1/nodes", subject, headers: as("bob"), recordsDenial: true });
    await run.call({ path: "/api/v1/nodes", subject, headers: { authorization: "Bearer wrong" } });
  }, { needsNamespace: false })
);

/** No user, or no known one. */
const strange: readonly (readonly [title: string, headers: Headers])[] = [
  ["an empty credential", { authorization: "" }],
  ["an unknown token", { authorization: "Bearer unknown" }],
  ["a token in the form of a JWT", { authorization: "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJqYW5lIn0." }],
  ["basic authentication", { authorization: "Basic YWRtaW46YWRtaW4=" }],
];

const strangeCases = strange.map(([title, headers]) =>
  requests(
    `a request with ${title}`,
    () =>
      ["/api/v1/nodes", "/version", "/healthz", "/api/v1/namespaces/default/pods/x", "/none"].map((path): Call => ({
        path,
        headers,
        pick: () => "",
      })),
    { needsNamespace: false },
  )
);

/** Specs of access reviews that are refused, or that are not as usual. */
const pods = { verb: "list", resource: "pods" };
const reviews: readonly (readonly [title: string, body: Body])[] = [
  ["nothing", {}],
  ["a user only", { spec: { user: "jane" } }],
  ["a resource and a path", {
    spec: { user: "jane", resourceAttributes: pods, nonResourceAttributes: { path: "/a", verb: "get" } },
  }],
  ["no user", { spec: { resourceAttributes: pods } }],
  ["a UID as the user", { spec: { uid: "7", resourceAttributes: pods } }],
  ["a group only", { spec: { groups: ["system:masters"], resourceAttributes: pods } }],
  ["an empty group", { spec: { groups: [""], resourceAttributes: pods } }],
  ["extra values", { spec: { user: "jane", extra: { a: ["b"] }, resourceAttributes: pods } }],
  ["metadata", { metadata: { name: "a", labels: { b: "c" } }, spec: { user: "jane", resourceAttributes: pods } }],
  ["an empty resource", { spec: { user: "jane", groups: ["system:masters"], resourceAttributes: {} } }],
  ["an empty path", { spec: { user: "jane", groups: ["system:masters"], nonResourceAttributes: {} } }],
  ["an unknown field", { spec: { user: "jane", resourceAttributes: { ...pods, color: "red" } } }],
  ["a wrong type", { spec: { user: 7, resourceAttributes: pods } }],
  ...([
    ["an empty field selector", { fieldSelector: {} }],
    ["a raw field selector", { fieldSelector: { rawSelector: "a=b" } }],
    ["a raw field selector that cannot be parsed", { fieldSelector: { rawSelector: "a" } }],
    ["two field selectors", {
      fieldSelector: { rawSelector: "a=b", requirements: [{ key: "a", operator: "Exists" }] },
    }],
    ["a field selector without values", { fieldSelector: { requirements: [{ key: "", operator: "In" }] } }],
    ["a field selector with values", {
      fieldSelector: {
        requirements: [{ key: "a", operator: "Exists", values: ["b"] }, { key: "a", operator: "Other" }],
      },
    }],
    ["an empty label selector", { labelSelector: {} }],
    ["two label selectors", {
      labelSelector: { rawSelector: "a=b", requirements: [{ key: "a", operator: "Exists" }] },
    }],
    ["a label selector with bad keys", {
      labelSelector: {
        requirements: [
          { key: "-", operator: "In", values: ["b c"] },
          { key: "a", operator: "NotIn" },
          { key: "a", operator: "DoesNotExist", values: ["b"] },
          { key: "", operator: "Other" },
        ],
      },
    }],
  ] as const).map(([title, rest]) =>
    [title, { spec: { user: "jane", resourceAttributes: { ...pods, ...rest } } }] as const
  ),
];

const reviewCases = reviews.map(([title, body]) =>
  requests(`access reviews with ${title}`, (run) => {
    const { user: _user, groups: _groups, uid: _uid, extra: _extra, ...self } = Object(body["spec"] ?? {});
    return [
      { path: `${authorization}/subjectaccessreviews`, body },
      { path: `${authorization}/selfsubjectaccessreviews`, body: { ...body, spec: self } },
      { path: `${authorization}/namespaces/${run.namespace}/localsubjectaccessreviews`, body },
      { path: `${authorization}/subjectaccessreviews?fieldValidation=Strict`, body },
    ];
  })
);

const localCases: readonly ConformanceCase[] = [
  requests("local access reviews", (run) =>
    [
      { spec: { user: "jane", resourceAttributes: { ...pods, namespace: run.namespace } } },
      { spec: { user: "jane", resourceAttributes: { ...pods, namespace: "default" } } },
      { metadata: { namespace: "default" }, spec: { user: "jane", resourceAttributes: pods } },
      { metadata: { namespace: run.namespace }, spec: { user: "jane", resourceAttributes: pods } },
      { spec: { user: "jane", nonResourceAttributes: { path: "/a", verb: "get" } } },
    ].map((body) => ({ path: `${authorization}/namespaces/${run.namespace}/localsubjectaccessreviews`, body }))),
  requests(
    "token reviews",
    () =>
      [{}, { spec: {} }, { spec: { token: "unknown" } }, { spec: { token: "unknown", audiences: ["a"] } }, {
        spec: { token: "a.b.c" },
      }].map((body) => ({
        path: tokenReviews,
        body,
        pick: ({ status }: { readonly status: Body }) => status["user"] ?? status,
      })),
    {
      needsNamespace: false,
    },
  ),
  requests("rules reviews", () =>
    [{}, { spec: {} }, { spec: { namespace: "missing" } }].map((body) => ({
      path: `${authorization}/selfsubjectrulesreviews`,
      body,
      headers: as("jane"),
      pick: () => "",
    })), { needsNamespace: false }),
  scenario("who a ServiceAccount is", async (run) => {
    const { headers } = await makeAccount(run, "sender");
    await run.call({ ...whoAmI, headers });
    await run.call({ path: at(run, "configmaps"), headers });
    await run.call({ path: at(run, "configmaps"), headers: { authorization: `${headers["authorization"]}x` } });
  }),
];

/** Cases of credentials and reviews. */
export const credentialCases: readonly ConformanceCase[] = [
  ...requestCases,
  ...endCases,
  ...certificateCases,
  ...strangeCases,
  ...reviewCases,
  ...localCases,
];
