import { assertEquals, assertMatch, test } from "../../tests/testing.ts";
import { labelKeyProblem, labelValueProblem, namespaceProblem, objectNameProblem } from "./names.ts";

/** Texts that a rule accepts and texts that it rejects. */
function assertRule(rule: (text: string) => string | undefined, good: readonly string[], bad: readonly string[]): void {
  for (const text of good) assertEquals(rule(text), undefined, text);
  for (const text of bad) assertMatch(rule(text) ?? `"${text}" was accepted`, /^it is not /);
}

test("namespaceProblem() accepts RFC 1123 labels only", () => {
  const good = ["default", "a", "0", "kube-system", "a--b", "1a", "a".repeat(63)];
  const bad = ["", "Bad", "bad_ns", "-a", "a-", "a.b", "a b", "a\n", "ä", "../x", "a".repeat(64), "__proto__"];
  assertRule(namespaceProblem, good, bad);
});

test("objectNameProblem() accepts RFC 1123 subdomains only", () => {
  const good = ["a", "a.b", "97acaccf.lailin.xyz", "a".repeat(253)];
  assertRule(objectNameProblem, good, ["", ".", "a..b", "a.", "A", "a_b", "a.-b", "a".repeat(254)]);
});

test("labelKeyProblem() and labelValueProblem() accept what apimachinery accepts", () => {
  const keys = ["app", "App_1.x", "example.com/app", "a".repeat(63)];
  assertRule(labelKeyProblem, keys, ["", "/a", "a/", "a/b/c", "Example.com/a", "-a", "a b", "a".repeat(64)]);
  assertRule(labelValueProblem, ["", "web", "Web_1.x"], ["-a", "a-", "a b", "a/b", "ä", "a".repeat(64)]);
});
