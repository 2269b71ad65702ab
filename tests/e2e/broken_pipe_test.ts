/** `controller ... | head -1`: a reader that closes the pipe is not an error. The test without a cluster is in cli_test.ts. */
import { run } from "../controlplane/run.ts";
import { controlPlaneTest } from "../controlplane/test.ts";
import { assert, assertEquals, assertMatch, test } from "../testing.ts";
import { binaryPath } from "./_binary.ts";

const script = '{ "$0" "$@"; echo "code $?" >&2; } | head -1';

test("[85] a command that waits after its first line ends when the reader has left", async () => {
  // One Pod that does not change: no second line would ever find the pipe closed.
  const line = ["dev", "pods", "--samples", "--quiet"];
  const env = { PATH: "/usr/bin:/bin", HOME: "/nonexistent" };
  const result = await run("/bin/sh", ["-c", script, binaryPath(), ...line], { env });
  assert(result.kind === "ended");
  assertEquals(result.stdout, "Sync/Add/Update for Pod mypod\n");
  assertMatch(result.stderr, /(^|\n)code 0\n$/);
});

controlPlaneTest("[85] a reader that closes the pipe is not an error, with a cluster", async (controlPlane) => {
  const { kubeconfig } = controlPlane;
  const env = { PATH: "/usr/bin:/bin", HOME: "/nonexistent", KUBECONFIG: kubeconfig };
  for (const line of [["doctor"], ["install-crds", "--diff"], ["uninstall-crds", "--dry-run"], ["version"]]) {
    const result = await run("/bin/sh", ["-c", script, binaryPath(), ...line], { env });
    assert(result.kind === "ended");
    assertMatch(result.stderr, /^(controller: [^\n]+\n)*code \d+\n$/);
    assert(!/EPIPE|internal|defect/.test(result.stderr), result.stderr);
  }
});
