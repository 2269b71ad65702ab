import { assertEquals, test } from "../../../tests/testing.ts";
import type { JsonObject } from "../model/mod.ts";
import { created, kindNamed, updated } from "./testing/kinds_testing.ts";

const containers = [{ name: "main", image: "example.invalid/main" }];
const template = { metadata: { labels: { app: "a" } }, spec: { containers } };
const selector = { matchLabels: { app: "a" } };
const workload = { spec: { selector, template } };
const once = { spec: { template: { spec: { containers, restartPolicy: "Never" } } } };
const service = { spec: { ports: [{ port: 80 }] } };
const role = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "a" };

interface Change {
  readonly what: string;
  readonly kind: string;
  readonly apiVersion: string;
  readonly object: JsonObject;
  /** A change of top-level fields of the object, or of fields of its spec. */
  readonly change: JsonObject;
  /** The fields of the expected errors. */
  readonly fields: readonly string[];
  /** @default none: the kind has no generation */
  readonly generation?: number;
}

const changes: readonly Change[] = [
  {
    what: "the selector of a Deployment",
    kind: "Deployment",
    apiVersion: "apps/v1",
    object: workload,
    change: { spec: { selector: { matchLabels: { app: "b" } } } },
    fields: ["spec.template.metadata.labels", "spec.selector"],
    generation: 2,
  },
  {
    what: "the replicas of a Deployment",
    kind: "Deployment",
    apiVersion: "apps/v1",
    object: workload,
    change: { spec: { replicas: 3 } },
    fields: [],
    generation: 2,
  },
  {
    what: "the annotations of a Deployment",
    kind: "Deployment",
    apiVersion: "apps/v1",
    object: workload,
    change: { metadata: { name: "a", annotations: { a: "b" } } },
    fields: [],
    generation: 2,
  },
  {
    what: "the annotations of a ReplicaSet",
    kind: "ReplicaSet",
    apiVersion: "apps/v1",
    object: workload,
    change: { metadata: { name: "a", annotations: { a: "b" } } },
    fields: [],
    generation: 1,
  },
  {
    what: "the labels of an EndpointSlice",
    kind: "EndpointSlice",
    apiVersion: "discovery.k8s.io/v1",
    object: { addressType: "IPv4", endpoints: [] },
    change: { metadata: { name: "a", labels: { a: "b" } } },
    fields: [],
    generation: 2,
  },
  {
    what: "the addresses of an EndpointSlice",
    kind: "EndpointSlice",
    apiVersion: "discovery.k8s.io/v1",
    object: { addressType: "IPv4", endpoints: [] },
    change: { addressType: "IPv6" },
    fields: ["addressType"],
    generation: 2,
  },
  {
    what: "the service of a StatefulSet",
    kind: "StatefulSet",
    apiVersion: "apps/v1",
    object: { spec: { ...workload.spec, serviceName: "a" } },
    change: { spec: { serviceName: "b" } },
    fields: ["spec"],
    generation: 2,
  },
  {
    what: "the template of a Job",
    kind: "Job",
    apiVersion: "batch/v1",
    object: once,
    change: { spec: { completions: 2 } },
    fields: ["spec.completions"],
    generation: 2,
  },
  {
    what: "the data of a ConfigMap that is immutable",
    kind: "ConfigMap",
    apiVersion: "v1",
    object: { immutable: true, data: { a: "b" } },
    change: { immutable: false, data: {} },
    fields: ["immutable", "data"],
  },
  {
    what: "the type of a Secret",
    kind: "Secret",
    apiVersion: "v1",
    object: { type: "Opaque" },
    change: { type: "example.com/other" },
    fields: ["type"],
  },
  {
    what: "the role of a RoleBinding",
    kind: "RoleBinding",
    apiVersion: "rbac.authorization.k8s.io/v1",
    object: { roleRef: role, subjects: [] },
    change: { roleRef: { ...role, name: "b" } },
    fields: ["roleRef"],
  },
  {
    what: "the controller of an IngressClass",
    kind: "IngressClass",
    apiVersion: "networking.k8s.io/v1",
    object: { spec: { controller: "a.example/b" } },
    change: { spec: { controller: "a.example/c" } },
    fields: ["spec.controller"],
    generation: 2,
  },
  {
    what: "the value of a PriorityClass",
    kind: "PriorityClass",
    apiVersion: "scheduling.k8s.io/v1",
    object: { value: 1 },
    change: { value: 2 },
    fields: ["value"],
    generation: 1,
  },
  {
    what: "the handler of a RuntimeClass",
    kind: "RuntimeClass",
    apiVersion: "node.k8s.io/v1",
    object: { handler: "a" },
    change: { handler: "b" },
    fields: ["handler"],
  },
  {
    what: "the ports of a Service",
    kind: "Service",
    apiVersion: "v1",
    object: service,
    change: { spec: { ports: [{ port: 81 }] } },
    fields: [],
  },
  {
    what: "the image of a Pod",
    kind: "Pod",
    apiVersion: "v1",
    object: { spec: { containers } },
    change: { spec: { containers: [{ name: "main", image: "example.invalid/other" }] } },
    fields: [],
    generation: 2,
  },
  {
    what: "the node of a Pod",
    kind: "Pod",
    apiVersion: "v1",
    object: { spec: { containers } },
    change: { spec: { nodeName: "a" } },
    fields: ["spec"],
    generation: 2,
  },
];

for (const { what, kind, apiVersion, object, change, fields, generation } of changes) {
  test(`an update of ${what} is ${fields.length === 0 ? "accepted" : "rejected"}`, () => {
    const known = kindNamed(kind, apiVersion);
    const { object: old, problems } = created(known, object);
    assertEquals(problems, []);
    const spec = change["spec"] === undefined ? {} : { spec: { ...old.spec, ...Object(change["spec"]) } };
    const next = updated(known, { ...old, ...change, ...spec }, old);
    assertEquals(next.problems.map((problem) => problem.slice(0, problem.indexOf(":"))), fields);
    assertEquals(next.object.metadata.generation, generation);
  });
}

test("an update of a Service without the allocated fields keeps them", () => {
  const kind = kindNamed("Service", "v1");
  const { object: old } = created(kind, service);
  const { object } = updated(kind, { metadata: old.metadata, ...service }, old);
  assertEquals([object.spec.clusterIP, object.spec.clusterIPs], [old.spec.clusterIP, old.spec.clusterIPs]);
});

test("an update of the status changes only the status", () => {
  for (const [kind, apiVersion] of [["Deployment", "apps/v1"], ["StatefulSet", "apps/v1"], ["DaemonSet", "apps/v1"]]) {
    const known = kindNamed(kind ?? "", apiVersion ?? "");
    const { object: old } = created(known, workload);
    const written = {
      ...old,
      spec: { ...old.spec, minReadySeconds: 9 },
      status: { ...old.status, observedGeneration: 1 },
    };
    assertEquals(updated(known, written, old).object.status, old.status);
    const next = updated(known, written, old, "status").object;
    assertEquals([next.spec, next.status.observedGeneration], [old.spec, 1]);
  }
});
