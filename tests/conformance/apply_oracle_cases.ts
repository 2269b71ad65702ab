/**
 * Writes for the apply oracle, one after another on one object: typical writes of users and controllers to Deployments,
 * Services, ConfigMaps and custom resources, and their conflicts.
 */
import type { Json, JsonObject } from "../../src/apiserver/model/mod.ts";
import type { Write } from "./apply_oracle.ts";

/** Writes to one object. */
export interface OracleCase {
  readonly name: string;
  readonly kind: "Deployment" | "Service" | "ConfigMap" | "Widget";
  readonly writes: readonly Write[];
}

type Body = Record<string, Json>;
const metadata = { name: "web" };

function deployment(spec: Body, meta: Body = {}): JsonObject {
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { ...metadata, ...meta }, spec };
}

function service(spec: Body): JsonObject {
  return { apiVersion: "v1", kind: "Service", metadata, spec };
}

function configMap(data: Body, meta: Body = {}): JsonObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { ...metadata, ...meta }, data };
}

function widget(body: Body, meta: Body = {}): JsonObject {
  return { apiVersion: "oracle.example.dev/v1", kind: "Widget", metadata: { ...metadata, ...meta }, ...body };
}

const selector = { matchLabels: { app: "web" } };

function podTemplate(...containers: Body[]): Json {
  return { metadata: { labels: { app: "web" } }, spec: { containers } };
}

const main = { name: "main", image: "example.invalid/web:1" };
const fullMain: Body = {
  ...main,
  env: [{ name: "A", value: "1" }, { name: "B", value: "2" }],
  ports: [{ containerPort: 80 }, { containerPort: 53, protocol: "UDP", name: "dns" }],
  resources: { requests: { cpu: "100m" } },
};
const sidecar = { name: "sidecar", image: "example.invalid/side:1" };
const whole = deployment({ replicas: 2, selector, template: podTemplate(fullMain, sidecar) });
const smaller = deployment({ selector, template: podTemplate(main) });

