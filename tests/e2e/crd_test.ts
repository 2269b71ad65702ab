/**
 * CRDs made from zod schemas, on a real API server: it accepts them, rejects what zod rejects, accepts what zod
 * accepts, and sets the same defaults. Run with
 *
 *   deno run -A tests/controlplane/with.ts -- deno test -A tests/e2e/crd_test.ts
 */
import { Foo } from "../../src/controllers/foo/resource.ts";
import {
  type CustomResource,
  defineResource,
  embeddedResource,
  immutable,
  intOrString,
  printCrd,
  quantity,
  z,
} from "../../src/schema/mod.ts";
import type { ControlPlane } from "../controlplane/control_plane.ts";
import { controlPlaneTest, createNamespace } from "../controlplane/test.ts";
import { assert, assertEquals, assertStringIncludes } from "../testing.ts";

const variant = z.discriminatedUnion("type", [
  z.object({ type: z.literal("a"), x: z.string() }),
  z.object({ type: z.enum(["b", "c"]), y: z.int32().optional(), x: z.string().optional() }),
]);

/** One field for each form of schema, so that one object tries one form. */
const Kitchen = defineResource({
  group: "schema-test.dev",
  version: "v1",
  kind: "Kitchen",
  scope: "Namespaced",
  spec: z.object({
    "a-b.c": immutable(z.string()).optional(),
    any: z.unknown().optional(),
    base64: z.base64().optional(),
    cidr: z.cidrv4().optional(),
    class: immutable(z.string()).optional(),
    date: z.iso.date().optional(),
    duration: z.iso.duration().optional(),
    email: z.email().optional(),
    embedded: embeddedResource().optional(),
    enumOrNull: z.enum(["a", "it's"]).nullable().optional(),
    even: z.int32().refine((n) => n % 2 === 0).meta({ cel: [{ rule: "self % 2 == 0", message: "must be even" }] })
      .optional(),
    float: z.float32().optional(),
    host: z.hostname().optional(),
    int: z.int().optional(),
    int32: z.int32().optional(),
    ipv6: z.ipv6().optional(),
    items: z.array(z.object({ name: z.string(), value: immutable(z.string()).optional() })).max(3)
      .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] }).optional(),
    literal: z.literal([1, 2.5]).optional(),
    map: z.record(z.string(), z.int32()).meta({ maxProperties: 2 }).optional(),
    nested: z.object({ a: z.int32().default(3) }).prefault({}),
    nullable: z.string().min(2).nullish(),
    number: z.number().gt(0).lt(1).optional(),
    pattern: z.string().regex(/^é\p{Lu}[[\]\b]*\x41(?<n>a{1,3})$/iu).optional(),
    port: intOrString().optional(),
    quantity: quantity().optional(),
    two: z.string().startsWith("a").endsWith("b").optional(),
    uint32: z.uint32().optional(),
    uuid: z.uuid().optional(),
    variant: variant.optional(),
    variants: z.array(variant).max(3).optional(),
    version: z.templateLiteral(["v", z.number()]).optional(),
    when: z.iso.datetime().optional(),
    y: z.boolean().optional(),
  }),
  selectableFields: [".spec.class"],
  validations: [{ rule: "self.metadata.name != 'bad'", message: "the name bad is taken" }],
});

async function install(controlPlane: ControlPlane, resource: CustomResource): Promise<void> {
  const { name } = resource.crd.metadata;
  await controlPlane.kubectlOutput(["apply", "--server-side", "-f", "-"], { stdin: printCrd(resource.crd) });
  await controlPlane.kubectlOutput(["wait", "--for=condition=Established", `crd/${name}`, "--timeout=300s"]);
}

type Attempt = { readonly kind: "stored"; readonly spec: unknown } | {
  readonly kind: "refused";
  readonly reason: string;
};

async function attempt(
  controlPlane: ControlPlane,
  object: unknown,
  ...flags: readonly string[]
): Promise<Attempt> {
  const args = ["create", "--validate=ignore", "-o", "json", "-f", "-", ...flags];
  const { code, stdout, stderr } = await controlPlane.kubectl(args, { stdin: JSON.stringify(object) });
  return code === 0 ? { kind: "stored", spec: JSON.parse(stdout).spec } : { kind: "refused", reason: stderr };
}

controlPlaneTest(
  "a real server accepts the CRD of Foo, sets no default and rejects what its schema rejects",
  async (controlPlane) => {
    await install(controlPlane, Foo);
    const namespace = await createNamespace(controlPlane);
    const foo = (name: string, spec: unknown) => ({
      apiVersion: "samplecontroller.k8s.io/v1alpha1",
      kind: "Foo",
      metadata: { name, namespace },
      spec,
    });
    assertEquals(await attempt(controlPlane, foo("empty", { deploymentName: "" })), {
      kind: "stored",
      spec: { deploymentName: "" },
    });
    const refusals: readonly (readonly [spec: unknown, reason: string])[] = [
      [{ deploymentName: "a", replicas: 11 }, "spec.replicas in body should be less than or equal to 10"],
      [{ deploymentName: "a", replicas: -1 }, "spec.replicas in body should be greater than or equal to 0"],
      [{ replicas: 1 }, "spec.deploymentName: Required value"],
      [{ deploymentName: "a".repeat(254) }, "spec.deploymentName: Too long"],
      [undefined, "spec: Required value"],
    ];
    for (const [spec, reason] of refusals) {
      const outcome = await attempt(controlPlane, foo("refused", spec));
      assert(outcome.kind === "refused", JSON.stringify(spec));
      assertStringIncludes(outcome.reason, reason);
    }
    const columns = await controlPlane.kubectlOutput(["get", "foos", "--namespace", namespace]);
    assertEquals(columns.split("\n")[0]?.trim().split(/\s+/), ["NAME", "DEPLOYMENT", "REPLICAS", "AVAILABLE", "AGE"]);
  },
);

