import { assertEquals, test } from "../../../tests/testing.ts";
import { lineOf } from "./line.ts";

test("a line names the Pod that is there, and with its namespace the one that has gone", () => {
  assertEquals(lineOf("sync", "default/mypod", "text"), "Sync/Add/Update for Pod mypod");
  assertEquals(lineOf("gone", "default/mypod", "text"), "Pod default/mypod does not exist anymore");
});

test("in JSON a line is one object, whatever the name", () => {
  assertEquals(lineOf("sync", "default/mypod", "json"), '{"event":"sync","namespace":"default","name":"mypod"}');
  assertEquals(JSON.parse(lineOf("gone", "a/__proto__", "json")), { event: "gone", namespace: "a", name: "__proto__" });
  assertEquals(JSON.parse(lineOf("gone", 'a/b"\n\u001b', "json")).name, 'b"\n\u001b');
});
