import { assertEquals, test } from "../../../../tests/testing.ts";
import type { JsonObject } from "../../model/mod.ts";
import { eventRow } from "./events.ts";

const now = Date.parse("2026-01-01T01:00:00Z");
const name = { metadata: { name: "e" } };
const subject = { kind: "Pod", name: "p", fieldPath: "spec.containers{a}" };

const core: JsonObject = {
  ...name,
  type: "Normal",
  reason: "Pulled",
  message: " done\n",
  involvedObject: subject,
  firstTimestamp: "2026-01-01T00:00:00Z",
  lastTimestamp: "2026-01-01T00:55:00Z",
  count: 7,
  source: { component: "kubelet", host: "n1" },
};

const newer: JsonObject = {
  ...name,
  type: "Normal",
  reason: "Pulled",
  note: " done\n",
  regarding: subject,
  deprecatedFirstTimestamp: "2026-01-01T00:00:00Z",
  deprecatedLastTimestamp: "2026-01-01T00:55:00Z",
  deprecatedCount: 7,
  deprecatedSource: { component: "kubelet", host: "n1" },
};

test("an Event has the same cells in both of its versions", () => {
  const expected = ["5m", "Normal", "Pulled", "pod/p", "spec.containers{a}", "kubelet, n1", "done", "60m", 7, "e"];
  assertEquals(eventRow(core, now), expected);
  assertEquals(eventRow(newer, now), expected);
});

test("an Event that occurred once shows one time and the count 1", () => {
  const event = { ...name, eventTime: "2026-01-01T00:59:30.000000Z", reportingController: "c", reportingInstance: "i" };
  const [last, , , object, , source, , first, count] = eventRow(event, now);
  assertEquals([last, first, count, object, source], ["30s", "30s", 1, "", "c, i"]);
});

test("an Event series shows when it was last observed", () => {
  const series = { count: 12, lastObservedTime: "2026-01-01T00:59:59.000000Z" };
  const [last, , , , , , , first, count] = eventRow({ ...core, series }, now);
  assertEquals([last, first, count], ["1s", "60m", 12]);
});

test("an Event without timestamps shows <unknown>", () => {
  const [last, , , object, , source, , first] = eventRow({ ...name, regarding: { kind: "Pod" } }, now);
  assertEquals([last, first, object, source], ["<unknown>", "<unknown>", "pod", ""]);
});
