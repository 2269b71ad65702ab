/** All types of patches, server-side apply included, and the managed fields that they write. */
import { type ConformanceCase, requests, scenario } from "../conformance_case.ts";
import type { Call, CaseRun } from "../case_run.ts";
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
  return requests(name, (run) => {
    const data = { a: "1", b: "2", "x.y": "3" };
    return [
      { path: at(run, "configmaps"), body: configMap("a", data, { labels: { one: "1", two: "2" } }) },
      ...bodies.map((body) => patch(at(run, "configmaps", "a"), type, body)),
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
  ofConfigMap("JSON patch: invalid patches", "json", [
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
  ofConfigMap("JSON patch: results that are invalid objects", "json", [
    [{ op: "replace", path: "/data", value: [] }],
    [{ op: "replace", path: "/metadata/name", value: "b" }],
    [{ op: "add", path: "/data/bad key", value: "x" }],
    [{ op: "remove", path: "/metadata" }],
    [{ op: "replace", path: "/kind", value: "Secret" }],
    [{ op: "add", path: "/unknown", value: "x" }],
    [{ op: "replace", path: "/metadata/uid", value: "x" }],
    [{ op: "test", path: "/metadata/resourceVersion", value: "1" }],
  ]),
  requests("JSON patch: lists", (run) => {
    const path = at(run, "services");
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
  ofConfigMap("merge patch: invalid patches", "merge", [
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
  requests("merge patch: lists are replaced", (run) => [
    { path: at(run, "services"), body: service("web", { ports: [{ name: "a", port: 1 }, { name: "b", port: 2 }] }) },
    patch(at(run, "services", "web"), "merge", { spec: { ports: [{ name: "c", port: 3 }] } }),
    patch(at(run, "services", "web"), "merge", { spec: { selector: { app: null, other: "x" } } }),
    patch(at(run, "services", "web"), "merge", { spec: { ports: null } }),
  ]),
  scenario("merge patch: a resourceVersion is a precondition", async (run) => {
    const path = at(run, "configmaps");
    const { metadata: { resourceVersion } } = await run.call({ path, body: configMap("a") });
    await run.call(patch(`${path}/a`, "merge", { metadata: { resourceVersion }, data: { x: "1" } }));
    await run.call(patch(`${path}/a`, "merge", { metadata: { resourceVersion }, data: { x: "2" } }));
  }),
  requests("patches of objects that do not exist", (run) => [
    patch(at(run, "configmaps", "a"), "merge", { data: {} }),
    patch(at(run, "configmaps", "a"), "json", []),
    patch(at(run, "configmaps", "a"), "strategic", { data: {} }),
    { method: "PATCH", path: at(run, "configmaps"), type: types.merge, body: {} },
  ]),
  requests("patches in unsupported formats", (run) => [
    { path: at(run, "configmaps"), body: configMap("a") },
    { method: "PATCH", path: at(run, "configmaps", "a"), type: "application/json", body: {} },
    { method: "PATCH", path: at(run, "configmaps", "a"), type: "text/plain", body: "x" },
    { method: "PATCH", path: at(run, "configmaps", "a"), type: "application/merge-patch+yaml", body: "data: {}" },
    { method: "PATCH", path: at(run, "configmaps", "a"), type: `${types.merge}; charset=utf-8`, body: {} },
  ]),
  requests("options of a patch", (run) => [
    { path: at(run, "configmaps"), body: configMap("a") },
    patch(`${at(run, "configmaps", "a")}?dryRun=All`, "merge", { data: { x: "y" } }),
    patch(`${at(run, "configmaps", "a")}?force=true`, "merge", { data: { x: "y" } }),
    patch(`${at(run, "configmaps", "a")}?fieldManager=mine`, "merge", { data: { x: "y" } }),
    patch(`${at(run, "configmaps", "a")}?fieldValidation=Strict`, "merge", { dato: { x: "y" } }),
    patch(`${at(run, "configmaps", "a")}?fieldValidation=Warn`, "merge", { dato: { x: "y" } }),
    patch(`${at(run, "configmaps", "a")}?fieldValidation=Strict`, "strategic", { dato: { x: "y" } }),
    patch(`${at(run, "configmaps", "a")}?fieldValidation=Strict`, "json", [{ op: "add", path: "/dato", value: 1 }]),
    patch(`${at(run, "configmaps", "a")}?fieldValidation=Strict`, "merge", '{"data":{"a":"1","a":"2"}}'),
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
    ["rejects an item without its key", { spec: { ports: [{ name: "x" }] } }],
    ["rejects an unknown directive", { spec: { selector: { $patch: "shred" } } }],
    ["rejects a value of the wrong type", { spec: { ports: "none" } }],
    ["deletes with null", { spec: { selector: null, sessionAffinity: null } }],
    ["retains keys", { spec: { $retainKeys: ["ports", "type"], type: "ClusterIP" } }],
  ] as const).map(([what, body]) =>
    requests(`strategic merge patch: ${what}`, (run) => [
      {
        path: at(run, "services"),
        body: {
          ...service("web", twoPorts),
          metadata: { name: "web", finalizers: ["example.com/a", "example.com/b"] },
        },
      },
      patch(at(run, "services", "web"), "strategic", body),
      patch(at(run, "services", "web"), "merge", { metadata: { finalizers: null } }),
    ])
  ),
];

function apply(run: CaseRun, manager: string, body: Body, query = ""): Call {
  const { name } = body["metadata"] as { readonly name: string };
  const plural = `${body["kind"]}s`.toLowerCase().replace(/sss$/, "sses");
  const apiVersion = `${body["apiVersion"]}`;
  const resource = apiVersion === "v1" ? plural : `${apiVersion}/${plural}`;
  return patch(`${at(run, resource, name)}?fieldManager=${manager}${query}`, "apply", body);
}

const applies: readonly ConformanceCase[] = [
  requests("apply creates, changes, and removes fields that are no longer applied", (run) => [
    apply(run, "one", configMap("a", { a: "1", b: "2" }, { labels: { x: "y" } })),
    apply(run, "one", configMap("a", { a: "1", b: "2" }, { labels: { x: "y" } })),
    apply(run, "one", configMap("a", { a: "3" })),
    { method: "GET", path: at(run, "configmaps", "a") },
  ]),
  requests("apply: two managers, a conflict, force", (run) => [
    apply(run, "one", configMap("a", { a: "1", shared: "x" })),
    apply(run, "two", configMap("a", { b: "2", shared: "x" })),
    apply(run, "two", configMap("a", { a: "2", b: "2", shared: "y" })),
    apply(run, "two", configMap("a", { a: "2", b: "2", shared: "y" }), "&force=true"),
    apply(run, "one", configMap("a", { a: "1" })),
    apply(run, "one", configMap("a", {})),
    apply(run, "two", configMap("a", {})),
  ]),
  requests("apply after an update: the manager of the update owns its fields", (run) => [
    { path: `${at(run, "configmaps")}?fieldManager=creator`, body: configMap("a", { a: "1" }) },
    apply(run, "one", configMap("a", { a: "2" })),
    apply(run, "one", configMap("a", { a: "1" })),
    patch(`${at(run, "configmaps", "a")}?fieldManager=patcher`, "merge", { data: { a: "9", c: "3" } }),
    apply(run, "one", configMap("a", { a: "1" })),
    apply(run, "one", configMap("a", { a: "1" }), "&force=true"),
    patch(`${at(run, "configmaps", "a")}?fieldManager=patcher`, "merge", { data: { c: null } }),
  ]),
  requests("apply of lists by key, sets and maps", (run) => [
    apply(run, "one", service("web", { ports: [{ name: "a", port: 1, protocol: "TCP" }] })),
    apply(run, "two", service("web", { ports: [{ name: "b", port: 2, protocol: "TCP" }] })),
    apply(run, "two", service("web", { ports: [{ name: "a", port: 1, protocol: "UDP" }] })),
    apply(run, "one", service("web", { ports: [] })),
    apply(run, "one", configMap("a", {}, { finalizers: ["example.com/a"] })),
    apply(run, "two", configMap("a", {}, { finalizers: ["example.com/b"] })),
    apply(run, "one", configMap("a", {}, { finalizers: [] })),
    apply(run, "two", configMap("a", {}, { finalizers: [] })),
  ]),
  requests("apply: requests that are rejected", (run) => [
    { ...apply(run, "one", configMap("a")), path: at(run, "configmaps", "a") },
    apply(run, "one", configMap("a", {}, { managedFields: [{ manager: "x" }] })),
    apply(run, "one", { ...configMap("a"), apiVersion: "v2" }),
    { ...apply(run, "one", configMap("a")), body: { metadata: { name: "a" } } },
    { ...apply(run, "one", configMap("a")), body: configMap("b") },
    { ...apply(run, "one", configMap("a")), body: "apiVersion: [" },
    { ...apply(run, "one", configMap("a")), body: [] },
    { ...apply(run, "one", configMap("a")), body: { ...configMap("a"), kind: "Secret" } },
    apply(run, "one", configMap("a", {}, { resourceVersion: "1" })),
    apply(run, "one", configMap("a", {}, { uid: "1" })),
    apply(run, "one", { ...configMap("a"), unknown: 1 }),
    apply(run, "one", configMap("a", { a: 1 })),
    apply(run, "one", service("web", { ports: [{ port: 1 }, { port: 1 }] })),
    apply(run, "one", service("web", { ports: "x" })),
    apply(run, "one", configMap("a", {}, { namespace: "other" })),
    apply(run, "one", service("web", { ports: [{ port: 1 }], typo: 1 }), "&fieldValidation=Strict"),
    apply(run, "one", configMap("b", { "bad key": "x" })),
  ]),
  requests("apply in YAML, and without a name", (run) => [
    {
      ...apply(run, "one", configMap("a")),
      body: "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: |\n    text\n",
    },
    { ...apply(run, "one", configMap("a")), body: "apiVersion: v1\nkind: ConfigMap\ndata:\n  a: b\n" },
    {
      ...apply(run, "one", configMap("a")),
      body: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: '1', a: '2'}\n",
    },
  ]),
  scenario("apply: uid and resourceVersion are preconditions", async (run) => {
    const { metadata } = await run.call(apply(run, "one", configMap("a", { a: "1" })));
    const { uid, resourceVersion } = metadata;
    await run.call(apply(run, "one", configMap("a", { a: "2" }, { uid, resourceVersion })));
    await run.call(apply(run, "one", configMap("a", { a: "3" }, { resourceVersion })));
    await run.call(apply(run, "one", configMap("a", { a: "3" }, { uid: "another" })));
  }),
  requests("apply as a dry run", (run) => [
    apply(run, "one", configMap("a"), "&dryRun=All"),
    { path: at(run, "configmaps", "a") },
    apply(run, "one", configMap("a")),
    apply(run, "one", configMap("a", { x: "y" }), "&dryRun=All"),
    { path: at(run, "configmaps", "a") },
  ]),
  requests("apply of an Ingress, whose lists are atomic", (run) => [
    { ...patch(`${at(run, "networking.k8s.io/v1/ingresses", "a")}?fieldManager=one`, "apply", ingress("a")) },
    {
      ...patch(
        `${at(run, "networking.k8s.io/v1/ingresses", "a")}?fieldManager=two`,
        "apply",
        ingress("a", { rules: [{ host: "other.example" }] }),
      ),
    },
  ]),
  requests("apply after client-side apply", (run) => [
    {
      path: `${at(run, "configmaps")}?fieldManager=kubectl-client-side-apply`,
      body: configMap("a", { a: "1", b: "2" }, {
        annotations: {
          "kubectl.kubernetes.io/last-applied-configuration":
            '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"1","b":"2"}}\n',
        },
      }),
    },
    apply(run, "kubectl", configMap("a", { a: "1" })),
    apply(run, "kubectl", configMap("a", { a: "3" }), "&force=true"),
  ]),
];

export const patchCases: readonly ConformanceCase[] = [...json, ...merge, ...strategic, ...applies];
