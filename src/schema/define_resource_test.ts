import {
  assert,
  assertEquals,
  assertStringIncludes,
  assertThrows,
  assertType,
  type Same,
  test,
} from "../../tests/testing.ts";
import { apiVersionOf, type Infer, type Resource } from "../api/mod.ts";
import { CrdResource, defineResource, type InferInput, z } from "./mod.ts";

const Foo = defineResource({
  group: "example.dev",
  version: "v1alpha1",
  kind: "Foo",
  scope: "Namespaced",
  spec: z.object({
    deploymentName: z.string().max(253),
    replicas: z.int32().min(0).max(10).default(1),
    tags: z.array(z.string()).optional(),
  }),
  status: z.object({ availableReplicas: z.int32().default(0) }),
  printerColumns: [
    { name: "Replicas", jsonPath: ".spec.replicas" },
    { name: "Age", jsonPath: ".metadata.creationTimestamp" },
  ],
});
type Foo = Infer<typeof Foo>;

const Bar = defineResource({ ...minimal(), kind: "Bar", spec: z.object({}) });

function minimal() {
  return { group: "example.dev", version: "v1", scope: "Cluster" } as const;
}

const stored = {
  apiVersion: "example.dev/v1alpha1",
  kind: "Foo",
  metadata: { name: "a", namespace: "n" },
  spec: { deploymentName: "web" },
};

test("Infer gives a readonly object whose defaults are set", () => {
  assertType<Same<Foo["spec"]["replicas"], number>>(true);
  assertType<Same<Foo["spec"]["tags"], readonly string[] | undefined>>(true);
  assertType<Same<NonNullable<Foo["status"]>["availableReplicas"], number>>(true);
  assertType<Same<Foo["kind"], "Foo">>(true);
  const change = (foo: Foo) => {
    // @ts-expect-error objects from the cache are shared and readonly
    foo.spec.replicas = 3;
    // @ts-expect-error lists are readonly too
    foo.spec.tags?.push("x");
    // @ts-expect-error unknown field
    return foo.spec.nope;
  };
  assertEquals(typeof change, "function");
});

test("InferInput makes fields with a default optional", () => {
  assertType<Same<InferInput<typeof Foo>["spec"]["replicas"], number | undefined>>(true);
  assertType<Same<InferInput<typeof Foo>["spec"]["deploymentName"], string>>(true);
  const input: InferInput<typeof Foo> = { metadata: { name: "a" }, spec: { deploymentName: "x" } };
  assertEquals(Foo.make(input).spec.replicas, 1);
  // @ts-expect-error deploymentName has no default
  assertThrows(() => Foo.make({ metadata: { name: "a" }, spec: {} }), /spec\.deploymentName/);
});

test("a kind whose spec is optional accepts an object with metadata only, in its types, its parser and its CRD", () => {
  const Machine = defineResource({ ...minimal(), kind: "Machine", spec: z.object({ id: z.string() }).optional() });
  assertType<Same<Infer<typeof Machine>["spec"], { readonly id: string } | undefined>>(true);
  const bare: InferInput<typeof Machine> = { metadata: { name: "a" } };
  assertEquals(Machine.make(bare), { apiVersion: "example.dev/v1", kind: "Machine", metadata: { name: "a" } });
  assertThrows(() => Machine.make({ metadata: { name: "a" }, spec: {} as never }), /spec\.id/);
  assertEquals(Machine.crd.spec.versions[0]?.schema.openAPIV3Schema.required, undefined);
});

test("a kind without a status has none", () => {
  assertType<Same<Infer<typeof Bar>["status"], undefined>>(true);
  assertEquals(Bar.crd.spec.versions[0]?.subresources, undefined);
});

