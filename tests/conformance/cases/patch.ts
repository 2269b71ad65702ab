/** Patches of every kind, apply among them, with the managed fields they leave. */
import { type ConformanceCase, requests, scenario } from "../conformance_case.ts";
import type { Call, Site } from "../site.ts";
import { at, type Body, configMap, ingress, service } from "./_objects.ts";

const types = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

function patch(path: string, type: keyof typeof types, body: unknown): Call {
  return { method: "PATCH", path, type: types[type], body };
}

/** Patches of one ConfigMap. */
function ofConfigMap(name: string, type: keyof typeof types, bodies: readonly unknown[]): ConformanceCase {
  return requests(name, (site) => {
    const data = { a: "1", b: "2", "x.y": "3" };
    return [
      { path: at(site, "configmaps"), body: configMap("a", data, { labels: { one: "1", two: "2" } }) },
      ...bodies.map((body) => patch(at(site, "configmaps", "a"), type, body)),
    ];
  });
}

const json: readonly ConformanceCase[] = [
  ofConfigMap("JSON patch: add, replace, remove", "json", [
    [{ op: "add", path: "/data/c", value: "3" }],
    [{ op: "replace", path: "/data/c", value: "4" }, { op: "remove", path: "/data/a" }],
    [{ op: "add", path: "/metadata/labels", value: { three: "3" } }],
    [{ op: "add", path: "/metadata/annotations", value: {} }, {
      op: "add",
      path: "/metadata/annotations/x~1y",
      value: "z",
    }],
  ]),
  ofConfigMap("JSON patch: copy, move, test", "json", [
    [{ op: "copy", from: "/data/a", path: "/data/copy" }, { op: "move", from: "/data/b", path: "/data/moved" }],
    [{ op: "test", path: "/data/a", value: "1" }, { op: "add", path: "/data/tested", value: "yes" }],
    [{ op: "test", path: "/data/a", value: "2" }],
    [{ op: "test", path: "/data/absent", value: null }],
  ]),
  ofConfigMap("JSON patch: what cannot be done", "json", [
    [{ op: "remove", path: "/data/absent" }],
    [{ op: "replace", path: "/data/absent", value: "x" }],
    [{ op: "add", path: "/nowhere/at/all", value: "x" }],
    [{ op: "invent", path: "/data/a" }],
    [{ op: "add", path: "data/a", value: "x" }],
    [{ op: "move", from: "/absent", path: "/data/x" }],
    [{ op: "add", path: "/data/a" }],
    [{}],
    {},
    "text",
    "[",
    [],
  ]),
  ofConfigMap("JSON patch: results that are no good object", "json", [
    [{ op: "replace", path: "/data", value: [] }],
    [{ op: "replace", path: "/metadata/name", value: "b" }],
    [{ op: "add", path: "/data/bad key", value: "x" }],
    [{ op: "remove", path: "/metadata" }],
    [{ op: "replace", path: "/kind", value: "Secret" }],
    [{ op: "add", path: "/unknown", value: "x" }],
    [{ op: "replace", path: "/metadata/uid", value: "x" }],
    [{ op: "test", path: "/metadata/resourceVersion", value: "1" }],
  ]),
  requests("JSON patch: lists", (site) => {
    const path = at(site, "services");
    return [
      { path, body: service("web", { ports: [{ name: "a", port: 1 }, { name: "b", port: 2 }] }) },
      patch(`${path}/web`, "json", [{ op: "add", path: "/spec/ports/1", value: { name: "c", port: 3 } }]),
      patch(`${path}/web`, "json", [{ op: "add", path: "/spec/ports/-", value: { name: "d", port: 4 } }]),
      patch(`${path}/web`, "json", [{ op: "remove", path: "/spec/ports/0" }]),
      patch(`${path}/web`, "json", [{ op: "replace", path: "/spec/ports/-1/port", value: 9 }]),
      patch(`${path}/web`, "json", [{ op: "remove", path: "/spec/ports/9" }]),
      patch(`${path}/web`, "json", [{ op: "add", path: "/spec/ports/x", value: {} }]),
    ];
  }),
];

