import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { Website } from "../testing/test_kinds.ts";
import { compareVersions, installedBy, installerVersion, withInstallerMark } from "./plan_crd.ts";

test("compareVersions() orders versions as semver.org says", () => {
  const sorted = ["0.9.0", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2"];
  const later = ["1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "v1.0.1", "1.2.0", "1.10.0", "2.0.0"];
  const all = [...sorted, ...later];
  assertEquals(all.toReversed().sort((a, b) => compareVersions(a, b) ?? NaN), all);
  assertEquals(compareVersions("1.0.0", "v1.0.0+build.7"), 0);
});

test("compareVersions() returns undefined for a text that is not a version", () => {
  for (const text of ["dev", "", "1", "1.0", "1.0.0.0", `${"9".repeat(20)}.0.0`]) {
    assertEquals(compareVersions(text, "1.0.0"), undefined, text);
  }
});

test("withInstallerMark() adds the program and its version, if the version has an order", () => {
  const mark = withInstallerMark(Website.crd, { name: "op", version: "1.2.3" }).metadata.annotations;
  assertEquals(mark, { [installedBy]: "op/1.2.3" });
  assert(withInstallerMark(Website.crd, { name: "op", version: "dev" }) === Website.crd);
  const live = { ...Website.crd, metadata: { ...Website.crd.metadata, annotations: { [installedBy]: "op/1.2.3" } } };
  assertEquals([installerVersion(live, "op"), installerVersion(live, "other")], ["1.2.3", undefined]);
});
