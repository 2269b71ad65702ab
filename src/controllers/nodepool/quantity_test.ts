import { assertEquals, test } from "../../../tests/testing.ts";
import { formatQuantity, parseQuantity, sumQuantities } from "./quantity.ts";

/** Text and its canonical form, as in apimachinery 0.36, except 1e99, for which it has no maximum. */
const canonical: readonly (readonly [text: string | number, form: string])[] = [
  ["0", "0"],
  ["0Gi", "0"],
  ["-0.0", "0"],
  [2, "2"],
  ["1500m", "1500m"],
  ["1.5", "1500m"],
  [".5", "500m"],
  ["5.", "5"],
  ["+1", "1"],
  ["-1500m", "-1500m"],
  ["1000m", "1"],
  ["1000", "1k"],
  ["1100", "1100"],
  ["123000000", "123M"],
  ["1u", "1u"],
  ["1n", "1n"],
  ["0.1n", "1n"],
  ["-0.1n", "-1n"],
  ["16Gi", "16Gi"],
  ["16384Mi", "16Gi"],
  ["32851196Ki", "32851196Ki"],
  ["1.5Gi", "1536Mi"],
  ["512Ki", "512Ki"],
  ["1Ki", "1Ki"],
  ["0.5Ki", "512"],
  ["1.2345Ki", "1264128m"],
  ["2e3", "2e3"],
  ["1e0", "1"],
  ["1E3", "1e3"],
  ["1E", "1E"],
  ["1500e-3", "1500e-3"],
  ["1e-3", "1e-3"],
  ["1e99", "9223372036854775807"],
  ["8Ei", "9223372036854775807"],
];

for (const [text, form] of canonical) {
  test(`the canonical form of ${text} is ${form}`, () => {
    const amount = parseQuantity(text);
    assertEquals(amount === undefined ? undefined : formatQuantity(amount), form);
  });
}

test("parseQuantity() returns undefined for an invalid quantity", () => {
  for (const text of ["", "-", ".", "1.2.3", "1 Gi", "Gi", "1gi", "1e", "1e1.5", "1K", "1iK", "0x10", "NaN", " 1"]) {
    assertEquals(parseQuantity(text), undefined, text);
  }
});

test("sumQuantities() is exact where floating point is not", () => {
  assertEquals(sumQuantities(["100m", "200m"]), "300m");
  assertEquals(sumQuantities(Array.from({ length: 10 }, () => "0.1")), "1");
  assertEquals(sumQuantities(["9007199254740993", "1"]), "9007199254740994");
  assertEquals(sumQuantities(["4", "3920m"]), "7920m");
});

test("a sum with a binary suffix is written with binary suffixes, in any order", () => {
  assertEquals(sumQuantities(["16Gi", "16Gi"]), "32Gi");
  assertEquals(sumQuantities(["32851196Ki", "16Gi"]), "49628412Ki");
  assertEquals(sumQuantities(["1024", "1Ki"]), "2Ki");
  assertEquals(sumQuantities(["1Ki", "1024"]), "2Ki");
});

test("an empty sum is zero, and an invalid quantity counts as zero", () => {
  assertEquals(sumQuantities([]), "0");
  assertEquals(sumQuantities(["0", "0Gi"]), "0");
  assertEquals(sumQuantities(["1", "one"]), "1");
});

test("a huge exponent is parsed quickly", () => {
  assertEquals(sumQuantities(["1e999999999999"]), "9223372036854775807");
  assertEquals(sumQuantities(["1e-999999999999"]), "1e-9");
});
