/** Tests of the paths and values of a change. */
import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { changedFields } from "./mod.ts";

const metadata = { name: "web", namespace: "default", resourceVersion: "1", generation: 1 };

test("changedFields() names fields, elements of keyed lists and keys with dots, with both values", () => {
  const old = {
    metadata: { ...metadata, annotations: { "a.b/c": "1", gone: "x" } },
    spec: { replicas: 2, template: { containers: [{ name: "app", image: "a:1" }, { name: "side", image: "b:1" }] } },
    status: { conditions: [{ type: "Ready", status: "False" }], ports: [80, 81] },
  };
  const current = {
    metadata: { ...metadata, resourceVersion: "2", generation: 2, annotations: { "a.b/c": "2" } },
    spec: { replicas: 5, paused: true, template: { containers: [{ name: "app", image: "a:2" }] } },
    status: { conditions: [{ type: "Ready", status: "True" }], ports: [80, 443, 444] },
  };
  assertEquals(changedFields(old, current).fields, [
    { path: 'metadata.annotations["a.b/c"]', from: "1", to: "2" },
    { path: "metadata.annotations.gone", from: "x" },
    { path: "spec.replicas", from: 2, to: 5 },
    { path: "spec.paused", to: true },
    { path: "spec.template.containers[name=app].image", from: "a:1", to: "a:2" },
    { path: "spec.template.containers[name=side]", from: { name: "side", image: "b:1" } },
    { path: "status.conditions[type=Ready].status", from: "False", to: "True" },
    { path: "status.ports[1]", from: 81, to: 443 },
    { path: "status.ports[2]", to: 444 },
  ]);
});

test("changedFields() of equal objects, and of the server's bookkeeping, is empty", () => {
  const current = {
    metadata: { ...metadata, resourceVersion: "9", managedFields: [{}] },
    spec: { a: [1, { b: null }] },
  };
  assertEquals(changedFields({ metadata, spec: { a: [1, { b: null }] } }, current), { fields: [], more: 0 });
});

test("changedFields() bounds the number of fields, long texts and large values", () => {
  const wide = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`field${index}`, index]));
  const { fields, more } = changedFields({ metadata, spec: {} }, { metadata, spec: wide });
  assertEquals([fields.length, more], [24, 976]);
  const [text, large] = changedFields(
    { metadata, a: "", b: 0 },
    { metadata, a: "x".repeat(10_000), b: wide },
  ).fields;
  assertEquals([(text?.to as string).length, large?.to], [257, "{… 1000 fields}"]);
  let [left, right]: [object, object] = [{ value: 1 }, { value: 2 }];
  for (let depth = 0; depth < 5_000; depth++) [left, right] = [{ a: left }, { a: right }];
  assertEquals(changedFields(left, right).fields.length, 1);
});

test("changedFields() masks what stands under a secret name, and all of a Secret but its metadata", () => {
  const { fields } = changedFields(
    { metadata, spec: { password: "old", env: [{ name: "API_TOKEN", value: "one" }] } },
    { metadata, spec: { password: "new", env: [{ name: "API_TOKEN", value: "two" }] } },
  );
  assertEquals(fields, [
    { path: "spec.password", from: "[masked]", to: "[masked]" },
    { path: "spec.env[name=API_TOKEN].value", from: "[masked]", to: "[masked]" },
  ]);
  const secret = changedFields(
    { metadata: { ...metadata, labels: { a: "1" } }, data: { key: "b2xk" } },
    {
      metadata: { ...metadata, labels: { a: "2" }, annotations: { copy: "bmV3" } },
      data: { key: "bmV3", other: "eA==" },
    },
    true,
  );
  assertEquals(secret.fields, [
    { path: "metadata.labels.a", from: "1", to: "2" },
    { path: "metadata.annotations", to: "[masked]" },
    { path: "data.key", from: "[masked]", to: "[masked]" },
    { path: "data.other", to: "[masked]" },
  ]);
  assert(!JSON.stringify(secret).includes("bmV3"));
});