test("the value is a Resource, and a client accepts its CRD", () => {
  const resource: Resource<unknown, "Foo"> = Foo;
  assertEquals([resource.group, resource.version, resource.kind, resource.plural, resource.scope], [
    "example.dev",
    "v1alpha1",
    "Foo",
    "foos",
    "Namespaced",
  ]);
  const crd: Infer<typeof CrdResource> = Foo.crd;
  assertEquals(crd.metadata.name, "foos.example.dev");
  assertEquals([crd.apiVersion, crd.kind], [apiVersionOf(CrdResource), CrdResource.kind]);
  assert(Object.isFrozen(Foo) && Object.isFrozen(Foo.crd.spec.versions));
});

test("the CRD has names, one version, its subresources and the columns' types", () => {
  const { names, versions } = Foo.crd.spec;
  assertEquals(names, { kind: "Foo", listKind: "FooList", plural: "foos", singular: "foo" });
  assertEquals(versions.map(({ name, served, storage }) => ({ name, served, storage })), [
    { name: "v1alpha1", served: true, storage: true },
  ]);
  assertEquals(versions[0]?.subresources, { status: {} });
  assertEquals(versions[0]?.additionalPrinterColumns?.map(({ type }) => type), ["integer", "date"]);
  assertEquals(versions[0]?.schema.openAPIV3Schema.required, ["spec"]);
});

test("parse() fills in defaults, drops unknown fields of spec and keeps metadata as it is", () => {
  const metadata = { name: "a", labels: JSON.parse('{"__proto__":"x","constructor":"y"}'), unknown: 1 };
  const foo = Foo.parse({ ...stored, metadata, spec: { deploymentName: "web", nope: 1 } });
  assertEquals(foo.spec, { deploymentName: "web", replicas: 1 });
  assert(foo.metadata === metadata);
});

test("parse() names the object and each field that is wrong", () => {
  const error = assertThrows(() => Foo.parse({ ...stored, kind: "Fo", spec: { replicas: 11 } }));
  assert(error instanceof TypeError);
  assertStringIncludes(error.message, 'Cannot parse Foo "n/a": kind: ');
  assertStringIncludes(error.message, "; spec.deploymentName: ");
  assertStringIncludes(error.message, "; spec.replicas: ");
});

test("safeParse() returns the issues", () => {
  const result = Foo.safeParse({ ...stored, metadata: { name: 1 } });
  assert(result.kind === "invalid");
  assertEquals(result.issues.map(({ path }) => path), ["metadata"]);
  assert(Foo.safeParse(stored).kind === "valid");
  for (const value of [null, undefined, 1, "x", []]) assertEquals(Foo.safeParse(value).kind, "invalid");
});

test("[94] parse() refuses a key __proto__, which zod would drop silently", () => {
  const Map = defineResource({ ...minimal(), kind: "Map", spec: z.object({ data: z.record(z.string(), z.string()) }) });
  const object = (data: unknown) => ({
    apiVersion: "example.dev/v1",
    kind: "Map",
    metadata: { name: "m" },
    spec: { data },
  });
  const result = Map.safeParse(object(JSON.parse('{"__proto__":"x"}')));
  assert(result.kind === "invalid");
  assertEquals(result.issues[0]?.path, "spec.data.__proto__");
  assertEquals(Map.parse(object({ constructor: "x" })).spec.data, { constructor: "x" });
  assertEquals(Object.hasOwn(Object.prototype, "x"), false);
});

test("[95] parse() accepts nesting of any depth", () => {
  const Any = defineResource({ ...minimal(), kind: "Any", spec: z.object({ value: z.unknown() }) });
  let value: unknown = 1;
  for (let depth = 0; depth < 100_000; depth++) value = [value];
  const result = Any.safeParse({ apiVersion: "example.dev/v1", kind: "Any", metadata: { name: "a" }, spec: { value } });
  assertEquals(result.kind, "valid");
});

test("several versions are listed, and one of them is the storage version", () => {
  const Old = defineResource({
    ...minimal(),
    version: "v2",
    kind: "Old",
    spec: z.object({ size: z.int32() }),
    versions: [{ name: "v1", storage: true, deprecated: "use v2", spec: z.object({ size: z.string() }) }],
    conversion: { strategy: "None" },
  });
  assertEquals(
    Old.crd.spec.versions.map(({ name, storage, deprecationWarning }) => [name, storage, deprecationWarning]),
    [
      ["v2", false, undefined],
      ["v1", true, "use v2"],
    ],
  );
});

