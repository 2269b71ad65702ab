/**
 * An unmodified project of kubebuilder under `controller envtest`, with the words of docs/guide/other-languages.md. No
 * real control plane is needed.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../tasks/_root.ts";
import { missing } from "../clients/build.ts";
import { fillInWebhooks, kubebuilderProject } from "../clients/kubebuilder.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes, test } from "../testing.ts";
import { runBinary } from "./_binary.ts";

const line = ["envtest", "--", "go", "test", "./..."] as const;
const reason = missing("go") ?? missing("make");
/** The first build of all that a project needs. */
const timeoutMs = 1_200_000;

if (reason !== undefined) test.skip("[139] a project of kubebuilder passes its tests unchanged", reason);
else {
  test("[139] a project of kubebuilder passes its tests unchanged, and its webhooks are called", async () => {
    for (const page of ["docs/guide/other-languages.md", "CHANGELOG.md"]) {
      assertStringIncludes(readFileSync(join(root, page), "utf8"), `controller ${line.join(" ")}`);
    }
    const made = await kubebuilderProject();
    assert("path" in made, "reason" in made ? made.reason : "");
    using project = made;
    const options = { cwd: project.path, env: project.env, timeoutMs };
    const passed = await runBinary(line, options);
    assertEquals(passed.code, 0, passed.stdout + passed.stderr);
    for (const name of ["controller", "webhook/v1"]) {
      assertMatch(passed.stdout, new RegExp(`^ok  \texample.org/guestbook/internal/${name}\t`, "m"));
    }
    // Its specs of webhooks are comments until a user fills them in.
    fillInWebhooks(project);
    const called = await runBinary([...line, "-v"], options);
    assertEquals(called.code, 0, called.stdout + called.stderr);
    assertMatch(called.stdout, /Ran 2 of 2 Specs/);
  });
}
