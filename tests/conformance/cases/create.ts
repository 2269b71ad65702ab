/** Creation: names, bodies that are wrong in every way, dry runs, field validation. */
import { type ConformanceCase, requests, scenario } from "../conformance_case.ts";
import { at, configMap, deployment, pod, secret, service } from "./_objects.ts";

const names: readonly ConformanceCase[] = [
  requests("a second object with the same name is rejected", (run) => [
    { path: at(run, "configmaps"), body: configMap("a") },
    { path: at(run, "configmaps"), body: configMap("a", { other: "text" }) },
  ]),
  requests("a missing name", (run) => [{ path: at(run, "configmaps"), body: { data: {} } }]),
  requests("an empty name with a generateName", (run) => [
    { path: at(run, "configmaps"), body: { metadata: { name: "", generateName: "made-" } } },
  ]),
  requests("a name and a generateName", (run) => [
    { path: at(run, "configmaps"), body: { metadata: { name: "given", generateName: "made-" } } },
  ]),
  requests("a generateName that results in an invalid name", (run) => [
    { path: at(run, "configmaps"), body: { metadata: { generateName: "Made_" } } },
    { path: at(run, "services"), body: { ...service("x"), metadata: { generateName: `${"a".repeat(70)}-` } } },
  ]),
  ...["UPPER", "-a", "a_b", "a..b", "a/b", "%", ".", "..", "a".repeat(254)].map((name) =>
    requests(`the name ${name.slice(0, 20)} of a ConfigMap`, (run) => [
      { path: at(run, "configmaps"), body: configMap(name) },
    ])
  ),
  ...["1web", "web.a", "Web", "a".repeat(64), "-"].map((name) =>
    requests(`the name ${name.slice(0, 20)} of a Service`, (run) => [
      { path: at(run, "services"), body: service(name) },
    ])
  ),
  requests("names of Roles may contain other characters", (run) =>
    ["system:a", "A_b", "a%b", "a/b"].map((name) => ({
      path: at(run, "rbac.authorization.k8s.io/v1/roles"),
      body: { metadata: { name }, rules: [] },
    }))),
];

const metadata: readonly ConformanceCase[] = [
  requests("the namespaces of body and path differ", (run) => [
    { path: at(run, "configmaps"), body: configMap("a", {}, { namespace: "other" }) },
    { path: at(run, "configmaps"), body: configMap("a", {}, { namespace: run.namespace }) },
  ]),
  requests("a namespace in a cluster-scoped object", (run) => [
    { path: "/api/v1/nodes?dryRun=All", body: { metadata: { name: run.name("n"), namespace: "default" } } },
  ]),
  requests("metadata that only the server may set", (run) => [
    {
      path: at(run, "configmaps"),
      body: configMap("a", {}, {
        uid: "mine",
        creationTimestamp: "2001-01-01T00:00:00Z",
        deletionTimestamp: "2001-01-01T00:00:00Z",
        deletionGracePeriodSeconds: 5,
        generation: 7,
        selfLink: "/x",
      }),
    },
    { path: at(run, "configmaps"), body: configMap("b", {}, { resourceVersion: "5" }) },
  ]),
  requests("invalid labels and annotations", (run) => [
    { path: at(run, "configmaps"), body: configMap("a", {}, { labels: { "bad key!": "x", ok: "not ok!" } }) },
    { path: at(run, "configmaps"), body: configMap("a", {}, { labels: { ["a".repeat(64)]: "b".repeat(64) } }) },
    { path: at(run, "configmaps"), body: configMap("a", {}, { annotations: { "a/b/c": "" } }) },
    { path: at(run, "configmaps"), body: configMap("a", {}, { labels: { a: 1 } }) },
    { path: at(run, "configmaps"), body: configMap("a", {}, { annotations: { a: "x".repeat(262145) } }) },
  ]),
  requests("invalid finalizers", (run) => [
    { path: at(run, "configmaps"), body: configMap("a", {}, { finalizers: ["plain"] }) },
    { path: at(run, "configmaps"), body: configMap("a", {}, { finalizers: ["a b/c", "x.example/ok"] }) },
    { path: at(run, "configmaps"), body: configMap("a", {}, { finalizers: ["foregroundDeletion", "orphan"] }) },
  ]),
  requests("invalid owner references", (run) => [
    { path: at(run, "configmaps"), body: configMap("a", {}, { ownerReferences: [{}] }) },
    {
      path: at(run, "configmaps"),
      body: configMap("a", {}, {
        ownerReferences: ["x", "y"].map((name) => ({
          apiVersion: "v1",
          kind: "Pod",
          name,
          uid: name,
          controller: true,
        })),
      }),
    },
    {
      path: at(run, "configmaps"),
      body: configMap("a", {}, { ownerReferences: [{ apiVersion: "v1", kind: "Event", name: "x", uid: "x" }] }),
    },
    {
      path: at(run, "configmaps"),
      body: configMap("a", {}, { ownerReferences: [{ apiVersion: "a/b/c", kind: "Pod", name: "x", uid: "x" }] }),
    },
  ]),
];

