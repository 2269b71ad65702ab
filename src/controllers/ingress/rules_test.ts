import { assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { classOf, isAllowed, parseClassRule, parseHostRule } from "./rules.ts";

function allows(rules: readonly string[], namespace: string, claim: string): boolean {
  const slash = claim.indexOf("/");
  const [host, path] = slash < 0 ? [claim, "/"] : [claim.slice(0, slash), claim.slice(slash)];
  return isAllowed({ hosts: rules.map(parseHostRule) }, namespace, { host, path });
}

test("every host is allowed without rules, and only their hosts with rules", () => {
  assertEquals(isAllowed({}, "a", { host: "x.example", path: "/" }), true);
  assertEquals(isAllowed({ hosts: [] }, "a", { host: "x.example", path: "/" }), false);
  const cases: readonly (readonly [string, string, string, boolean])[] = [
    ["example.com", "a", "example.com/any/path", true],
    ["example.com", "a", "www.example.com", false],
    ["example.com", "a", "xexample.com", false],
    ["*.example.com", "a", "www.example.com", true],
    ["*.example.com", "a", "a.b.example.com/x", true],
    ["*.example.com", "a", "example.com", false],
    ["*.example.com", "a", "xexample.com", false],
    ["*", "a", "anything.at/all", true],
    ["a=*", "a", "anything.at/all", true],
    ["a=*", "b", "anything.at/all", false],
    ["a=example.com", "aa", "example.com", false],
    ["example.com/shop", "a", "example.com/shop", true],
    ["example.com/shop", "a", "example.com/shop/", true],
    ["example.com/shop/", "a", "example.com/shop/cart", true],
    ["example.com/shop", "a", "example.com/shopping", false],
    ["example.com/shop", "a", "example.com", false],
  ];
  for (const [rule, namespace, claim, allowed] of cases) {
    assertEquals(allows([rule], namespace, claim), allowed, `${rule} for ${claim} in ${namespace}`);
  }
  assertEquals(allows(["b=one.example", "two.example"], "a", "two.example"), true);
});

test("an invalid rule is rejected with a reason", () => {
  for (
    const text of ["", "Example.com", "a b", "=example.com", "A=example.com", "a=", "*.", "*x", "**.a", "a/..", "a=b=c"]
  ) {
    assertThrows(() => parseHostRule(text));
  }
  assertThrows(() => parseHostRule("a=10.0.0.1"), /the host looks like an IP address/);
  assertThrows(() => parseHostRule("Team=a.example"), /the text before "=" is not a namespace/);
  for (const text of ["", "Nginx", "a=", "a/b", "a b"]) assertThrows(() => parseClassRule(text), /class|namespace/);
});

test("the class is that of the namespace, else the general one, else ingress", () => {
  const classes = ["nginx", "team-a=internal"].map(parseClassRule);
  assertEquals(classOf({}, "team-a"), "ingress");
  assertEquals([classOf({ classes }, "team-a"), classOf({ classes }, "team-b")], ["internal", "nginx"]);
  assertEquals(classOf({ classes: [parseClassRule("team-a=internal")] }, "team-b"), "ingress");
});
