import { assert, assertEquals, test } from "../../tests/testing.ts";
import fc from "fast-check";
import { formatCheck } from "../cel/mod.ts";
import { structuralSchema, z } from "./mod.ts";

/**
 * Invariant: the pattern for the API server and zod both accept or both refuse a text. The texts use the alphabet of
 * the format, so that many of them are nearly valid.
 */
function assertSameMeaning(schema: z.ZodType<string>, alphabet: readonly string[], samples: readonly string[]): void {
  const { pattern = "", maxLength = Infinity } = structuralSchema(schema, "Foo");
  const server = new RegExp(pattern);
  const agree = (text: string) => {
    assertEquals(server.test(text) && text.length <= maxLength, schema.safeParse(text).success, JSON.stringify(text));
  };
  for (const sample of samples) agree(sample);
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...alphabet), { maxLength: 14 }), (parts) => agree(parts.join(""))),
    { numRuns: 5_000, seed: 94 },
  );
}

test("the RE2 pattern of durations means the same as zod's", () => {
  const samples = ["P1D", "PT1H", "P1Y2M3DT4H5M6.7S", "P", "PT", "P1W", "P1W1D", "P1YT", "P1DT1S", "PT1,5S", "PT1M1S"];
  assertSameMeaning(z.iso.duration(), ["P", "T", "1", "2", "Y", "M", "D", "H", "S", "W", "."], samples);
});

test("the RE2 pattern of host names means the same as zod's", () => {
  const label = "a".repeat(63);
  const long = `${label}.${label}.${label}.${"a".repeat(61)}`;
  assertEquals(long.length, 253);
  assertSameMeaning(z.hostname(), ["a", "Z", "0", "-", "."], [
    "a.b",
    "-a",
    "a-",
    "a..b",
    `${label}a`,
    long,
    `${long}a`,
  ]);
});

test("every format of zod that a CRD can express keeps its pattern", () => {
  const formats: readonly z.ZodType<string>[] = [
    z.email(),
    z.url(),
    z.uuid(),
    z.ipv4(),
    z.ipv6(),
    z.cidrv4(),
    z.cidrv6(),
    z.base64(),
    z.base64url(),
    z.iso.date(),
    z.iso.datetime(),
    z.iso.time(),
    z.nanoid(),
    z.ulid(),
    z.mac(),
    z.e164(),
  ];
  for (const format of formats) assert(structuralSchema(format, "Foo").pattern !== undefined);
});

test("the API server accepts no URL that is only a path", () => {
  const { format = "", pattern = "" } = structuralSchema(z.url(), "Foo");
  const accepts = (text: string) => formatCheck(format)?.(text) === true && new RegExp(pattern).test(text);
  const texts = ["/a", "//a/b", "*", "a", "http://a", "HTTP://a/b?c#d", "urn:x:y", "mailto:a@b", "a b:c"];
  assertEquals(texts.filter(accepts), texts.filter((text) => z.url().safeParse(text).success));
});

test("a lax date-time does not get the stricter format date-time", () => {
  assertEquals(structuralSchema(z.iso.datetime(), "Foo").format, "date-time");
  assertEquals(structuralSchema(z.iso.datetime({ local: true }), "Foo").format, undefined);
});
