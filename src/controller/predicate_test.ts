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
  readonly isAccepted: boolean;
}

const cases: readonly Case[] = [
  { name: "generation: accepts adds", predicate: changed.generation, change: added, isAccepted: true },
  { name: "generation: accepts deletes", predicate: changed.generation, change: removed, isAccepted: true },
  {
    name: "generation: rejects a status update",
    predicate: changed.generation,
    change: update({ generation: 1 }, { generation: 1 }),
    isAccepted: false,
  },
  {
    name: "generation: accepts a new generation",
    predicate: changed.generation,
    change: update({ generation: 1 }, { generation: 2 }),
    isAccepted: true,
  },
  {
    name: "resourceVersion: rejects a resync",
    predicate: changed.resourceVersion,
    change: update({ resourceVersion: resourceVersion("5") }, { resourceVersion: resourceVersion("5") }),
    isAccepted: false,
  },
  {
    name: "content: rejects a write that changed nothing",
    predicate: changed.content,
    change: update(
      { resourceVersion: resourceVersion("5"), labels: { a: "1", b: "2" }, finalizers: ["x"] },
      { resourceVersion: resourceVersion("6"), labels: { b: "2", a: "1" }, finalizers: ["x"] },
    ),
    isAccepted: false,
  },
  {
    name: "content: accepts a change of a list",
    predicate: changed.content,
    change: update({ finalizers: ["x", "y"] }, { finalizers: ["y", "x"] }),
    isAccepted: true,
  },
  {
    name: "content: accepts the removal of a key, also of the key `constructor`",
    predicate: changed.content,
    change: update({ labels: { constructor: "" } }, { labels: {} }),
    isAccepted: true,
  },
  {
    name: "content: accepts a field of another type",
    predicate: changed.content,
    change: update({ generation: 1 }, { labels: {} }),
    isAccepted: true,
  },
  {
    name: "labels: rejects the same labels in another order",
    predicate: changed.labels,
    change: update({ labels: { a: "1", b: "2" } }, { labels: { b: "2", a: "1" } }),
    isAccepted: false,
  },
  {
    name: "labels: accepts an added label",
    predicate: changed.labels,
    change: update({}, { labels: { a: "" } }),
    isAccepted: true,
  },
  {
    name: "annotations: accepts a changed value",
    predicate: changed.annotations,
    change: update({ annotations: { a: "1" } }, { annotations: { a: "2" } }),
    isAccepted: true,
  },
  {
    name: "labelled: rejects an object without labels",
    predicate: labelled({ a: "*" }),
    change: added,
    isAccepted: false,
  },
  {
    name: "labelled: accepts any value for `*`",
    predicate: labelled({ a: "*" }),
    change: { kind: "added", object: pod({ labels: { a: "x" } }) },
    isAccepted: true,
  },
  {
    name: "labelled: rejects another value",
    predicate: labelled({ a: "y" }),
    change: { kind: "added", object: pod({ labels: { a: "x" } }) },
    isAccepted: false,
  },
  {
    name: "labelled: accepts the removal of the label",
    predicate: labelled({ a: "x" }),
    change: update({ labels: { a: "x" } }, {}),
    isAccepted: true,
  },
  {
    name: "labelled: rejects an object without the label `constructor`",
    predicate: labelled({ constructor: "*" }),
    change: update({ labels: {} }, { labels: {} }),
    isAccepted: false,
  },
  {
    name: "allOf: rejects unless all predicates accept",
    predicate: allOf(changed.generation, labelled({ a: "*" })),
    change: added,
    isAccepted: false,
  },
  {
    name: "anyOf: accepts if one predicate accepts",
    predicate: anyOf(labelled({ a: "*" }), changed.generation),
    change: added,
    isAccepted: true,
  },
  {
    name: "not: rejects what the predicate accepts",
    predicate: not(changed.generation),
    change: added,
    isAccepted: false,
  },
];

for (const { name, predicate, change, isAccepted } of cases) {
  test(name, () => assertEquals(predicate(change), isAccepted));
}
