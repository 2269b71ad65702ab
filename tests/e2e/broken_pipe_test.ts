/** `controller ... | head -1`: a reader that closes the pipe is not an error. The test without a cluster is in cli_test.ts. */
import { run } from "../controlplane/run.ts";
import { controlPlaneTest } from "../controlplane/test.ts";
import { assert, assertMatch } from "../testing.ts";
import { binaryPath } from "./_binary.ts";

controlPlaneTest("[85] a reader that closes the pipe is not an error, with a cluster", async (controlPlane) => {
  const { kubeconfig } = controlPlane;
  const script = '{ "$0" "$@"; echo "code $?" >&2; } | head -1 >/dev/null';
  const env = { PATH: "/usr/bin:/bin", HOME: "/nonexistent", KUBECONFIG: kubeconfig };
  for (const line of [["doctor"], ["install-crds", "--diff"], ["uninstall-crds", "--dry-run"], ["version"]]) {
    const result = await run("/bin/sh", ["-c", script, binaryPath(), ...line], { env });
    assert(result.kind === "ended");
    assertMatch(result.stderr, /^(controller: [^\n]+\n)*code \d+\n$/);
    assert(!/EPIPE|internal|defect/.test(result.stderr), result.stderr);
  }
});