const merge: readonly ConformanceCase[] = [
  ofConfigMap("merge patch: sets, deletes, nests", "merge", [
    { data: { a: null, c: "3" } },
    { metadata: { labels: null, annotations: { x: "y" } } },
    { data: null },
    {},
    { metadata: { annotations: { x: null } } },
  ]),
  ofConfigMap("merge patch: what cannot be done", "merge", [
    { data: { a: 1 } },
    { metadata: { name: "b" } },
    { metadata: { namespace: "b" } },
    { metadata: { uid: "b" } },
    { metadata: { resourceVersion: "1" } },
    { apiVersion: "v2" },
    { kind: "Secret" },
    [],
    "text",
    "{",
    { unknown: 1 },
    { immutable: "x" },
  ]),
  requests("merge patch: lists are replaced", (site) => [
    { path: at(site, "services"), body: service("web", { ports: [{ name: "a", port: 1 }, { name: "b", port: 2 }] }) },
    patch(at(site, "services", "web"), "merge", { spec: { ports: [{ name: "c", port: 3 }] } }),
    patch(at(site, "services", "web"), "merge", { spec: { selector: { app: null, other: "x" } } }),
    patch(at(site, "services", "web"), "merge", { spec: { ports: null } }),
  ]),
  scenario("merge patch: a version in it is a precondition", async (site) => {
    const path = at(site, "configmaps");
    const { metadata: { resourceVersion } } = await site.call({ path, body: configMap("a") });
    await site.call(patch(`${path}/a`, "merge", { metadata: { resourceVersion }, data: { x: "1" } }));
    await site.call(patch(`${path}/a`, "merge", { metadata: { resourceVersion }, data: { x: "2" } }));
  }),
  requests("patches of what is not there", (site) => [
    patch(at(site, "configmaps", "a"), "merge", { data: {} }),
    patch(at(site, "configmaps", "a"), "json", []),
    patch(at(site, "configmaps", "a"), "strategic", { data: {} }),
    { method: "PATCH", path: at(site, "configmaps"), type: types.merge, body: {} },
  ]),
  requests("patches in formats nobody knows", (site) => [
    { path: at(site, "configmaps"), body: configMap("a") },
    { method: "PATCH", path: at(site, "configmaps", "a"), type: "application/json", body: {} },
    { method: "PATCH", path: at(site, "configmaps", "a"), type: "text/plain", body: "x" },
    { method: "PATCH", path: at(site, "configmaps", "a"), type: "application/merge-patch+yaml", body: "data: {}" },
    { method: "PATCH", path: at(site, "configmaps", "a"), type: `${types.merge}; charset=utf-8`, body: {} },
  ]),
  requests("options of a patch", (site) => [
    { path: at(site, "configmaps"), body: configMap("a") },
    patch(`${at(site, "configmaps", "a")}?dryRun=All`, "merge", { data: { x: "y" } }),
    patch(`${at(site, "configmaps", "a")}?force=true`, "merge", { data: { x: "y" } }),
    patch(`${at(site, "configmaps", "a")}?fieldManager=mine`, "merge", { data: { x: "y" } }),
    patch(`${at(site, "configmaps", "a")}?fieldValidation=Strict`, "merge", { dato: { x: "y" } }),
    patch(`${at(site, "configmaps", "a")}?fieldValidation=Warn`, "merge", { dato: { x: "y" } }),
    patch(`${at(site, "configmaps", "a")}?fieldValidation=Strict`, "strategic", { dato: { x: "y" } }),
    patch(`${at(site, "configmaps", "a")}?fieldValidation=Strict`, "json", [{ op: "add", path: "/dato", value: 1 }]),
    patch(`${at(site, "configmaps", "a")}?fieldValidation=Strict`, "merge", '{"data":{"a":"1","a":"2"}}'),
  ]),
];

const twoPorts = { ports: [{ name: "a", port: 1 }, { name: "b", port: 2 }] };

