/** Compares the golden files with the code, so that a changed CRD or public name is visible in a review. */
import { crdGoldens, manifestGoldens, present, publicApiGolden, strayCrds } from "../tasks/_goldens.ts";
import { assert, assertEquals, test } from "./testing.ts";

const advice = "differs from the code; look at the change, then run: deno run -A tasks/golden.ts";

test("every CRD under crds/ equals the one from code, and no other file is there", async () => {
  const goldens = await crdGoldens();
  assert(goldens.some(({ path }) => path === "crds/samplecontroller.k8s.io_foos.yaml"));
  for (const golden of goldens) assertEquals(present(golden), golden.text, `${golden.path} ${advice}`);
  assertEquals(strayCrds(goldens), []);
});

test("the output of manifests for Pintle's own controllers equals tests/golden/manifests_*", async () => {
  const goldens = await manifestGoldens();
  assert(goldens.length > 3);
  for (const golden of goldens) {
    assertEquals(present(golden), golden.text, `${golden.path} ${advice}`);
    assert(!golden.text.includes('"*"') && !/^ *- \*$/m.test(golden.text), `${golden.path} has a wildcard`);
  }
});

test("the public surface equals tests/golden/public_api.txt", async () => {
  const golden = await publicApiGolden();
  assert(golden.text.includes("\n  defineResource function\n"));
  assertEquals(present(golden), golden.text, `${golden.path} ${advice}`);
});