/** Bodies as text: what they are, and the text. */
const malformed: readonly (readonly [string, string])[] = [
  ["empty", ""],
  ["an incomplete object", '{"apiVersion":"v1"'],
  ["a list", "[]"],
  ["a number", "1"],
  ["null", "null"],
  ["a string", '"text"'],
  ["text after the object", '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}} more'],
  ["a trailing comma", '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a",}}'],
  ["single quotes", "{'apiVersion':'v1'}"],
  [
    "a control character in a string",
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"\u0001"}}',
  ],
  ["a duplicate field", '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"1","a":"2"}}'],
  [
    "an object that is nested too deeply",
    `{"apiVersion":"v1","kind":"ConfigMap","x":${"[".repeat(10_001)}${"]".repeat(10_001)}}`,
  ],
];

const bodies: readonly ConformanceCase[] = [
  ...malformed.map(([what, text]) =>
    requests(`an invalid body: ${what}`, (run) => [{ path: at(run, "configmaps"), body: text }])
  ),
  requests("a body of another kind", (run) => [
    { path: at(run, "configmaps"), body: secret("a") },
    { path: at(run, "configmaps"), body: { ...configMap("a"), apiVersion: "v2" } },
    { path: at(run, "configmaps"), body: { ...configMap("a"), apiVersion: "apps/v1" } },
    { path: at(run, "configmaps"), body: { ...configMap("a"), kind: "Nothing" } },
    { path: at(run, "configmaps"), body: { ...configMap("a"), kind: "configmap" } },
    { path: at(run, "apps/v1/deployments"), body: { ...deployment("a"), apiVersion: "extensions/v1beta1" } },
    { path: at(run, "apps/v1/deployments"), body: { ...deployment("a"), apiVersion: "a/b/c" } },
    { path: at(run, "configmaps"), body: { ...configMap("a"), kind: 5 } },
    { path: at(run, "configmaps"), body: { ...configMap("a"), apiVersion: {} } },
  ]),
  requests("a body without kind or apiVersion", (run) => [
    { path: at(run, "configmaps"), body: { kind: "ConfigMap", metadata: { name: "a" } } },
    { path: at(run, "configmaps"), body: { apiVersion: "v1", metadata: { name: "b" } } },
    { path: at(run, "configmaps"), body: { metadata: { name: "c" } } },
    { path: at(run, "configmaps"), body: {} },
  ]),
  requests("values of the wrong type", (run) => [
    { path: at(run, "configmaps"), body: configMap("a", { a: 1 }) },
    { path: at(run, "configmaps"), body: { ...configMap("a"), data: [] } },
    { path: at(run, "configmaps"), body: { ...configMap("a"), metadata: "text" } },
    { path: at(run, "configmaps"), body: { ...configMap("a"), immutable: "yes" } },
    { path: at(run, "secrets"), body: secret("a", { data: { a: "not base64!" } }) },
    { path: at(run, "apps/v1/deployments"), body: deployment("a", { replicas: "1" }) },
    { path: at(run, "apps/v1/deployments"), body: deployment("a", { replicas: 1.5 }) },
    { path: at(run, "apps/v1/deployments"), body: deployment("a", { replicas: 3_000_000_000 }) },
    { path: at(run, "apps/v1/deployments"), body: deployment("a", { template: [] }) },
    { path: at(run, "services"), body: service("a", { ports: {} }) },
    { path: at(run, "services"), body: service("a", { ports: [{ port: "http" }] }) },
    {
      path: at(run, "pods"),
      body: pod("a", { containers: [{ name: "a", image: "b", resources: { limits: { cpu: "much" } } }] }),
    },
    { path: at(run, "pods"), body: pod("a", { activeDeadlineSeconds: true }) },
    { path: at(run, "configmaps"), body: configMap("a", {}, { creationTimestamp: "yesterday" }) },
  ]),
  requests("fields that are null", (run) => [
    { path: at(run, "configmaps"), body: { ...configMap("a"), data: null, metadata: { name: "a", labels: null } } },
    { path: at(run, "services"), body: service("a", { type: null, sessionAffinity: null }) },
  ]),
  requests("keys that are names of JavaScript properties", (run) => [
    {
      path: at(run, "configmaps"),
      body:
        `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"constructor","labels":{"__proto__":"a"}},"data":{"__proto__":"b","constructor":"c","toString":"d"}}`,
    },
    { path: at(run, "configmaps", "constructor") },
    { path: at(run, "configmaps", "toString") },
    { path: `${at(run, "configmaps")}?labelSelector=toString`, pick: (list) => list.items },
  ]),
  requests("a body in YAML", (run) => [
    {
      path: at(run, "configmaps"),
      type: "application/yaml",
      body: "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: text\n  b: |\n    more\n    lines\n",
    },
    { path: at(run, "configmaps"), type: "application/yaml", body: "a: b\n  c: [" },
    {
      path: at(run, "configmaps"),
      type: "application/yaml",
      body: "apiVersion: v1\nkind: ConfigMap\ndata: {a: yes}\nmetadata: {name: b}\n",
    },
  ]),
  requests("a body that is too large", (run) => [
    { path: at(run, "configmaps"), body: configMap("a", { a: "x".repeat(3 * 1024 * 1024 + 10) }) },
    { path: at(run, "configmaps"), body: configMap("a", { a: "x".repeat(1024 * 1024 + 10) }) },
    { path: at(run, "secrets"), body: secret("a", { stringData: { a: "x".repeat(1024 * 1024 + 10) } }) },
  ]),
];

