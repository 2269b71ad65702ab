import { assertEquals, test } from "../../tests/testing.ts";
import { type KubeObject, type ObjectMeta, resourceVersion } from "../api/mod.ts";
import { allOf, anyOf, type Change, changed, labelled, not, type Predicate } from "./predicate.ts";

function pod(metadata: ObjectMeta): KubeObject {
  return { apiVersion: "v1", kind: "Pod", metadata: { name: "a", namespace: "n", ...metadata } };
}

function update(old: ObjectMeta, now: ObjectMeta): Change {
  return { kind: "updated", old: pod(old), object: pod(now) };
}

const added: Change = { kind: "added", object: pod({}) };
const removed: Change = { kind: "deleted", object: pod({}) };

interface Case {
  readonly name: string;
  readonly predicate: Predicate;
  readonly change: Change;
  readonly passes: boolean;
}

const cases: readonly Case[] = [
  { name: "generation: adds pass", predicate: changed.generation, change: added, passes: true },
  { name: "generation: deletes pass", predicate: changed.generation, change: removed, passes: true },
  {
    name: "generation: a status update does not",
    predicate: changed.generation,
    change: update({ generation: 1 }, { generation: 1 }),
    passes: false,
  },
  {
    name: "generation: a new one passes",
    predicate: changed.generation,
    change: update({ generation: 1 }, { generation: 2 }),
    passes: true,
  },
  {
    name: "resourceVersion: a resync does not pass",
    predicate: changed.resourceVersion,
    change: update({ resourceVersion: resourceVersion("5") }, { resourceVersion: resourceVersion("5") }),
    passes: false,
  },
  {
    name: "content: a rewrite that changed nothing does not pass",
    predicate: changed.content,
    change: update(
      { resourceVersion: resourceVersion("5"), labels: { a: "1", b: "2" }, finalizers: ["x"] },
      { resourceVersion: resourceVersion("6"), labels: { b: "2", a: "1" }, finalizers: ["x"] },
    ),
    passes: false,
  },
  {
    name: "content: a change of a list passes",
    predicate: changed.content,
    change: update({ finalizers: ["x", "y"] }, { finalizers: ["y", "x"] }),
    passes: true,
  },
  {
    name: "content: a field that went passes, a key of every object among them",
    predicate: changed.content,
    change: update({ labels: { constructor: "" } }, { labels: {} }),
    passes: true,
  },
  {
    name: "content: a field of another type passes",
    predicate: changed.content,
    change: update({ generation: 1 }, { labels: {} }),
    passes: true,
  },
  {
    name: "labels: the same in another order do not pass",
    predicate: changed.labels,
    change: update({ labels: { a: "1", b: "2" } }, { labels: { b: "2", a: "1" } }),
    passes: false,
  },
  {
    name: "labels: one more passes",
    predicate: changed.labels,
    change: update({}, { labels: { a: "" } }),
    passes: true,
  },
  {
    name: "annotations: a changed value passes",
    predicate: changed.annotations,
    change: update({ annotations: { a: "1" } }, { annotations: { a: "2" } }),
    passes: true,
  },
  { name: "labelled: without labels does not pass", predicate: labelled({ a: "*" }), change: added, passes: false },
  {
    name: "labelled: any value",
    predicate: labelled({ a: "*" }),
    change: { kind: "added", object: pod({ labels: { a: "x" } }) },
    passes: true,
  },
  {
    name: "labelled: another value",
    predicate: labelled({ a: "y" }),
    change: { kind: "added", object: pod({ labels: { a: "x" } }) },
    passes: false,
  },
  {
    name: "labelled: losing the label passes",
    predicate: labelled({ a: "x" }),
    change: update({ labels: { a: "x" } }, {}),
    passes: true,
  },
  {
    name: "labelled: constructor is no label everybody has",
    predicate: labelled({ constructor: "*" }),
    change: update({ labels: {} }, { labels: {} }),
    passes: false,
  },
  { name: "allOf needs all", predicate: allOf(changed.generation, labelled({ a: "*" })), change: added, passes: false },
  { name: "anyOf needs one", predicate: anyOf(labelled({ a: "*" }), changed.generation), change: added, passes: true },
  { name: "not turns around", predicate: not(changed.generation), change: added, passes: false },
];

for (const { name, predicate, change, passes } of cases) {
  test(name, () => assertEquals(predicate(change), passes));
}