/** Values on both sides of every limit. Each is tried separately; the server and zod must agree. */
const borders: readonly Readonly<Record<string, unknown>>[] = [
  { any: { a: [1, null, "x"] } },
  { base64: "aGk=" },
  { base64: "a" },
  { cidr: "10.0.0.0/8" },
  { cidr: "10.0.0.0/33" },
  { date: "2024-02-29" },
  { date: "2024-02-30" },
  { duration: "P1DT2H" },
  { duration: "P" },
  { duration: "P1W" },
  { email: "a'b@x.com" },
  { email: "a@b" },
  { enumOrNull: null },
  { enumOrNull: "it's" },
  { enumOrNull: "z" },
  { even: 2 },
  { even: 3 },
  { float: 3.4e38 },
  { float: 3.5e38 },
  { host: "a.b." },
  { host: "-a" },
  { int: Number.MAX_SAFE_INTEGER },
  { int: 2 ** 53 },
  { int: 1.5 },
  { int32: 2 ** 31 - 1 },
  { int32: 2 ** 31 },
  { int32: "1" },
  { ipv6: "::1" },
  { ipv6: "::g" },
  { items: [{ name: "a" }, { name: "b", value: "v" }] },
  { items: [{ name: "a" }, { name: "b" }, { name: "c" }, { name: "d" }] },
  { items: [{ value: "v" }] },
  { literal: 2.5 },
  { literal: 2 },
  { map: { a: 1, b: 2 } },
  { map: { a: "1" } },
  { nested: { a: 5 } },
  { nested: { a: "5" } },
  { nullable: null },
  { nullable: "ab" },
  { nullable: "a" },
  { number: 0.5 },
  { number: 0 },
  { number: 1 },
  { pattern: "éLAaa" },
  { pattern: "é1Aaa" },
  { port: "http" },
  { port: 80 },
  { port: true },
  { port: 2 ** 31 },
  { quantity: "1.5Gi" },
  { quantity: "1.5Xi" },
  { quantity: 3 },
  { two: "acb" },
  { two: "ac" },
  { uint32: 2 ** 32 - 1 },
  { uint32: -1 },
  { uuid: "0190163d-8694-739b-aea5-966c26f8ad91" },
  { uuid: "0190163d-8694-739b-aea5" },
  { variant: { type: "a", x: "q" } },
  { variant: { type: "a" } },
  { variant: { type: "b", y: 1 } },
  { variant: { type: "d" } },
  { variants: [{ type: "b" }, { type: "a" }] },
  { version: "v1.5" },
  { version: "vx" },
  { when: "2024-02-28T00:00:00Z" },
  { when: "2024-02-28T00:00:00+01:00" },
  { y: true },
  { y: "true" },
  {},
];

controlPlaneTest("a real server and zod agree about valid values and defaults", async (controlPlane) => {
  await install(controlPlane, Kitchen);
  const namespace = await createNamespace(controlPlane);
  for (const spec of borders) {
    const object = { apiVersion: "schema-test.dev/v1", kind: "Kitchen", metadata: { name: "k", namespace }, spec };
    const outcome = await attempt(controlPlane, object, "--dry-run=server");
    const parsed = Kitchen.safeParse(object);
    const label = `${JSON.stringify(spec)}: ${outcome.kind === "refused" ? outcome.reason : "stored"}`;
    assertEquals(outcome.kind === "stored", parsed.kind === "valid", label);
    if (outcome.kind === "stored" && parsed.kind === "valid") assertEquals(outcome.spec, parsed.object.spec, label);
  }
});

controlPlaneTest(
  "a real server enforces what is only a CEL rule: variants, names, and immutable fields",
  async (controlPlane) => {
    await install(controlPlane, Kitchen);
    const namespace = await createNamespace(controlPlane);
    const kitchen = (name: string, spec: unknown) => ({
      apiVersion: "schema-test.dev/v1",
      kind: "Kitchen",
      metadata: { name, namespace },
      spec,
    });
    const foreign = await attempt(controlPlane, kitchen("k", { variant: { type: "a", x: "q", y: 1 } }));
    assert(foreign.kind === "refused");
    assertStringIncludes(foreign.reason, "y must not be set when type is a");
    const named = await attempt(controlPlane, kitchen("bad", {}));
    assert(named.kind === "refused");
    assertStringIncludes(named.reason, "the name bad is taken");
    const spec = { "a-b.c": "v", class: "x", items: [{ name: "i", value: "v" }] };
    assertEquals((await attempt(controlPlane, kitchen("k", spec))).kind, "stored");
    const changes: readonly (readonly [patch: unknown, reason: string])[] = [
      [{ class: "y" }, 'spec.class: Invalid value: "y": is immutable'],
      [{ class: null }, "class is immutable"],
      [{ "a-b.c": null }, "a-b.c is immutable"],
      [{ items: [{ name: "i", value: "w" }] }, 'spec.items[0].value: Invalid value: "w": is immutable'],
    ];
    for (const [change, reason] of changes) {
      const patch = [
        "patch",
        "kitchen",
        "k",
        "--namespace",
        namespace,
        "--type=merge",
        "-p",
        JSON.stringify({ spec: change }),
      ];
      const { code, stderr } = await controlPlane.kubectl(patch);
      assertEquals(code, 1, JSON.stringify(change));
      assertStringIncludes(stderr, reason);
    }
    const selected = ["get", "kitchens", "--namespace", namespace, "--field-selector=spec.class=x", "-o", "name"];
    assertEquals((await controlPlane.kubectlOutput(selected)).trim(), "kitchen.schema-test.dev/k");
  },
);
