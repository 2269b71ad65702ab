import { assert, assertEquals, test } from "../../tests/testing.ts";
import { compareKubeVersions } from "./mod.ts";

test("compareKubeVersions() sorts other names, then alpha, beta and stable versions, newest last", () => {
  const sorted = [
    "foo10",
    "foo1",
    "v1alpha1",
    "v3alpha1",
    "v11alpha2",
    "v1beta1",
    "v3beta1",
    "v12beta1",
    "v1",
    "v2",
    "v10",
  ];
  assertEquals(sorted.toReversed().sort(compareKubeVersions), sorted);
  assertEquals(compareKubeVersions("v1", "v1"), 0);
  assert(compareKubeVersions("V1", "v1alpha1") < 0);
});