const deployments: readonly OracleCase[] = [
  {
    name: "two managers apply, share fields and remove them",
    kind: "Deployment",
    writes: [
      { how: "create", manager: "kubectl-create", body: whole },
      { how: "apply", manager: "alice", body: deployment({ selector, template: podTemplate(main) }) },
      { how: "apply", manager: "alice", body: deployment({ replicas: 5, selector, template: podTemplate(main) }) },
      {
        how: "apply",
        manager: "alice",
        isForced: true,
        body: deployment({ replicas: 5, selector, template: podTemplate(main) }),
      },
      { how: "apply", manager: "bob", body: deployment({ replicas: 5 }) },
      { how: "apply", manager: "bob", body: deployment({ replicas: 6 }) },
      { how: "apply", manager: "alice", body: smaller },
      { how: "apply", manager: "bob", body: deployment({}) },
    ],
  },
  {
    name: "apply creates an object and removes items and fields of items",
    kind: "Deployment",
    writes: [
      { how: "apply", manager: "alice", body: whole },
      { how: "apply", manager: "alice", body: whole },
      {
        how: "apply",
        manager: "bob",
        body: deployment({ template: podTemplate({ name: "main", env: [{ name: "C", value: "3" }] }) }),
      },
      { how: "apply", manager: "alice", body: smaller },
      { how: "apply", manager: "bob", body: deployment({ template: podTemplate({ name: "main", env: [] }) }) },
      { how: "apply", manager: "carol", body: deployment({ strategy: { rollingUpdate: { maxSurge: 1 } } }) },
      {
        how: "apply",
        manager: "carol",
        isForced: true,
        body: deployment({ strategy: { rollingUpdate: { maxSurge: 1 } } }),
      },
    ],
  },
  {
    name: "patches of each type own the fields that they change",
    kind: "Deployment",
    writes: [
      { how: "apply", manager: "alice", body: whole },
      {
        how: "strategic",
        manager: "kubectl-set",
        body: { spec: { template: { spec: { containers: [{ name: "main", image: "x:2" }] } } } },
      },
      {
        how: "merge",
        manager: "kubectl-label",
        body: { metadata: { labels: { a: "b" }, annotations: { note: "c" } } },
      },
      { how: "json", manager: "patcher", body: [{ op: "replace", path: "/spec/replicas", value: 7 }] },
      {
        how: "strategic",
        manager: "kubectl-edit",
        body: { spec: { template: { spec: { containers: [{ name: "sidecar", $patch: "delete" }] } } } },
      },
      { how: "merge", manager: "kubectl-label", body: { metadata: { labels: null, annotations: { note: null } } } },
      { how: "apply", manager: "alice", body: whole },
      { how: "apply", manager: "alice", isForced: true, body: whole },
      { how: "json", manager: "patcher", body: [{ op: "test", path: "/spec/replicas", value: 99 }] },
      { how: "json", manager: "patcher", body: [{ op: "remove", path: "/spec/nothing" }] },
    ],
  },
  {
    name: "kubectl changes from client-side to server-side apply",
    kind: "Deployment",
    writes: [
      {
        how: "create",
        manager: "kubectl-client-side-apply",
        body: deployment({ replicas: 1, selector, template: podTemplate(main) }, {
          annotations: {
            "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify(
              deployment({ replicas: 1, selector, template: podTemplate(main) }, { annotations: {} }),
            ),
          },
        }),
      },
      {
        how: "apply",
        manager: "kubectl",
        body: deployment({ replicas: 3, selector, template: podTemplate(sidecar, main) }),
      },
      { how: "merge", manager: "autoscaler", body: { spec: { replicas: 9 } } },
      { how: "apply", manager: "kubectl", body: deployment({ replicas: 3, selector, template: podTemplate(main) }) },
      { how: "apply", manager: "other", body: deployment({ paused: true }) },
    ],
  },
  {
    name: "invalid values are distinguished from conflicts",
    kind: "Deployment",
    writes: [
      { how: "apply", manager: "alice", body: deployment({ replicas: "two", selector, template: podTemplate(main) }) },
      { how: "apply", manager: "alice", body: deployment({ nothing: 1, selector, template: podTemplate(main) }) },
      { how: "apply", manager: "alice", body: deployment({ selector, template: podTemplate(main, main) }) },
      { how: "apply", manager: "alice", body: { ...smaller, kind: "ReplicaSet" } },
      { how: "apply", manager: "alice", body: smaller },
      { how: "apply", manager: "alice", body: { ...smaller, metadata: { ...metadata, managedFields: [] } } },
    ],
  },
];

const ports: Json = [{ name: "http", port: 80 }, { name: "dns", port: 53, protocol: "UDP" }];

const services: readonly OracleCase[] = [
  {
    name: "ports are identified by number and protocol",
    kind: "Service",
    writes: [
      { how: "apply", manager: "alice", body: service({ selector: { app: "web" }, ports }) },
      { how: "apply", manager: "bob", body: service({ ports: [{ name: "https", port: 443, protocol: "TCP" }] }) },
      { how: "apply", manager: "bob", body: service({ ports: [{ name: "web", port: 80, protocol: "TCP" }] }) },
      {
        how: "apply",
        manager: "alice",
        body: service({ selector: { app: "web" }, ports: [{ name: "http", port: 80 }] }),
      },
      { how: "merge", manager: "patcher", body: { spec: { selector: { app: "other" } } } },
      {
        how: "apply",
        manager: "alice",
        body: service({ selector: { app: "web" }, ports: [{ name: "http", port: 80 }] }),
      },
      { how: "strategic", manager: "patcher", body: { spec: { ports: [{ port: 8080, name: "alt" }] } } },
      { how: "apply", manager: "alice", body: service({ ports: [{ port: 80 }, { port: 80, protocol: "TCP" }] }) },
    ],
  },
];

