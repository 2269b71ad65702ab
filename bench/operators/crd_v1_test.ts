import { assertEquals, test } from "../../tests/testing.ts";
import { servedDefinition } from "./crd_v1.ts";

const old = {
  apiVersion: "apiextensions.k8s.io/v1beta1",
  kind: "CustomResourceDefinition",
  metadata: { name: "parts.example.dev" },
  spec: {
    group: "example.dev",
    names: { kind: "Part", plural: "parts" },
    scope: "Namespaced",
    version: "v1",
    additionalPrinterColumns: [{ name: "Size", type: "integer", JSONPath: ".spec.size" }],
    subresources: { status: {} },
    validation: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object" } } } },
  },
};

function versionsOf(document: unknown): unknown {
  const { spec } = servedDefinition(document) as { readonly spec: { readonly versions: unknown } };
  return spec.versions;
}

test("servedDefinition() moves schema, subresources and columns of a v1beta1 definition into its version", () => {
  assertEquals(versionsOf(old), [{
    name: "v1",
    served: true,
    storage: true,
    subresources: { status: {} },
    schema: { openAPIV3Schema: old.spec.validation.openAPIV3Schema },
    additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
  }]);
});

test("servedDefinition() keeps all fields where a schema is missing or a level has no type", () => {
  const kept = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  const untyped = { openAPIV3Schema: { type: "object", properties: { spec: { required: ["size"] } } } };
  for (const validation of [undefined, untyped]) {
    const [version] = versionsOf({ ...old, spec: { ...old.spec, validation } }) as readonly { schema: unknown }[];
    assertEquals(version?.schema, kept);
  }
});

test("servedDefinition() keeps a v1 definition but for labels that are templates, and leaves other objects out", () => {
  const present = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "parts.example.dev", labels: { app: "{{ .Release.Name }}", part: "crd" } },
    spec: { a: 1 },
  };
  const metadata = { name: "parts.example.dev", labels: { part: "crd" } };
  assertEquals(servedDefinition(present), { ...present, metadata });
  assertEquals(servedDefinition({ apiVersion: "v1", kind: "Namespace", metadata }), undefined);
});
