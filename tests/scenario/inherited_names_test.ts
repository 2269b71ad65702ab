/**
 * Fields with the names of members of Object, such as `constructor`, work as all others on every way: definition, defaults,
 * webhooks, conversion, apply and status.
 */
import { ConfigMap, controller, defineResource, done, type Infer, manifest, withWebhooks, z } from "../../src/mod.ts";
import { assertRoundTrips, World } from "../../src/testing.ts";
import { allow, convertible, converting, defaulting, deny, validating } from "../../src/webhook.ts";
import { assert, assertEquals, assertRejects, test } from "../testing.ts";

const names = {
  group: "example.dev",
  kind: "Odd",
  scope: "Namespaced",
} as const;

const spec = z.object({
  constructor: z.string().max(20),
  toString: z.int32().min(1).max(9).default(3),
  hasOwnProperty: z.object({ valueOf: z.boolean().default(true), size: z.string().default("S") }).prefault({
    valueOf: true,
  }),
  isPrototypeOf: z.array(z.object({ constructor: z.string(), name: z.string().optional() })).default([]),
  toLocaleString: z.record(z.string(), z.object({ valueOf: z.string() })).default({}),
  valueOf: z.unknown().meta({ openapi: { type: "string" } }).optional(),
});
const status = z.object({ constructor: z.string(), seen: z.int32().optional() });

const Odd = defineResource({ ...names, version: "v2", spec, status });
type Spec = Infer<typeof Odd>["spec"];
const OddV1 = defineResource({ ...names, version: "v1", spec, status });

const conversion = converting(Odd, [convertible(OddV1, { toHub: (object) => object, fromHub: (object) => object })]);

const oddController = withWebhooks(
  controller("odd").for(Odd).owns(ConfigMap).reconcile(async (ctx) => {
    const { metadata: { name = "", namespace }, spec } = ctx.object;
    const data: Readonly<Record<string, string>> = {
      ["constructor"]: spec.constructor,
      ["toString"]: `${spec.toString}`,
    };
    await ctx.apply(manifest(ConfigMap, { metadata: { name, namespace }, data }));
    await ctx.patchStatus({ constructor: spec.constructor, seen: spec.toString });
    return done;
  }),
  [
    conversion,
    defaulting(Odd, ({ spec, ...rest }) => {
      const first = { constructor: "first" };
      return {
        ...rest,
        spec: { ...spec, isPrototypeOf: spec.isPrototypeOf.length === 0 ? [first] : spec.isPrototypeOf },
      };
    }),
    validating(Odd, {
      create: ({ spec }) => spec.constructor === "bad" ? deny("spec.constructor: it is bad") : allow(),
    }),
  ],
);

/** A spec as users write it. TypeScript takes an absent `toString` for the inherited one. */
function written(given: Readonly<Record<string, unknown>>): Spec {
  return given as unknown as Spec;
}

const defaults = {
  toString: 3,
  hasOwnProperty: { valueOf: true, size: "S" },
  isPrototypeOf: [],
  toLocaleString: {},
};

test("[94] parse() takes no inherited member for a field, and returns ordinary objects", () => {
  const parse = (given: Readonly<Record<string, unknown>>) =>
    Odd.safeParse({ apiVersion: "example.dev/v2", kind: "Odd", metadata: { name: "a" }, spec: given });
  const small = parse({ constructor: "c" });
  assert(small.kind === "valid");
  assertEquals(small.object.spec, written({ constructor: "c", ...defaults }));
  const full = {
    constructor: "c",
    toString: 4,
    hasOwnProperty: { valueOf: false, size: "M" },
    isPrototypeOf: [{ constructor: "d", name: "b" }],
    toLocaleString: { a: { valueOf: "b" }, constructor: { valueOf: "v" } },
    valueOf: { toString: [{}] },
  };
  const made = parse(full);
  assert(made.kind === "valid");
  assertEquals(made.object.spec, written(full));
  for (const one of [made.object, made.object.spec, made.object.spec.hasOwnProperty]) {
    assertEquals(Object.getPrototypeOf(one), Object.prototype);
  }
  for (
    const [given, path] of [
      [{}, "spec.constructor"],
      [{ ...full, isPrototypeOf: [{ name: "a" }] }, "spec.isPrototypeOf[0].constructor"],
      [{ ...full, toLocaleString: { a: {} } }, "spec.toLocaleString.a.valueOf"],
    ] as const
  ) {
    const wrong = parse(given);
    assert(wrong.kind === "invalid");
    assertEquals(wrong.issues.map((issue) => issue.path), [path]);
  }
});

test("[94] a kind with inherited names is defaulted, validated, converted and reconciled", async () => {
  await using world = await World.start({ controllers: [oddController] });
  await world.create(Odd, { name: "a", spec: written({ constructor: "a" }) });
  await world.create(OddV1, { name: "b", spec: written({ constructor: "c", toString: 5 }) });
  await world.settled();
  const first = { isPrototypeOf: [{ constructor: "first" }] };
  assertEquals(world.get(Odd, "default/a").spec, written({ constructor: "a", ...defaults, ...first }));
  assertEquals(world.get(Odd, "default/a").status, { constructor: "a", seen: 3 });
  assertEquals(world.get(Odd, "default/b").status, { constructor: "c", seen: 5 });
  assertEquals(world.get(OddV1, "default/b").spec.constructor, "c");
  assertEquals(world.get(ConfigMap, "default/b").data?.["toString"], "5");
  const value: unknown = { spec: { constructor: "d", toString: null } };
  await world.patch(Odd, "default/b", { kind: "merge", value: value as { readonly spec: Spec } });
  await world.settled();
  assertEquals(world.get(ConfigMap, "default/b").data, Object.fromEntries([["constructor", "d"], ["toString", "3"]]));
  assertEquals(world.get(Odd, "default/b").status, { constructor: "d", seen: 3 });
  const bad = { name: "c", spec: written({ constructor: "bad" }) };
  await assertRejects(() => world.create(Odd, bad), /it is bad/);
  await assertRejects(() => world.create(Odd, { name: "c", spec: written({}) }), /spec\.constructor.*[Rr]equired/);
});

test("[94] random objects with inherited names survive conversions", () => {
  assertRoundTrips(conversion);
});