test("the scale subresource and selectable fields are accepted when their paths exist", () => {
  const Web = defineResource({
    ...minimal(),
    kind: "Web",
    spec: z.object({ replicas: z.int32(), class: z.string() }),
    status: z.object({ replicas: z.int32().optional() }),
    scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
    selectableFields: [".spec.class"],
  });
  const [version] = Web.crd.spec.versions;
  assertEquals(version?.subresources?.scale?.specReplicasPath, ".spec.replicas");
  assertEquals(version?.selectableFields, [{ jsonPath: ".spec.class" }]);
});

const plurals = [["Foo", "foos"], ["Ingress", "ingresses"], ["Policy", "policies"], ["Gateway", "gateways"]] as const;
for (const [kind, plural] of plurals) {
  test(`the plural of ${kind} is ${plural}`, () => {
    assertEquals(defineResource({ ...minimal(), kind, spec: z.object({}) }).plural, plural);
  });
}

const spec = z.object({ a: z.string(), o: z.object({}) });
type Options = Parameters<typeof defineResource>[0];
const refused: readonly (readonly [title: string, options: Partial<Options>, message: RegExp])[] = [
  ["a group without a dot", { group: "example" }, /Cannot define X: it has the group "example"/],
  [
    "a group of Kubernetes without approval",
    { group: "x.k8s.io" },
    /belongs to Kubernetes; annotate it with api-approved/,
  ],
  ["an approval that is neither a URL nor a reason", {
    group: "x.k8s.io",
    annotations: { "api-approved.kubernetes.io": "yes" },
  }, /belongs to Kubernetes/],
  ["an invalid version name", { version: "1" }, /it has the version "1"/],
  ["an invalid kind", { kind: "X_" }, /it has the kind "x_"/],
  ["a plural in upper case", { plural: "Xs" }, /it has the name "Xs"/],
  ["the same name for kind and list", { listKind: "X" }, /same kind and listKind/],
  ["two versions with one name", { versions: [{ name: "v1", spec }] }, /two versions with the same name/],
  ["two storage versions", {
    versions: [{ name: "v2", spec, storage: true }, { name: "v3", spec, storage: true }],
  }, /2 storage versions \(v2, v3\)/],
  ["a spec that is not an object", { spec: z.string() }, /spec is not a z\.object\(\)/],
  ["a column with an unknown path", { printerColumns: [{ name: "A", jsonPath: ".spec.b" }] }, /path \.spec\.b/],
  ["a selectable object", { selectableFields: [".spec.o"] }, /selectable field \.spec\.o/],
  ["selectable metadata", { selectableFields: [".metadata.name"] }, /selectable field \.metadata\.name/],
  ["nine selectable fields", { selectableFields: Array.from({ length: 9 }, () => ".spec.a") }, /9 selectable fields/],
  ["a scale with an unknown path", {
    scale: { specReplicasPath: ".spec.n", statusReplicasPath: ".status.n" },
  }, /specReplicasPath \.spec\.n/],
  ["a rule of several lines without a message", { validations: [{ rule: "a\nb" }] }, /needs a message/],
  ["a CRD too large to store", { description: "x".repeat(1024 * 1024) }, /a CRD of \d+ bytes/],
];

for (const [title, options, message] of refused) {
  test(`defineResource() refuses ${title}`, () => {
    assertThrows(() => defineResource({ ...minimal(), kind: "X", spec, ...options }), message);
  });
}

test("a group of Kubernetes is accepted with the URL of its approval or a reason", () => {
  for (const approval of ["unapproved, an experiment", "https://github.com/kubernetes/kubernetes/pull/78458"]) {
    const annotations = { "api-approved.kubernetes.io": approval };
    const resource = defineResource({ ...minimal(), group: "x.k8s.io", kind: "X", spec, annotations });
    assertEquals(resource.crd.metadata.annotations, annotations);
  }
});
