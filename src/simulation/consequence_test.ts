/** Tests the sentences with which reports begin. */
import { assertEquals, test } from "../../tests/testing.ts";
import { consequenceOf, type Difference } from "./consequence.ts";

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
];

for (const [sentence, difference] of sentences) {
  test(`a report begins with: ${sentence}`, () => assertEquals(consequenceOf(difference), sentence));
}
