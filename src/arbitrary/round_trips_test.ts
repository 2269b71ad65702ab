import { assert, assertEquals, assertMatch, assertThrows, test } from "../../tests/testing.ts";
import fc from "fast-check";
import { cronTabConversion } from "../manager/testing/cron_tabs.ts";
import { apiVersionOf } from "../api/mod.ts";
import { type CustomResource, defineResource, intOrString, z } from "../schema/mod.ts";
import { convertible, converting } from "../webhook/mod.ts";
import { arbitraryObject } from "./arbitrary_object.ts";
import { assertRoundTrips } from "./round_trips.ts";

const base = { group: "x.example.dev", kind: "Size", scope: "Namespaced" } as const;

function sampled(resource: CustomResource, values: Readonly<Record<string, readonly string[]>> = {}) {
  const schema = resource.crd.spec.versions[0]?.schema.openAPIV3Schema ?? {};
  const { kind } = resource;
  const options = { apiVersion: apiVersionOf(resource), kind, isNamespaced: true, schema, values };
  return fc.sample(arbitraryObject(options), { numRuns: 60, seed: 7 });
}

test("[112] assertRoundTrips() accepts a conversion that loses nothing", () => {
  assertRoundTrips(cronTabConversion);
});

test("assertRoundTrips() accepts a version that keeps in an annotation what it does not have", () => {
  const V1 = defineResource({ ...base, version: "v1", spec: z.object({ width: z.int32() }) });
  const V2 = defineResource({
    ...base,
    version: "v2",
    spec: z.object({ width: z.int32(), unit: z.string().optional() }),
  });
  const kept = "x.example.dev/unit";
  const conversion = converting(V2, [convertible<typeof V1, typeof V2>(V1, {
    toHub({ spec, metadata: { annotations = {}, ...metadata }, ...rest }) {
      const { [kept]: unit, ...others } = annotations;
      return { ...rest, metadata: { ...metadata, annotations: others }, spec: { ...spec, unit } };
    },
    fromHub({ spec: { unit, ...spec }, metadata, ...rest }) {
      const annotations = unit === undefined ? metadata.annotations : { ...metadata.annotations, [kept]: unit };
      return { ...rest, metadata: { ...metadata, annotations }, spec };
    },
  })]);
  assertRoundTrips(conversion);
});

test("[112] assertRoundTrips() shows the smallest object that loses something", () => {
  const V1 = defineResource({
    ...base,
    version: "v1",
    spec: z.object({ width: z.int32(), note: z.string().optional() }),
  });
  const V2 = defineResource({ ...base, version: "v2", spec: z.object({ width: z.int32() }) });
  const lossy = converting(V2, [convertible<typeof V1, typeof V2>(V1, {
    toHub: ({ spec: { width }, ...rest }) => ({ ...rest, spec: { width } }),
    fromHub: (hub) => ({ ...hub }),
  })]);
  const { message } = assertThrows(() => assertRoundTrips(lossy));
  assertMatch(
    message,
    /^Cannot convert Size from v1 to v2 and back: spec\.note was "" and is absent\. Keep what v2 does/,
  );
  assertMatch(message, /"spec": \{\n {4}"note": "",\n {4}"width": 0\n {2}\}\n\}\nFound with seed 1$/);
});

test("assertRoundTrips() reports a conversion that throws", () => {
  const V1 = defineResource({ ...base, version: "v1", spec: z.object({ size: z.string() }) });
  const V2 = defineResource({ ...base, version: "v2", spec: z.object({ size: z.int32().max(9) }) });
  const throwing = converting(V2, [convertible<typeof V1, typeof V2>(V1, {
    toHub: () => {
      throw new Error("no number");
    },
    fromHub: ({ spec, ...rest }) => ({ ...rest, spec: { size: `${spec.size}` } }),
  })]);
  assertThrows(() => assertRoundTrips(throwing), /v2 to v1 and back: the conversion back to v2 throws: no number/);
});

test("assertRoundTrips() reports a valid object whose conversion is invalid: nobody could update it", () => {
  const V1 = defineResource({ ...base, version: "v1", spec: z.object({ size: z.int32() }) });
  const V2 = defineResource({ ...base, version: "v2", spec: z.object({ size: z.int32().max(9) }) });
  const narrowing = converting(V2, [
    convertible<typeof V1, typeof V2>(V1, { toHub: (old) => ({ ...old }), fromHub: (hub) => ({ ...hub }) }),
  ]);
  assertThrows(
    () => assertRoundTrips(narrowing),
    /v1 to v2 and back: the conversion to v2 gives an invalid object: spec\.size/,
  );
});

test("assertRoundTrips() tests the fields that the schema drops: they are lost on a server", () => {
  const V1 = defineResource({ ...base, version: "v1", spec: z.object({ width: z.int32() }) });
  const V2 = defineResource({ ...base, version: "v2", spec: z.object({ breadth: z.int32().optional() }) });
  const unchanged = converting(V2, [convertible<typeof V1, typeof V2>(V1, {
    toHub: (old) => old as never,
    fromHub: (hub) => hub as never,
  })]);
  assertThrows(
    () => assertRoundTrips(unchanged),
    /spec\.breadth was|the conversion to v1 gives an invalid object: spec\.width/,
  );
});

test("arbitraryObject() makes objects that the schema accepts, with all kinds of fields", () => {
  const Rich = defineResource({
    ...base,
    version: "v1",
    spec: z.object({
      name: z.string().min(2).max(63).regex(/^[a-z]+(-[a-z]+)*$/),
      count: z.int32().min(1).max(10).default(1),
      ratio: z.number().gt(0).lt(1).optional(),
      port: intOrString().optional(),
      at: z.iso.datetime().optional(),
      mode: z.enum(["on", "off"]).nullable().optional(),
      tags: z.array(z.string().min(1)).max(3).meta({ "x-kubernetes-list-type": "set" }).optional(),
      ports: z.array(z.object({ name: z.string().min(1), port: z.int32() }))
        .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] }).optional(),
      limits: z.record(z.string(), z.int()).meta({ minProperties: 1 }).optional(),
      source: z.discriminatedUnion("type", [
        z.object({ type: z.literal("git"), url: z.string() }),
        z.object({ type: z.literal("oci"), image: z.string(), digest: z.string().optional() }),
      ]),
      range: z.object({ min: z.int32(), max: z.int32() }).meta({ cel: [{ rule: "self.min <= self.max" }] }),
      anything: z.unknown(),
    }),
    status: z.object({ ready: z.boolean() }),
  });
  const objects = sampled(Rich);
  for (const object of objects) assertEquals(Rich.safeParse(object).kind, "valid", JSON.stringify(object));
  const text = JSON.stringify(objects);
  for (
    const field of Object.keys(Rich.crd.spec.versions[0]?.schema.openAPIV3Schema.properties?.spec?.properties ?? {})
  ) {
    assert(text.includes(`"${field}":`), field);
  }
  assert(new Set(objects.map((object) => JSON.stringify(object))).size > 50);
});

test("arbitraryObject() takes values for a rule that random values do not satisfy, and asks for them", () => {
  const Timed = defineResource({
    ...base,
    version: "v1",
    spec: z.object({ zone: z.string().meta({ cel: [{ rule: "self == 'Europe/Zurich'" }] }) }),
  });
  assertThrows(
    () => sampled(Timed),
    /^Cannot make random objects: spec\.zone: random values are rejected: .*Give some with values/,
  );
  const [object] = sampled(Timed, { "spec.zone": ["Europe/Zurich"] });
  assertEquals(object?.["spec"], { zone: "Europe/Zurich" });
});
