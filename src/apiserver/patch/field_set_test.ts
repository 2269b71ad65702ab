import fc from "fast-check";
import { assert, assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { arbitraryFieldSet } from "./testing/things.ts";
import {
  differenceOf,
  type FieldSet,
  fieldSetOf,
  hasField,
  intersectionOf,
  isEmptySet,
  noFields,
  pathsOf,
  pathText,
  readFieldSet,
  unionOf,
  withoutFields,
} from "./field_set.ts";

/** The paths of a set as texts. */
function textsOf(set: FieldSet): string[] {
  return [...pathsOf(set)].map((path) => path.join(" ")).sort();
}

/** A fieldsV1 in the format of the API. */
function stringOf(set: FieldSet): string {
  return JSON.stringify(set);
}

test("fieldSetOf() returns the format of fieldsV1", () => {
  const set = fieldSetOf([
    ["f:spec", "f:replicas"],
    ["f:spec", "f:containers", 'k:{"name":"b"}'],
    ["f:spec", "f:containers", 'k:{"name":"a"}', "f:image"],
    ["f:spec", "f:containers", 'k:{"name":"a"}'],
    ["f:metadata", "f:finalizers", 'v:"x"'],
    [],
  ]);
  assertEquals(
    stringOf(set),
    '{"f:metadata":{"f:finalizers":{"v:\\"x\\"":{}}},"f:spec":{"f:containers":{"k:{\\"name\\":\\"a\\"}":' +
      '{".":{},"f:image":{}},"k:{\\"name\\":\\"b\\"}":{}},"f:replicas":{}}}',
  );
});

test("elements have the order of kube-apiserver", () => {
  const elements = [
    "i:10",
    "i:2",
    'v:"b"',
    "v:10",
    "v:9",
    "v:true",
    'v:"a"',
    'k:{"a":2,"b":1}',
    'k:{"a":10}',
    'k:{"a":2}',
    "f:b",
    "f:a",
  ];
  const sorted = [
    "f:a",
    "f:b",
    'k:{"a":2}',
    'k:{"a":2,"b":1}',
    'k:{"a":10}',
    "v:9",
    "v:10",
    'v:"a"',
    'v:"b"',
    "v:true",
    "i:2",
    "i:10",
  ];
  assertEquals(Object.keys(fieldSetOf(elements.map((element) => [element]))), sorted);
  assertEquals(Object.keys(readFieldSet(Object.fromEntries(elements.map((element) => [element, {}])))), sorted);
});

test("a field and the fields below it are separate members of a set", () => {
  const set = fieldSetOf([["f:a"], ["f:b", "f:c"]]);
  assertEquals(
    [["f:a"], ["f:a", "f:c"], ["f:b"], ["f:b", "f:c"], ["f:b", "f:c", "f:d"], []].map((path) => hasField(set, path)),
    [true, false, false, true, false, false],
  );
});

test("differenceOf() removes single fields, withoutFields() also the fields below them", () => {
  const set = fieldSetOf([["f:a"], ["f:a", "f:b"], ["f:c", "f:d"]]);
  assertEquals(textsOf(differenceOf(set, fieldSetOf([["f:a"]]))), ["f:a f:b", "f:c f:d"]);
  assertEquals(textsOf(differenceOf(set, fieldSetOf([["f:a", "f:b"], ["f:c"]]))), ["f:a", "f:c f:d"]);
  assertEquals(textsOf(withoutFields(set, fieldSetOf([["f:a"]]))), ["f:c f:d"]);
  assertEquals(textsOf(withoutFields(set, fieldSetOf([["f:a", "f:b"]]))), ["f:a", "f:c f:d"]);
});

test("pathsOf() returns paths by level, and pathText() has the format of kube-apiserver", () => {
  const set = fieldSetOf([
    ["f:spec", "f:ports", 'k:{"port":80,"protocol":"TCP"}'],
    ["f:spec", "f:ports", 'k:{"port":80,"protocol":"TCP"}', "f:name"],
    ["f:spec", "f:tags", 'v:"a"'],
    ["f:spec", "f:rows", "i:3"],
    ["f:kind"],
  ]);
  assertEquals([...pathsOf(set)].map(pathText), [
    ".kind",
    '.spec.ports[port=80,protocol="TCP"]',
    '.spec.ports[port=80,protocol="TCP"].name',
    ".spec.rows[3]",
    '.spec.tags[="a"]',
  ]);
});

test("readFieldSet() returns canonical elements, and drops unknown ones", () => {
  const read = readFieldSet({
    "f:z": {},
    'k:{"b": 1, "a":"x"}': { ".": {}, "f:q": null },
    "v: 1.0": {},
    "x:later": { "f:a": {} },
    "f:a": { ".": {} },
  });
  assertEquals(stringOf(read), '{"f:a":{},"f:z":{},"k:{\\"a\\":\\"x\\",\\"b\\":1}":{".":{},"f:q":{}},"v:1":{}}');
  assertEquals(
    stringOf(readFieldSet(JSON.parse('{"f:__proto__":{"f:toString":{}}}'))),
    '{"f:__proto__":{"f:toString":{}}}',
  );
});

test("readFieldSet() rejects malformed sets", () => {
  const wrong = [
    "x",
    [],
    { a: {} },
    { fa: {} },
    { "k:[]": {} },
    { "v:{": {} },
    { "i:x": {} },
    { "f:a": 1 },
    JSON.parse('{"__proto__":{}}'),
  ];
  for (const value of wrong) assertThrows(() => readFieldSet(value));
});

test("the operations have the laws of sets, and return the same object for an unchanged set", () => {
  fc.assert(fc.property(arbitraryFieldSet, arbitraryFieldSet, arbitraryFieldSet, (a, b, c) => {
    assertEquals(stringOf(unionOf(a, b)), stringOf(unionOf(b, a)));
    assertEquals(stringOf(unionOf(a, unionOf(b, c))), stringOf(unionOf(unionOf(a, b), c)));
    assertEquals(stringOf(intersectionOf(a, b)), stringOf(intersectionOf(b, a)));
    assertEquals(
      stringOf(intersectionOf(a, unionOf(b, c))),
      stringOf(unionOf(intersectionOf(a, b), intersectionOf(a, c))),
    );
    assertEquals(stringOf(unionOf(differenceOf(a, b), intersectionOf(a, b))), stringOf(a));
    assert(isEmptySet(intersectionOf(differenceOf(a, b), b)));
    assert(isEmptySet(differenceOf(a, unionOf(a, b))));
    if (!isEmptySet(a)) assert(unionOf(a, differenceOf(b, b)) === a && unionOf(a, a) === a);
    assert(differenceOf(a, noFields) === a || isEmptySet(a));
  }));
});

test("unions, intersections and differences have the expected paths", () => {
  fc.assert(fc.property(arbitraryFieldSet, arbitraryFieldSet, (a, b) => {
    const [lefts, rights] = [textsOf(a), textsOf(b)];
    assertEquals(textsOf(unionOf(a, b)), [...new Set([...lefts, ...rights])].sort());
    assertEquals(textsOf(intersectionOf(a, b)), lefts.filter((text) => rights.includes(text)));
    assertEquals(textsOf(differenceOf(a, b)), lefts.filter((text) => !rights.includes(text)));
    assertEquals(
      textsOf(withoutFields(a, b)),
      lefts.filter((text) => !rights.some((other) => text === other || text.startsWith(`${other} `))),
    );
  }));
});

test("a set is the same after writing and reading", () => {
  fc.assert(fc.property(arbitraryFieldSet, (set) => {
    assertEquals(stringOf(readFieldSet(JSON.parse(stringOf(set)))), stringOf(set));
  }));
});