const fieldValidation: readonly ConformanceCase[] = ["", "Strict", "Warn", "Ignore"].map((mode) =>
  requests(`unknown and duplicate fields with fieldValidation ${mode === "" ? "unset" : mode}`, (run) => {
    const query = `?dryRun=All${mode === "" ? "" : `&fieldValidation=${mode}`}`;
    const unknown = {
      ...deployment("a", {
        replicaz: 1,
        template: { spec: { containers: [{ name: "a", image: "b", imag: "c" }] }, metadata: { labels: { app: "a" } } },
      }),
      extra: {},
    };
    return [
      { path: `${at(run, "apps/v1/deployments")}${query}`, body: unknown },
      {
        path: `${at(run, "configmaps")}${query}`,
        body:
          '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","name":"b"},"data":{"x":"1","x":"2"},"dato":{}}',
      },
      {
        path: `${at(run, "configmaps")}${query}`,
        type: "application/yaml",
        body: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nunknown: 1\ndata:\n  a: '1'\n  a: '2'\n",
      },
    ];
  })
);

const options: readonly ConformanceCase[] = [
  requests("a dry run stores nothing", (run) => [
    { path: `${at(run, "configmaps")}?dryRun=All`, body: configMap("a") },
    { path: at(run, "configmaps", "a") },
    { path: `${at(run, "configmaps")}?dryRun=All`, body: { metadata: { generateName: "a-" } } },
  ]),
  requests("invalid options", (run) => [
    { path: `${at(run, "configmaps")}?dryRun=Some`, body: configMap("a") },
    { path: `${at(run, "configmaps")}?dryRun=`, body: configMap("a") },
    { path: `${at(run, "configmaps")}?fieldValidation=Loud`, body: configMap("b") },
    { path: `${at(run, "configmaps")}?fieldManager=${"m".repeat(129)}`, body: configMap("c") },
    { path: `${at(run, "configmaps")}?fieldManager=a%0Ab`, body: configMap("d") },
    { path: `${at(run, "configmaps")}?unknown=1`, body: configMap("e") },
    { path: `${at(run, "configmaps")}?pretty=true`, body: configMap("f") },
    { path: `${at(run, "configmaps")}?fieldManager=somebody`, body: configMap("g") },
  ]),
  scenario("names generated from generateName are unique", async (run) => {
    const body = { metadata: { generateName: "made-" }, data: { a: "b" } };
    const first = await run.call({ path: at(run, "configmaps"), body });
    await run.call({ path: at(run, "configmaps"), body });
    await run.call({ path: at(run, "configmaps", first.metadata.name) });
    run.note("length of the generated name", 0, first.metadata.name.length);
  }),
];

export const createCases: readonly ConformanceCase[] = [
  ...names,
  ...metadata,
  ...bodies,
  ...fieldValidation,
  ...options,
];
