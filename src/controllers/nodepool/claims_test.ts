import { assertEquals, test } from "../../../tests/testing.ts";
import type { Taint } from "./desired.ts";
import { type Claims, formatClaims, noClaims, parseClaims, poolsOf } from "./claims.ts";

const taint: Taint = { key: "example.dev/a", value: "v", effect: "NoSchedule" };

test("parseClaims() reads what formatClaims() wrote", () => {
  const claims: Claims = {
    labels: new Map([["a", "1"], ["constructor", ""]]),
    taints: new Map([["b:NoExecute", { ...taint, key: "b", effect: "NoExecute" }], [
      "example.dev/a:NoSchedule",
      taint,
    ]]),
  };
  assertEquals(parseClaims(formatClaims(claims)), claims);
});

test("equal claims have equal text, in any order", () => {
  const one = formatClaims({ labels: new Map([["a", "1"], ["b", "2"]]), taints: new Map() });
  const other = formatClaims({ labels: new Map([["b", "2"], ["a", "1"]]), taints: new Map() });
  assertEquals(one, other);
});

const hostile = [
  undefined,
  "",
  "null",
  "[]",
  "{",
  '{"labels":3,"taints":{"a":1}}',
  '{"labels":{"a":1},"taints":[null,1,{"key":"a"}]}',
  '{"labels":["a"].length}',
];

for (const text of hostile) {
  test(`an invalid annotation claims nothing: ${text}`, () => assertEquals(parseClaims(text), noClaims));
}

test("names such as __proto__ are ordinary names, and no prototype is changed", () => {
  const claims = parseClaims('{"labels":{"__proto__":"x","toString":"y"},"taints":[]}');
  assertEquals([...claims.labels], [["__proto__", "x"], ["toString", "y"]]);
  assertEquals(Object.hasOwn(Object.prototype, "x"), false);
});

test("poolsOf() returns the pools of the labels and of the claims, each once", () => {
  const labels = {
    "node-role.kubernetes.io/a": "",
    "node-role.kubernetes.io/b": "true",
    "node-role.kubernetes.io/": "",
  };
  const annotations = {
    "nodepool.nodes.lailin.xyz/b": "{}",
    "nodepool.nodes.lailin.xyz/c": "{}",
    "other.dev/nodepool.nodes.lailin.xyz": "",
  };
  assertEquals(poolsOf({ metadata: { labels, annotations } }), ["a", "b", "c"]);
  assertEquals(poolsOf({ metadata: {} }), []);
});
