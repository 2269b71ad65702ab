import { assertEquals, test } from "../../tests/testing.ts";
import type { KubeObject, ManagedFieldsEntry } from "../api/mod.ts";
import { surplusOf } from "./_ownership.ts";

function managed(entries: readonly ManagedFieldsEntry[]): KubeObject {
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "a", managedFields: entries } };
}

function applied(fieldsV1: Readonly<Record<string, unknown>>, manager = "foo"): ManagedFieldsEntry {
  return { manager, operation: "Apply", fieldsV1 };
}

const wanted = {
  metadata: { labels: { app: "a" }, finalizers: ["x"] },
  spec: { template: { spec: { containers: [{ name: "nginx", ports: [{ containerPort: 80 }] }] } } },
};

test("surplusOf(): nothing while every owned field is still wanted", () => {
  const fields = {
    "f:metadata": { "f:labels": { "f:app": {} }, "f:finalizers": { 'v:"x"': {} } },
    "f:spec": {
      "f:template": {
        "f:spec": {
          "f:containers": {
            'k:{"name":"nginx"}': {
              ".": {},
              "f:name": {},
              "f:ports": { 'k:{"containerPort":80,"protocol":"TCP"}': { ".": {}, "f:containerPort": {} } },
            },
          },
        },
      },
    },
  };
  assertEquals(surplusOf(managed([applied(fields)]), wanted, "foo"), []);
});

const leftovers: readonly (readonly [string, string, Readonly<Record<string, unknown>>])[] = [
  ["a label", "metadata.labels.old", { "f:metadata": { "f:labels": { "f:app": {}, "f:old": {} } } }],
  ["a finalizer", 'metadata.finalizers."y"', { "f:metadata": { "f:finalizers": { 'v:"y"': {} } } }],
  ["a container", 'spec.template.spec.containers.{"name":"side"}', {
    "f:spec": { "f:template": { "f:spec": { "f:containers": { 'k:{"name":"side"}': { ".": {} } } } } },
  }],
  ["a whole branch", "spec.replicas", { "f:spec": { "f:replicas": {} } }],
];

for (const [what, field, fields] of leftovers) {
  test(`surplusOf(): ${what} that is not wanted any more is noticed`, () => {
    assertEquals(surplusOf(managed([applied(fields)]), wanted, "foo").map(({ field }) => field), [field]);
    assertEquals(surplusOf(managed([applied(fields, "somebody-else")]), wanted, "foo"), []);
  });
}

test("surplusOf(): a map that is owned as a whole and holds a key that is not wanted any more is noticed", () => {
  const selected = { f: { "f:spec": { "f:nodeSelector": {}, "f:emptyDir": {}, "f:args": {} } } }.f;
  const live = (spec: object) => ({ ...managed([applied(selected)]), spec });
  const spec = { nodeSelector: { disk: "ssd" }, emptyDir: {}, args: ["x"], none: undefined };
  assertEquals(surplusOf(live(spec), { spec }, "foo"), []);
  const larger = { ...spec, nodeSelector: { disk: "ssd", zone: "a" } };
  assertEquals(surplusOf(live(larger), { spec }, "foo"), [
    { field: "spec.nodeSelector", live: larger.nodeSelector, wanted: spec.nodeSelector },
  ]);
});

test("surplusOf(): a key in a map inside a list that is owned as a whole is noticed; `constructor` is a key", () => {
  const entry = applied({ "f:spec": { "f:rules": {} } });
  const live = { ...managed([entry]), spec: { rules: [{ host: "a", http: { constructor: "x" } }] } };
  assertEquals(surplusOf(live, { spec: { rules: [{ host: "a", http: {} }] } }, "foo").map(({ field }) => field), [
    "spec.rules",
  ]);
});
