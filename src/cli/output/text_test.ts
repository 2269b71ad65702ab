import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { mostSimilar, oneLine } from "./text.ts";

test("oneLine() turns line breaks into spaces and control characters into visible escapes", () => {
  assertEquals(oneLine("a\n  b\r\nc"), "a b c");
  assertEquals(oneLine("name \u001b[31mred\u001b[0m\u0007"), "name \\u001b[31mred\\u001b[0m\\u0007");
  assertEquals(oneLine("safe\u202egnp.exe\u2066"), "safe\\u202egnp.exe\\u2066");
  assertEquals(oneLine("\u009b2J\u2028x\u0000"), "\\u009b2J\\u2028x\\u0000");
  assertEquals(oneLine("pay\u200bp\ufeffal"), "pay\\u200bp\\ufeffal");
});

test("oneLine() keeps all other characters and cuts very long text", () => {
  assertEquals(oneLine('Foo "größe/日本語"'), 'Foo "größe/日本語"');
  assert(oneLine("x".repeat(10_000)).length < 4_200);
});

test("mostSimilar() prefers the nearest word and ignores words that differ in more than a third", () => {
  assertEquals(mostSimilar("fo", ["foo", "for"]), "foo");
  assertEquals(mostSimilar("pod", ["foo", "pods"]), "pods");
  assertEquals(mostSimilar("xyz", ["foo", "pods"]), undefined);
  assertEquals(mostSimilar("x".repeat(100_000), ["foo"]), undefined);
});
