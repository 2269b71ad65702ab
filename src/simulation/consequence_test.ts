/** Tests the sentences with which reports begin. */
import { assertEquals, test } from "../../tests/testing.ts";
import { consequenceOf, type Difference, isOnlyMissing } from "./consequence.ts";

const claim = { key: "persistentvolumeclaims default/data-0", kind: "PersistentVolumeClaim" };
const both = { actual: true, expected: true };

const sentences: readonly (readonly [sentence: string, difference: Difference])[] = [
  ["The volume claim default/data-0 was deleted without need, and its data with it.", {
    ...{ ...claim, invariant: "object-lifecycle", actual: "created 2, deleted 1", expected: "created 1, deleted 0" },
    exists: both,
  }],
  ["The volume claim default/data-0 is missing at the end.", {
    ...{ ...claim, invariant: "end-state", actual: undefined, expected: '"Bound"' },
    exists: { actual: false, expected: true },
  }],
  ["The ConfigMap default/a is left over at the end.", {
    ...{ key: "configmaps default/a .kind", kind: "ConfigMap", invariant: "end-state" },
    ...{ actual: '"ConfigMap"', expected: undefined, exists: { actual: true, expected: false } },
  }],
  ["The Deployment default/web ends with another .spec.replicas.", {
    ...{ key: "deployments.apps default/web .spec.replicas", kind: "Deployment", invariant: "end-state" },
    ...{ actual: "3", expected: "2", exists: both },
  }],
  ["The Deployment default/web was created more often than needed.", {
    ...{ key: "deployments.apps default/web", kind: "Deployment", invariant: "object-lifecycle" },
    ...{ actual: "created 2, deleted 1", expected: "created 1, deleted 1", exists: both },
  }],
  ["The Service default/web was never created.", {
    ...{ key: "services default/web", kind: "Service", invariant: "object-lifecycle" },
    ...{ actual: undefined, expected: "created 1, deleted 0", exists: { actual: false, expected: true } },
  }],
  ["The Secret default/a was never deleted.", {
    ...{ key: "secrets default/a", kind: "Secret", invariant: "object-lifecycle" },
    ...{ actual: "created 1, deleted 0", expected: "created 1, deleted 1" },
    exists: { actual: true, expected: false },
  }],
  ["The volume pvc-<UID of a deleted object> is left over at the end.", {
    ...{ key: "persistentvolumes pvc-<uid:of:a:deleted:object>", kind: "PersistentVolume", invariant: "end-state" },
    ...{ actual: "present", expected: undefined, exists: { actual: true, expected: false } },
  }],
  ["The Pod default/web-0 is being deleted at the end.", {
    ...{ key: "pods default/web-0 .metadata.deletionTimestamp", kind: "Pod", invariant: "end-state" },
    ...{ actual: '"<time>"', expected: undefined, exists: both },
  }],
];

for (const [sentence, difference] of sentences) {
  test(`a report begins with: ${sentence}`, () => assertEquals(consequenceOf(difference), sentence));
}

test("what happened too rarely may still happen, and what happened too often stays so", () => {
  const isMissing = (actual: string | undefined, expected: string | undefined) => isOnlyMissing({ actual, expected });
  assertEquals(isMissing("created 1, deleted 0", "created 1, deleted 1"), true);
  assertEquals(isMissing(undefined, "created 1, deleted 0"), true);
  assertEquals(isMissing("created 2, deleted 0", "created 1, deleted 1"), false);
  assertEquals(isMissing("created 1, deleted 0", undefined), false);
});
