import { assert, assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { type JsonObject, StatusError } from "../model/mod.ts";
import { builtinTable } from "../kinds/mod.ts";
import { plainTable, type TableKind, tableOptions, transformList, transformObject } from "./table.ts";

const now = Date.parse("2026-01-01T01:00:00Z");
const names = {
  group: "",
  version: "v1",
  kind: "Pod",
  plural: "pods",
  singular: "pod",
  listKind: "PodList",
  shortNames: [],
  categories: [],
  scope: "Namespaced",
} as const;
const kind: TableKind = { group: "", kind: "Pod", hasStrategicMerge: true, table: builtinTable(names) };

const metadata = { name: "p", resourceVersion: "7", creationTimestamp: "2026-01-01T00:00:00Z" };
const pod: JsonObject = { kind: "Pod", apiVersion: "v1", metadata, status: { phase: "Succeeded" } };
const table = { kind: "Table", version: "v1" } as const;

test("a table has the version of its object or list, its columns, and rows with the requested content", () => {
  const made = transformObject(kind, pod, table, plainTable, now);
  assertEquals([made["kind"], made["apiVersion"], made["metadata"]], ["Table", "meta.k8s.io/v1", {
    resourceVersion: "7",
  }]);
  const [row] = rowsOf(made);
  assertEquals(cellsOf(row).slice(0, 5), ["p", "0/0", "Succeeded", "0", "60m"]);
  assertEquals(row?.["object"], { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata });
  const objects = (["Object", "None"] as const).map((includeObject) =>
    rowsOf(transformObject(kind, pod, table, { ...plainTable, includeObject }, now))[0]?.["object"]
  );
  assertEquals(objects, [pod, null]);
});

test("a row has the condition of a completed Pod, and no conditions otherwise", () => {
  const running = { ...pod, status: { phase: "Running" } };
  const target = { transform: table, options: plainTable, now };
  const [over, runs] = rowsOf(transformList(kind, [pod, running], { resourceVersion: "9" }, target));
  const message = "The pod has completed successfully.";
  assertEquals(over?.["conditions"], [{ type: "Completed", status: "True", reason: "Succeeded", message }]);
  assertEquals(runs !== undefined && Object.hasOwn(runs, "conditions"), false);
});

test("the table of a dry run has no version", () => {
  const unstored = { ...pod, metadata: { name: "p" } };
  assertEquals(transformObject(kind, unstored, table, plainTable, now)["metadata"], {});
});

test("later tables of a watch have no column definitions", () => {
  const made = transformObject(kind, pod, table, { ...plainTable, isHeadless: true }, now);
  assertEquals(made["columnDefinitions"], null);
});

test("includeObject comes from the query, and an invalid value is rejected with 400", () => {
  const included = ["", "includeObject=Object", "includeObject=None", "includeObject=Metadata&noHeaders=true"]
    .map((query) => tableOptions(new URLSearchParams(query)));
  assertEquals(included.map(({ includeObject }) => includeObject), ["Metadata", "Object", "None", "Metadata"]);
  assertEquals(included.map(({ isHeadless }) => isHeadless), [false, false, false, false]);
  const error = assertThrows(() => tableOptions(new URLSearchParams("includeObject=All")));
  assert(error instanceof StatusError);
  assertEquals(error.status.code, 400);
});

test("a list form of one object, and an object form of a list, are rejected with 406", () => {
  const one = { kind: "PartialObjectMetadata", version: "v1" } as const;
  const many = { kind: "PartialObjectMetadataList", version: "v1" } as const;
  const messages = [
    () => transformObject(kind, pod, many, plainTable, now),
    () => transformList(kind, [pod], {}, { transform: one, options: plainTable, now }),
  ].map((make) => {
    const error = assertThrows(make);
    assert(error instanceof StatusError);
    return [error.status.code, error.message];
  });
  assertEquals(messages, [
    [406, "you requested PartialObjectMetadataList, but the requested object is not a list (*core.Pod)"],
    [406, "you requested PartialObjectMetadata, but the requested object is a list (*core.PodList)"],
  ]);
});

function rowsOf(made: JsonObject): readonly JsonObject[] {
  const rows = made["rows"];
  assert(Array.isArray(rows));
  return rows;
}

function cellsOf(row: JsonObject | undefined): readonly unknown[] {
  const cells = row?.["cells"];
  assert(Array.isArray(cells));
  return cells;
}