const configMaps: readonly OracleCase[] = [
  {
    name: "keys of any name are shared and removed",
    kind: "ConfigMap",
    writes: [
      { how: "apply", manager: "alice", body: configMap({ a: "1", b: "2" }, { labels: { x: "y" } }) },
      { how: "apply", manager: "bob", body: configMap({ a: "1", c: "3" }) },
      { how: "apply", manager: "alice", body: configMap({ b: "2" }) },
      { how: "update", manager: "editor", body: (live) => ({ ...live, data: { a: "other", constructor: "1" } }) },
      { how: "apply", manager: "bob", body: configMap({ a: "1" }) },
      { how: "apply", manager: "bob", isForced: true, body: configMap({ a: "1" }) },
      { how: "apply", manager: "bob", body: configMap({}) },
    ],
  },
  {
    name: "managed fields are deleted, and more managers write than are stored",
    kind: "ConfigMap",
    writes: [
      { how: "create", manager: "maker", body: configMap({ a: "1" }) },
      { how: "update", manager: "eraser", body: (live) => reset(live) },
      { how: "merge", manager: "patcher", body: { data: { b: "2" } } },
      { how: "apply", manager: "alice", body: configMap({ b: "2", c: "3" }) },
      ...Array.from({ length: 13 }, (_, index): Write => ({
        how: "merge",
        manager: `writer-${index}`,
        body: { data: { [`key-${index}`]: "v" } },
      })),
      { how: "apply", manager: "alice", body: configMap({ b: "2", c: "3" }) },
      { how: "apply", manager: "dave", body: configMap({ b: "2" }) },
    ],
  },
];

function reset(live: JsonObject): JsonObject {
  const held = live["metadata"];
  return {
    ...live,
    metadata: { ...(typeof held === "object" && !Array.isArray(held) ? held : {}), managedFields: [] },
  };
}

const gadgets: Json = [{ name: "one", value: "1" }, { name: "two", tags: ["a", "b"] }];

const widgets: readonly OracleCase[] = [
  {
    name: "a custom resource with each type of list",
    kind: "Widget",
    writes: [
      {
        how: "apply",
        manager: "alice",
        body: widget({
          spec: {
            size: 3,
            tags: ["x", "y"],
            gadgets,
            ports: [{ port: 80 }, { port: 80, protocol: "UDP" }],
            args: ["a", "b"],
            selector: { app: "web" },
            free: { deep: { er: [1, 2] }, n: 1.5 },
          },
        }),
      },
      {
        how: "apply",
        manager: "bob",
        body: widget({ spec: { tags: ["y", "z"], args: ["c"], selector: { app: "other" } } }),
      },
      {
        how: "apply",
        manager: "bob",
        isForced: true,
        body: widget({ spec: { tags: ["y", "z"], args: ["c"], free: { deep: { other: null } } } }),
      },
      {
        how: "apply",
        manager: "alice",
        body: widget({ spec: { size: 3, tags: ["x"], gadgets: [{ name: "two", tags: ["b"] }] } }),
      },
      { how: "merge", manager: "controller", subresource: "status", body: { status: { ready: 1 }, spec: { size: 9 } } },
      { how: "apply", manager: "alice", subresource: "status", body: widget({ status: { ready: 2 } }) },
      {
        how: "apply",
        manager: "alice",
        subresource: "status",
        isForced: true,
        body: widget({ status: { ready: 2 }, spec: { size: 4 } }),
      },
      { how: "update", manager: "editor", body: (live) => ({ ...live, spec: { gadgets: [], tags: ["q"], free: {} } }) },
      {
        how: "json",
        manager: "patcher",
        body: [{ op: "add", path: "/spec/gadgets/-", value: { name: "new", value: null } }],
      },
      { how: "apply", manager: "alice", body: widget({ spec: { tags: ["q", "q"] } }) },
      { how: "apply", manager: "alice", body: widget({ spec: { gadgets: [{ value: "no name" }] } }) },
      { how: "apply", manager: "alice", body: widget({ spec: {} }) },
    ],
  },
];

/** All of them. */
export const oracleCases: readonly OracleCase[] = [...deployments, ...services, ...configMaps, ...widgets];