/** Strategic merge patches of a Service with two ports. */
const strategic: readonly ConformanceCase[] = [
  ...([
    ["merges lists by key", { spec: { ports: [{ port: 2, targetPort: 20 }, { name: "c", port: 3 }] } }],
    ["deletes from a list", { spec: { ports: [{ $patch: "delete", port: 1 }] } }],
    ["replaces a list", { spec: { ports: [{ $patch: "replace" }, { name: "c", port: 3 }] } }],
    ["replaces a map", { spec: { selector: { $patch: "replace", only: "this" } } }],
    ["deletes a map", { spec: { selector: { $patch: "delete" } } }],
    ["orders a list", { spec: { "$setElementOrder/ports": [{ port: 2 }, { port: 1 }], ports: [] } }],
    ["deletes from a list of plain values", { metadata: { "$deleteFromPrimitiveList/finalizers": ["example.com/a"] } }],
    ["needs the key of an item", { spec: { ports: [{ name: "x" }] } }],
    ["knows its directives", { spec: { selector: { $patch: "shred" } } }],
    ["wants the right type", { spec: { ports: "none" } }],
    ["deletes with null", { spec: { selector: null, sessionAffinity: null } }],
    ["retains keys", { spec: { $retainKeys: ["ports", "type"], type: "ClusterIP" } }],
  ] as const).map(([what, body]) =>
    requests(`strategic merge patch: ${what}`, (site) => [
      {
        path: at(site, "services"),
        body: {
          ...service("web", twoPorts),
          metadata: { name: "web", finalizers: ["example.com/a", "example.com/b"] },
        },
      },
      patch(at(site, "services", "web"), "strategic", body),
      patch(at(site, "services", "web"), "merge", { metadata: { finalizers: null } }),
    ])
  ),
];

function apply(site: Site, manager: string, body: Body, query = ""): Call {
  const { name } = body["metadata"] as { readonly name: string };
  const plural = `${body["kind"]}s`.toLowerCase().replace(/sss$/, "sses");
  const apiVersion = `${body["apiVersion"]}`;
  const resource = apiVersion === "v1" ? plural : `${apiVersion}/${plural}`;
  return patch(`${at(site, resource, name)}?fieldManager=${manager}${query}`, "apply", body);
}

