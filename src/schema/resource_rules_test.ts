/** Tests of the CEL rules of a kind in safeParse(). */
import { z } from "zod";
import { assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { defineResource } from "./define_resource.ts";
import { immutable, int64 } from "./value_schemas.ts";

const Pool = defineResource({
  ...{ group: "example.dev", version: "v1", kind: "Pool", scope: "Cluster" },
  spec: z.object({
    min: z.int32().min(0).default(1),
    max: z.int32().min(0),
    zone: immutable(z.string().max(20)),
    quota: int64().optional(),
    classes: z.array(z.object({ name: z.string().max(20), weight: z.int32() })).max(10).default([]).meta({
      cel: [{ rule: "self.all(a, self.exists_one(b, a.name == b.name))", message: "names are not unique" }],
    }),
  }),
  validations: [
    {
      rule: "self.spec.min <= self.spec.max",
      messageExpression: "'min ' + string(self.spec.min) + ' is above max'",
      fieldPath: ".spec.min",
    },
    { rule: "!has(self.spec.quota) || self.spec.quota < 9007199254740993", message: "quota is too large" },
  ],
});

const pool = (spec: object) => ({ apiVersion: "example.dev/v1", kind: "Pool", metadata: { name: "a" }, spec });

test("safeParse() evaluates the rules of a kind on the object with its defaults", () => {
  assertEquals(Pool.safeParse(pool({ max: 1, zone: "x" })).kind, "valid");
  assertEquals(
    Pool.safeParse(pool({ max: 0, zone: "x", classes: [{ name: "a", weight: 1 }, { name: "a", weight: 2 }] })),
    {
      kind: "invalid",
      issues: [
        { path: "spec.min", message: "min 1 is above max" },
        { path: "spec.classes", message: "names are not unique" },
      ],
    },
  );
  assertThrows(
    () => Pool.make({ metadata: { name: "a" }, spec: { max: 0, zone: "x" } }),
    /spec\.min: min 1 is above max/,
  );
});

test("safeParse() evaluates no rule on an object whose fields have wrong types", () => {
  const result = Pool.safeParse(pool({ max: "2", zone: "x" }));
  assertEquals(result.kind === "invalid" ? result.issues.map(({ path }) => path) : [], ["spec.max"]);
});

test("rules see integers of 64 bits exactly", () => {
  const verdict = (quota: number | bigint) => Pool.safeParse(pool({ max: 1, zone: "x", quota })).kind;
  assertEquals([verdict(9007199254740992n), verdict(9007199254740993n)], ["valid", "invalid"]);
});

test("rules about a change need the old object, and are skipped without it", () => {
  const changed = pool({ max: 1, zone: "y" });
  assertEquals(Pool.safeParse(changed).kind, "valid");
  const result = Pool.safeParse(changed, { old: pool({ max: 1, zone: "x" }) });
  assertEquals(result.kind === "invalid" ? result.issues.map(({ path }) => path) : [], ["spec.zone"]);
  assertEquals(Pool.safeParse(changed, { old: changed }).kind, "valid");
  // As on the API server, an invalid field that has not changed is no error.
  const twins = [{ name: "a", weight: 1 }, { name: "a", weight: 2 }];
  const invalid = pool({ max: 1, zone: "x", classes: twins });
  assertEquals(Pool.safeParse(invalid).kind, "invalid");
  assertEquals(Pool.safeParse(invalid, { old: invalid }).kind, "valid");
});

test("rules about the name see one as long as the API server generates", () => {
  const Short = defineResource({
    ...{ group: "example.dev", version: "v1", kind: "Short", scope: "Cluster" },
    spec: z.object({}),
    validations: [{ rule: "self.metadata.name.size() <= 8", message: "the name is too long" }],
  });
  const verdict = (metadata: object) => Short.safeParse({ ...pool({}), kind: "Short", metadata }).kind;
  assertEquals([verdict({ generateName: "abc" }), verdict({ generateName: "abcd" }), verdict({})], [
    "valid",
    "invalid",
    "valid",
  ]);
});
