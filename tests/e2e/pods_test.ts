/**
 * The controller pods end to end: its cases with the compiled binary on a real control plane, and tests that need a real
 * pipe. Run with:
 *
 *   ./compile.sh && deno run -A tests/controlplane/with.ts -- deno test -A tests/e2e/pods_test.ts
 */
import { execFile } from "node:child_process";
import { builtin } from "../../src/api/mod.ts";
import { podsCases } from "../cases/pods.ts";
import { patienceMs } from "../controlplane/mod.ts";
import { controlPlaneTest } from "../controlplane/test.ts";
import { assertEquals } from "../testing.ts";
import { binaryPath } from "./_binary.ts";
import { BinaryEnvironment, binaryTests } from "./_binary_environment.ts";

binaryTests(podsCases);

controlPlaneTest("[85] the printer ends quietly when the reader of its lines closes the pipe", async (controlPlane) => {
  await using site = await BinaryEnvironment.open(controlPlane);
  const { namespace, client } = site;
  const spec = { containers: [{ name: "a", image: "example.invalid/a:1" }] };
  for (const name of ["a", "b", "c"]) await client.create(builtin.Pod, { metadata: { name, namespace }, spec });
  const pipe = `"$0" run pods --namespace ${namespace} | head -n 1; echo "\${PIPESTATUS[0]}"`;
  const env = { PATH: "/usr/bin:/bin", HOME: "/nonexistent", KUBECONFIG: controlPlane.kubeconfig };
  const ended = new Promise<string>((resolve, reject) =>
    execFile("bash", ["-c", pipe, binaryPath()], { env, timeout: patienceMs }, (error, stdout) => {
      if (error === null) resolve(stdout);
      else reject(error);
    })
  );
  // It notices at the next line.
  let turn = 0;
  let isOver = false;
  const over = () => void (isOver = true);
  ended.then(over, over);
  while (!isOver) {
    await site.until("see it end, or change a Pod", async () => {
      const value = { metadata: { labels: { turn: String(turn++) } } };
      if (!isOver) await client.patch(builtin.Pod, `${namespace}/a`, { kind: "merge", value });
      return { kind: "found", value: undefined };
    });
  }
  const [line = "", code] = (await ended).split("\n");
  assertEquals([/^Sync\/Add\/Update for Pod [abc]$/.test(line), code], [true, "0"]);
});
