import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { warningHeaders } from "./warnings.ts";

test("a few warnings are sent whole, and quotes and line ends in them are escaped or replaced", () => {
  const long = "x".repeat(1000);
  assertEquals(warningHeaders(new Set(['say "a"\\', "two\nlines", "", "ü", long])), [
    '299 - "say \\"a\\"\\\\"',
    '299 - "two lines"',
    '299 - "?"',
    `299 - "${long}"`,
  ]);
});

test("many or long warnings are cut to 256 characters each and 4096 together, as kube-apiserver does", () => {
  const many = new Set(Array.from({ length: 100_000 }, (_, index) => `${index} ${"x".repeat(1000)}`));
  const headers = warningHeaders(many);
  assertEquals(headers.length, 16);
  assert(headers.every((header) => header.length === '299 - ""'.length + 256));
  assertEquals(warningHeaders(new Set(["y".repeat(1_000_000)])), [`299 - "${"y".repeat(256)}"`]);
  const short = warningHeaders(new Set(Array.from({ length: 100_000 }, (_, index) => `w${index}`)));
  assert(short.join("").length < 20_000);
});
