/** Tests of the types of CEL rules: a rule with a field that does not exist does not compile, all others do. */
import { z } from "zod";
import { assertEquals, assertType, type Same, test } from "../../tests/testing.ts";
import type { RuleSelf, UnknownField } from "./checked_rules.ts";
import { defineResource } from "./define_resource.ts";

const spec = z.object({
  min: z.int32(),
  max: z.int32().optional(),
  tags: z.array(z.string()),
  labels: z.record(z.string(), z.string()),
  shape: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("circle"), radius: z.int32() }),
    z.object({ kind: z.literal("square"), side: z.int32() }),
  ]).optional(),
  any: z.looseObject({ a: z.string() }),
});
const status = z.object({ ready: z.boolean() });
type Self = RuleSelf<typeof spec, typeof status>;
type Unknown<Rule extends string> = UnknownField<Rule, Self>;

test("fields that the schema has are accepted, at every depth", () => {
  type Accepted = Unknown<
    | "self.spec.min <= self.spec.max"
    | "self.metadata.name.size() <= 52 && has(self.spec.max)"
    | "self.spec.tags.all(tag, tag.size() > 0)"
    | "self.spec.labels.app == 'a' || self.spec.labels['b'] == 'c'"
    | "self.spec.shape.kind == 'circle' ? self.spec.shape.radius>0 : self.spec.shape.side>0"
    | "self.spec.any.other == 1"
    | "self == oldSelf || oldSelf.spec.none == 1"
    | "!has(self.status)||self.status.ready"
    | "self.?spec.?none.hasValue()"
    | "self.spec.__namespace__ == 'a'"
  >;
  assertType<Same<Accepted, never>>(true);
  assertType<Same<Unknown<string>, never>>(true);
});

test("the first field that does not exist is named", () => {
  assertType<Same<Unknown<"self.spec.min <= self.spec.mx">, "self.spec.mx">>(true);
  assertType<Same<Unknown<"self.spec.minimum <= 3">, "self.spec.minimum">>(true);
  assertType<Same<Unknown<"has(self.spek.min)">, "self.spek.min">>(true);
  assertType<Same<Unknown<"self.spec.shape.width > 0">, "self.spec.shape.width">>(true);
  assertType<Same<Unknown<"self.metadata.labels.size() == 0">, "self.metadata.labels.size(">>(true);
  assertType<Same<Unknown<"self.status.redy || self.none">, "self.status.redy">>(true);
});

test("defineResource() accepts rules of which only the type string is known", () => {
  const names = { group: "example.dev", version: "v1", kind: "Range", scope: "Namespaced" } as const;
  const rule: string = ["self.spec", "none == 1"].join(".");
  const { crd } = defineResource({ ...names, spec: z.object({ min: z.int32() }), validations: [{ rule }] });
  const [version] = crd.spec.versions;
  assertEquals(version?.schema.openAPIV3Schema["x-kubernetes-validations"], [{ rule }]);
});
