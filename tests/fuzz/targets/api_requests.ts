/**
 * Requests of users to the embedded API server, several in a row: methods, paths, queries, media types and bodies.
 *
 * Promises: each request gets a response of bounded size, which is JSON where it says so, and the server reports no error of its
 * own.
 */
import fc from "fast-check";
import { kubernetesApi } from "../../../src/apiserver/kubernetes_api.ts";
import { testAdmin } from "../../../src/apiserver/testing/kubernetes_test_server.ts";
import { seededRandom, VirtualClock } from "../../../src/async/mod.ts";
import { type FuzzTarget, joinParts, orRefused, partsOf, promise, textOf } from "../target.ts";

const tokens = new Map([["admin", testAdmin]]);
const maps = "/api/v1/namespaces/default/configmaps";
const json = "application/json";

const metadata = { name: "a", namespace: "default", labels: { a: "b" } };
const container = {
  name: "c",
  image: "i",
  ports: [{ containerPort: 80 }],
  env: [{ name: "A", value: "b" }],
  resources: { limits: { cpu: "1" } },
};
const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata,
  spec: { containers: [container], tolerations: [], volumes: [{ name: "v", emptyDir: {} }] },
};
const template = { metadata: { labels: { a: "b" } }, spec: { containers: [container] } };
const objects: Readonly<Record<string, object>> = {
  [maps]: { apiVersion: "v1", kind: "ConfigMap", metadata, data: { x: "y" } },
  "/api/v1/namespaces/default/pods": pod,
  "/api/v1/namespaces/default/services": {
    apiVersion: "v1",
    kind: "Service",
    metadata,
    spec: { ports: [{ port: 80 }], selector: { a: "b" } },
  },
  "/api/v1/namespaces/default/secrets": { apiVersion: "v1", kind: "Secret", metadata, stringData: { a: "b" } },
  "/api/v1/nodes": { apiVersion: "v1", kind: "Node", metadata: { name: "a" }, status: { capacity: { cpu: "1" } } },
  "/apis/apps/v1/namespaces/default/deployments": {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata,
    spec: { replicas: 1, selector: { matchLabels: { a: "b" } }, template },
  },
  "/apis/batch/v1/namespaces/default/cronjobs": {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata,
    spec: { schedule: "* * * * *", jobTemplate: { spec: { template } } },
  },
  "/apis/networking.k8s.io/v1/namespaces/default/ingresses": {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata,
    spec: { rules: [{ host: "a.b", http: { paths: [] } }] },
  },
  "/apis/rbac.authorization.k8s.io/v1/clusterroles": {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "a" },
    rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
  },
  "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers": {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata,
    spec: { maxReplicas: 3, scaleTargetRef: { kind: "Deployment", name: "a", apiVersion: "apps/v1" } },
  },
  "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies": {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: "a" },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
      },
      validations: [{ expression: "object.data.size() < 3" }],
    },
  },
  "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews": {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes: { verb: "get", resource: "pods" } },
  },
  "/apis/coordination.k8s.io/v1/namespaces/default/leases": {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata,
    spec: { holderIdentity: "x", renewTime: "2020-01-01T00:00:00.000000Z" },
  },
};
const paths = Object.keys(objects);
const types = [
  json,
  "application/yaml",
  "application/merge-patch+json",
  "application/json-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
  "application/vnd.kubernetes.protobuf",
  "text/plain",
];
const subresources = ["", "/status", "/scale", "/log", "/eviction", "/binding", "/finalize", "/token"];
const queries = [
  ...[
    "",
    "?dryRun=All",
    "?fieldManager=m&force=true",
    "?watch=1&timeoutSeconds=1",
    "?labelSelector=a%3Db&limit=1",
    "?fieldSelector=metadata.name%3Da",
    "?continue=x",
    "?resourceVersion=1",
  ],
  ...[
    "?resourceVersion=0&resourceVersionMatch=Exact",
    "?propagationPolicy=Orphan",
    "?fieldValidation=Strict",
    "?pretty=1",
    "?timeout=1s",
    "?gracePeriodSeconds=-1",
    "?limit=-1&x=%ff",
  ],
];

