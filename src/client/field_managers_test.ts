/** Tests of who wrote the newest state of an object, from the text of its managedFields. */
import { assertEquals, test } from "../../tests/testing.ts";
import { managersIn, newestManagers } from "./field_managers.ts";
import { watchLines } from "./watch_lines.ts";

const fields = { "f:spec": { "f:manager": {}, "f:time": {}, 'k:{"manager":"x","time":"2030"}': {}, 'v:"time"': {} } };
const kubectl = {
  manager: "kubectl-edit",
  operation: "Update",
  apiVersion: "v1",
  time: "2026-01-01T00:00:09Z",
} as const;
const foo = { manager: "foo", operation: "Apply", apiVersion: "v1", time: "2026-01-01T00:00:05Z" } as const;
const rest = { fieldsType: "FieldsV1", fieldsV1: fields };

function managers(managedFields: readonly object[]) {
  const text = JSON.stringify(managedFields);
  return managersIn(text, 0, text.length);
}

test("the newest manager is the one with the latest time, whatever its place and whatever the fields are named", () => {
  const { apiVersion: _, ...newest } = kubectl;
  assertEquals(managers([{ ...kubectl, ...rest }, { ...foo, ...rest }]), [newest]);
  assertEquals(managers([{ ...foo, ...rest }, { ...kubectl, ...rest, subresource: "status" }]), [
    { ...newest, subresource: "status" },
  ]);
});

test("managers of the same second are all reported", () => {
  assertEquals(
    managers([{ ...kubectl, ...rest }, { ...foo, ...rest, time: kubectl.time }]).map(({ manager }) => manager),
    ["kubectl-edit", "foo"],
  );
  assertEquals(managers([]), []);
});

test("a watch reports the managers and drops managedFields, in kube-apiserver's form and in any other", async () => {
  const object = { apiVersion: "v1", kind: "Pod", metadata: { name: "a", managedFields: [{ ...kubectl, ...rest }] } };
  const compact = JSON.stringify({ type: "MODIFIED", object });
  const spaced = JSON.stringify({ type: "MODIFIED", object }, undefined, 1).replaceAll("\n", " ");
  const body = new Blob([`${compact}\n${spaced}\n`, JSON.stringify({ type: "DELETED", object })]).stream();
  const events: unknown[] = [];
  const { signal } = new AbortController();
  for await (const batch of watchLines(body, signal, { action: "watch Pod", reportManagers: true })) {
    events.push(...batch);
  }
  const { apiVersion: _, ...newest } = kubectl;
  const expected = { object: { apiVersion: "v1", kind: "Pod", metadata: { name: "a" } }, managers: [newest] };
  assertEquals(events, [
    { type: "MODIFIED", ...expected },
    { type: "MODIFIED", ...expected },
    { type: "DELETED", ...expected },
  ]);
});

test("newestManagers() of an object without managedFields is undefined", () => {
  assertEquals(newestManagers({ metadata: { name: "a" } }), undefined);
});