const applies: readonly ConformanceCase[] = [
  requests("apply creates, changes, and takes back what it no longer says", (site) => [
    apply(site, "one", configMap("a", { a: "1", b: "2" }, { labels: { x: "y" } })),
    apply(site, "one", configMap("a", { a: "1", b: "2" }, { labels: { x: "y" } })),
    apply(site, "one", configMap("a", { a: "3" })),
    { method: "GET", path: at(site, "configmaps", "a") },
  ]),
  requests("apply: two managers, a conflict, force", (site) => [
    apply(site, "one", configMap("a", { a: "1", shared: "x" })),
    apply(site, "two", configMap("a", { b: "2", shared: "x" })),
    apply(site, "two", configMap("a", { a: "2", b: "2", shared: "y" })),
    apply(site, "two", configMap("a", { a: "2", b: "2", shared: "y" }), "&force=true"),
    apply(site, "one", configMap("a", { a: "1" })),
    apply(site, "one", configMap("a", {})),
    apply(site, "two", configMap("a", {})),
  ]),
  requests("apply after an update: the update's manager owns", (site) => [
    { path: `${at(site, "configmaps")}?fieldManager=creator`, body: configMap("a", { a: "1" }) },
    apply(site, "one", configMap("a", { a: "2" })),
    apply(site, "one", configMap("a", { a: "1" })),
    patch(`${at(site, "configmaps", "a")}?fieldManager=patcher`, "merge", { data: { a: "9", c: "3" } }),
    apply(site, "one", configMap("a", { a: "1" })),
    apply(site, "one", configMap("a", { a: "1" }), "&force=true"),
    patch(`${at(site, "configmaps", "a")}?fieldManager=patcher`, "merge", { data: { c: null } }),
  ]),
  requests("apply of lists by key, sets and maps", (site) => [
    apply(site, "one", service("web", { ports: [{ name: "a", port: 1, protocol: "TCP" }] })),
    apply(site, "two", service("web", { ports: [{ name: "b", port: 2, protocol: "TCP" }] })),
    apply(site, "two", service("web", { ports: [{ name: "a", port: 1, protocol: "UDP" }] })),
    apply(site, "one", service("web", { ports: [] })),
    apply(site, "one", configMap("a", {}, { finalizers: ["example.com/a"] })),
    apply(site, "two", configMap("a", {}, { finalizers: ["example.com/b"] })),
    apply(site, "one", configMap("a", {}, { finalizers: [] })),
    apply(site, "two", configMap("a", {}, { finalizers: [] })),
  ]),
  requests("apply: what is refused", (site) => [
    { ...apply(site, "one", configMap("a")), path: at(site, "configmaps", "a") },
    apply(site, "one", configMap("a", {}, { managedFields: [{ manager: "x" }] })),
    apply(site, "one", { ...configMap("a"), apiVersion: "v2" }),
    { ...apply(site, "one", configMap("a")), body: { metadata: { name: "a" } } },
    { ...apply(site, "one", configMap("a")), body: configMap("b") },
    { ...apply(site, "one", configMap("a")), body: "apiVersion: [" },
    { ...apply(site, "one", configMap("a")), body: [] },
    { ...apply(site, "one", configMap("a")), body: { ...configMap("a"), kind: "Secret" } },
    apply(site, "one", configMap("a", {}, { resourceVersion: "1" })),
    apply(site, "one", configMap("a", {}, { uid: "1" })),
    apply(site, "one", { ...configMap("a"), unknown: 1 }),
    apply(site, "one", configMap("a", { a: 1 })),
    apply(site, "one", service("web", { ports: [{ port: 1 }, { port: 1 }] })),
    apply(site, "one", service("web", { ports: "x" })),
    apply(site, "one", configMap("a", {}, { namespace: "other" })),
    apply(site, "one", service("web", { ports: [{ port: 1 }], typo: 1 }), "&fieldValidation=Strict"),
    apply(site, "one", configMap("b", { "bad key": "x" })),
  ]),
  requests("apply in YAML, and without a name", (site) => [
    {
      ...apply(site, "one", configMap("a")),
      body: "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: |\n    text\n",
    },
    { ...apply(site, "one", configMap("a")), body: "apiVersion: v1\nkind: ConfigMap\ndata:\n  a: b\n" },
    {
      ...apply(site, "one", configMap("a")),
      body: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: '1', a: '2'}\n",
    },
  ]),
  scenario("apply: uid and version are preconditions", async (site) => {
    const { metadata } = await site.call(apply(site, "one", configMap("a", { a: "1" })));
    const { uid, resourceVersion } = metadata;
    await site.call(apply(site, "one", configMap("a", { a: "2" }, { uid, resourceVersion })));
    await site.call(apply(site, "one", configMap("a", { a: "3" }, { resourceVersion })));
    await site.call(apply(site, "one", configMap("a", { a: "3" }, { uid: "another" })));
  }),
  requests("apply as a dry run", (site) => [
    apply(site, "one", configMap("a"), "&dryRun=All"),
    { path: at(site, "configmaps", "a") },
    apply(site, "one", configMap("a")),
    apply(site, "one", configMap("a", { x: "y" }), "&dryRun=All"),
    { path: at(site, "configmaps", "a") },
  ]),
  requests("apply of an Ingress, whose lists are atomic", (site) => [
    { ...patch(`${at(site, "networking.k8s.io/v1/ingresses", "a")}?fieldManager=one`, "apply", ingress("a")) },
    {
      ...patch(
        `${at(site, "networking.k8s.io/v1/ingresses", "a")}?fieldManager=two`,
        "apply",
        ingress("a", { rules: [{ host: "other.example" }] }),
      ),
    },
  ]),
  requests("taking over from client-side apply", (site) => [
    {
      path: `${at(site, "configmaps")}?fieldManager=kubectl-client-side-apply`,
      body: configMap("a", { a: "1", b: "2" }, {
        annotations: {
          "kubectl.kubernetes.io/last-applied-configuration":
            '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"1","b":"2"}}\n',
        },
      }),
    },
    apply(site, "kubectl", configMap("a", { a: "1" })),
    apply(site, "kubectl", configMap("a", { a: "3" }), "&force=true"),
  ]),
];

export const patchCases: readonly ConformanceCase[] = [...json, ...merge, ...strategic, ...applies];