/** Header fields are lines that begin with `@`. */
function requestText(method: string, path: string, type: string, body: string, fields: readonly string[] = []): string {
  return [`${method} ${path} ${type}`, ...fields.map((field) => `@${field}`), body].join("\n");
}

const fields = [
  ...["impersonate-user: jane", "impersonate-user: system:serviceaccount:a:b", "impersonate-group: system:masters"],
  ...["impersonate-extra-a%2fb: c", "impersonate-extra-%zz: c", "impersonate-uid: 1", "authorization: Bearer x"],
  ...["accept: application/json;as=Table;v=v1;g=meta.k8s.io", "accept: application/vnd.kubernetes.protobuf"],
  ...[
    "accept: application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    "accept: */*;q=x",
    "accept: application/yaml",
  ],
  ...[
    "accept-encoding: gzip",
    "if-none-match: *",
    "origin: https://a",
    "user-agent: a/b (c)",
    "content-encoding: gzip",
  ],
];

/** Names of users and of groups, keys of extras: right ones, and every kind of text that a header can have. */
const impersonated = fc.oneof(
  fc.constantFrom("jane", "system:masters", "system:serviceaccount:a:b", "system:serviceaccount::", "system:anonymous"),
  fc.constantFrom("", "a,b", ",", "%", "%zz", "%00", "%c3%28", "a%2fb", "__proto__", "constructor", "\u00ff"),
  fc.string({ maxLength: 20 }),
  fc.string({ minLength: 1_000, maxLength: 1_000 }),
);
/** The headers of `kubectl --as`, complete or not. */
const impersonation = fc.array(
  fc.oneof(
    fc.tuple(fc.constantFrom("impersonate-user", "impersonate-group", "impersonate-uid"), impersonated),
    fc.tuple(impersonated.map((key) => `impersonate-extra-${key}`), impersonated),
  ).map(([name, value]) => `${name}: ${value}`.replace(/[\n\r]/g, "")),
  { minLength: 1, maxLength: 5 },
);

const patch = fc.oneof(
  fc.record({
    metadata: fc.jsonValue({ maxDepth: 2 }),
    spec: fc.jsonValue({ maxDepth: 3 }),
    status: fc.jsonValue({ maxDepth: 2 }),
  }, { requiredKeys: [] }),
  fc.array(
    fc.record({
      op: fc.constantFrom("add", "remove", "replace", "copy", "move"),
      path: fc.constantFrom("/spec", "/metadata/labels/x", "/metadata", "/spec/template", "/data/y", "/status"),
      from: fc.constantFrom("/spec", "/metadata"),
      value: fc.jsonValue({ maxDepth: 2 }),
    }),
  ),
);
const request = fc.tuple(
  fc.constantFrom(...paths),
  fc.constantFrom("POST", "PUT", "PATCH", "GET", "DELETE", "PATCH"),
  fc.constantFrom(...types),
  fc.constantFrom(...subresources),
  fc.constantFrom(...queries),
  patch,
  fc.oneof(fc.array(fc.constantFrom(...fields), { maxLength: 2 }), impersonation),
)
  .map(([path, method, type, subresource, query, patch, fields]) => {
    const isWhole = method === "POST" || method === "PUT" || type.includes("apply");
    const isNamed = method !== "POST" || subresource !== "";
    const body = JSON.stringify(isWhole ? { ...objects[path], ...(Array.isArray(patch) ? {} : patch) } : patch);
    return requestText(
      method,
      `${path}${isNamed ? `/a${subresource}` : ""}${query}`,
      isWhole && !type.includes("yaml") ? json : type,
      method === "GET" ? "" : body,
      fields,
    );
  });

const creations = paths.map((path) => requestText("POST", path, json, JSON.stringify(objects[path])));

/** The target. */
export const target: FuzzTarget = {
  seeds: [
    ...creations,
    joinParts(
      creations[5] ?? "",
      requestText(
        "PATCH",
        `${paths[5]}/a`,
        types[4] ?? "",
        '{"spec":{"template":{"spec":{"containers":[{"name":"c","$patch":"delete"},{"name":"d","image":"j"}]}}}}',
      ),
    ),
    joinParts(
      creations[0] ?? "",
      requestText(
        "PATCH",
        `${maps}/a?fieldManager=m&force=true`,
        types[5] ?? "",
        "apiVersion: v1\nkind: ConfigMap\ndata: {x: 'z'}\n",
      ),
      requestText("GET", `${maps}?watch=1&timeoutSeconds=1&resourceVersion=1`, json, ""),
    ),
    joinParts(
      creations[1] ?? "",
      requestText(
        "POST",
        `${paths[1]}/a/eviction`,
        json,
        '{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"a","namespace":"default"}}',
      ),
      requestText("DELETE", `${paths[1]}`, json, ""),
    ),
  ],
  arbitrary: fc.tuple(fc.constantFrom(...creations), fc.array(request, { minLength: 1, maxLength: 3 })).map((
    [creation, requests],
  ) => joinParts(creation, ...requests)),
  words: [
    ...types,
    ...subresources,
    ...queries,
    ...paths,
    '"metadata":',
    '"spec":',
    '"finalizers":["a/b"]',
    '"ownerReferences":[',
    '"generateName":"x"',
    '"deletionTimestamp":',
    '"resourceVersion":"1"',
    '"$patch":"replace"',
    "PATCH ",
    "\n%%\n",
    '"managedFields":[{}]',
    "null",
    ...fields.map((field) => `\n@${field}`),
  ],
  async check(input) {
    const clock = new VirtualClock();
    const errors: unknown[] = [];
    const { server } = kubernetesApi({
      clock,
      random: seededRandom(1),
      tokens,
      onError: (error) => errors.push(error),
    });
    using _server = server;
    for (const part of partsOf(input, 5).filter((text) => text !== "")) {
      const request = orRefused(() => requestOf(part), TypeError);
      if (request !== undefined && !isLongWatch(request)) await send(server.fetch(request), clock, input.length);
      if (errors.length > 0) throw errors[0];
    }
  },
};

/** A client may ask for a watch of any length, as with kube-apiserver. */
function isLongWatch({ url }: Request): boolean {
  const { searchParams } = new URL(url);
  return searchParams.has("watch") && Number(searchParams.get("timeoutSeconds")) > 3_600;
}

/** @throws TypeError for what no HTTP server lets through */
function requestOf(text: string): Request {
  const [first = "", ...lines] = text.split("\n");
  const [, method = "GET", path = "/", type = json] = /^(\S+) (\S+) ?(.*)/.exec(first) ?? [];
  const fields = lines.filter((line) => line.startsWith("@")).map((line) => line.slice(1).split(": "));
  const body = lines.filter((line) => !line.startsWith("@")).join("\n");
  const isBodiless = method === "GET" || method === "HEAD";
  const headers = new Headers({ "content-type": type, "user-agent": "fuzz/1", authorization: "Bearer admin" });
  for (const [name = "", ...values] of fields) headers.set(name, values.join(": "));
  return new Request(`http://in.memory/${path.replace(/^\//, "")}`, {
    method,
    headers,
    ...(isBodiless ? {} : { body }),
  });
}

async function send(fetching: Response | Promise<Response>, clock: VirtualClock, inputLength: number): Promise<void> {
  let hasEnded = false;
  const reading = Promise.resolve(fetching).then(async (response) => ({
    response,
    bytes: new Uint8Array(await response.arrayBuffer()),
  }));
  reading.finally(() => hasEnded = true).catch(() => {});
  // A watch without a time limit ends within an hour.
  for (let minutes = 0; !hasEnded && minutes < 90; minutes++) await clock.advance(60_000);
  promise(hasEnded, "A request has no end");
  const { response, bytes } = await reading;
  promise(bytes.length < 1024 * 1024 + 64 * inputLength, "A response is very large");
  if (response.headers.get("content-type") !== json || response.status === 304) return;
  const lines = textOf(bytes).split("\n").filter((line) => line !== "");
  // A watch has an event on each line, and other responses have one value.
  const isJson = [textOf(bytes)].every(isValue) || lines.every(isValue);
  promise(isJson || bytes.length === 0, "A response is not JSON");
}

function isValue(text: string): boolean {
  return orRefused(() => (JSON.parse(text), true), SyntaxError) ?? false;
}
