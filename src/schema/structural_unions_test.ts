import { assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { immutable, structuralSchema, z } from "./mod.ts";

const source = z.discriminatedUnion("type", [
  z.object({ type: z.literal("git"), url: z.string(), branch: z.string().optional() }),
  z.object({ type: z.enum(["s3", "gcs"]), url: z.string(), bucket: z.string() }),
]);

test("a discriminated union becomes one object with rules that say which fields belong to which variant", () => {
  const schema = structuralSchema(source, "Foo");
  assertEquals(schema.properties?.type, { enum: ["git", "s3", "gcs"], type: "string" });
  assertEquals(Object.keys(schema.properties ?? {}), ["branch", "bucket", "type", "url"]);
  assertEquals(schema.required, ["type", "url"]);
  assertEquals(schema["x-kubernetes-validations"]?.map(({ rule, message }) => `${rule} # ${message}`), [
    "self.type != 'git' || !has(self.bucket) # bucket must not be set when type is git",
    "!(self.type in ['s3', 'gcs']) || has(self.bucket) # bucket is required when type is s3 or gcs",
    "!(self.type in ['s3', 'gcs']) || !has(self.branch) # branch must not be set when type is s3 or gcs",
  ]);
});

test("a field named like a CEL keyword is escaped in rules", () => {
  const union = z.discriminatedUnion("in", [
    z.object({ in: z.literal("a"), "x.y": z.string() }),
    z.object({ in: z.literal("b") }),
  ]);
  const [rule] = structuralSchema(union, "Foo")["x-kubernetes-validations"] ?? [];
  assertEquals(rule?.rule, "self.__in__ != 'a' || has(self.x__dot__y)");
});

test("an optional immutable field of a variant cannot be added or removed", () => {
  const union = z.discriminatedUnion("t", [
    z.object({ t: z.literal("a"), x: immutable(z.string()).optional() }),
    z.object({ t: z.literal("b"), x: immutable(z.string()).optional() }),
  ]);
  const rules = structuralSchema(union, "Foo")["x-kubernetes-validations"] ?? [];
  assertEquals(rules.map(({ rule }) => rule), ["has(self.x) == has(oldSelf.x)"]);
});

const refused: readonly (readonly [title: string, union: z.ZodType, message: RegExp])[] = [
  [
    "a field with two schemas",
    z.discriminatedUnion("t", [
      z.object({ t: z.literal("a"), x: z.string() }),
      z.object({ t: z.literal("b"), x: z.int32() }),
    ]),
    /Cannot define Foo: x has two different schemas/,
  ],
  [
    "a default in one variant",
    z.discriminatedUnion("t", [
      z.object({ t: z.literal("a"), x: z.string().default("") }),
      z.object({ t: z.literal("b") }),
    ]),
    /x has a default in one variant/,
  ],
  [
    "a loose variant",
    z.discriminatedUnion("t", [z.looseObject({ t: z.literal("a") }), z.object({ t: z.literal("b") })]),
    /a loose variant/,
  ],
  [
    "a discriminator that is not a string",
    z.discriminatedUnion("t", [z.object({ t: z.literal(1) }), z.object({ t: z.literal(2) })]),
    /not a literal string in every variant/,
  ],
  [
    "a check on a variant",
    z.discriminatedUnion("t", [z.object({ t: z.literal("a") }).refine(() => true), z.object({ t: z.literal("b") })]),
    /checks on a variant/,
  ],
];

for (const [title, union, message] of refused) {
  test(`a discriminated union is refused for ${title}`, () => {
    assertThrows(() => structuralSchema(union, "Foo"), message);
  });
}
