/** Tests which objects get the status of a healthy cluster. */
import { assert, assertEquals, test } from "../../tests/testing.ts";
import { readyStatus } from "./_ready_status.ts";

const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "a" }, spec: { containers: [{ name: "main" }] } };

test("a Pod gets a status once, and one that says something is left alone", () => {
  assert(readyStatus(pod, 0) !== undefined);
  for (const phase of ["Running", "Failed", "Succeeded"]) {
    assertEquals(readyStatus({ ...pod, status: { phase } }, 0), undefined);
  }
  assertEquals(
    readyStatus({ ...pod, metadata: { name: "a", deletionTimestamp: "2026-01-01T00:00:00Z" } }, 0),
    undefined,
  );
});

test("a suspended Job does not complete", () => {
  const job = { apiVersion: "batch/v1", kind: "Job", metadata: { name: "a" }, spec: { suspend: true } };
  assertEquals(readyStatus(job, 0), undefined);
  assert(readyStatus({ ...job, spec: {} }, 0) !== undefined);
});
