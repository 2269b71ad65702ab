/**
 * `run --record` of the compiled binary on a real control plane: what its file has after the end, as `why --file` tells it,
 * and what happens when the disk is full. Times, durations and names of the test are replaced.
 */
import { spawn } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import process from "node:process";
import { RecordFolder } from "../../src/cli/recording/testing/record_folder.ts";
import { type ControlPlane, until } from "../controlplane/mod.ts";
import { controlPlaneTest, createNamespace } from "../controlplane/test.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../testing.ts";
import { Binary, binaryPath, runBinary } from "./_binary.ts";
import { installFoo, TestNamespace } from "./_cluster.ts";

async function freshNamespace(controlPlane: ControlPlane): Promise<TestNamespace> {
  await installFoo(controlPlane);
  return new TestNamespace(controlPlane, await createNamespace(controlPlane));
}

const foo = { name: "foo-1", deploymentName: "web-7", replicas: 2 };

/** Scales the Deployment by hand, and waits until the controller has scaled it back. */
async function editByHand(namespace: TestNamespace): Promise<void> {
  const { metadata: { resourceVersion } } = await namespace.eventually(
    "deployment/web-7",
    ({ spec }) => spec?.replicas === 2,
  );
  const patch = ["patch", "deployment/web-7", "--type=merge", "--field-manager=kubectl-edit"];
  await namespace.kubectl([...patch, '-p={"spec":{"replicas":5}}']);
  await namespace.eventually(
    "deployment/web-7",
    ({ metadata, spec }) => spec?.replicas === 2 && metadata.resourceVersion !== resourceVersion,
  );
}

controlPlaneTest("[131] why --file explains a hand edit after the process has ended", async (controlPlane) => {
  const namespace = await freshNamespace(controlPlane);
  await using folder = await RecordFolder.make();
  const args = ["run", "foo", "-n", namespace.name, "--record", folder.path];
  await using binary = new Binary(args, { kubeconfig: controlPlane.kubeconfig });
  await binary.logged(/starting workers/);
  await namespace.applyFoo(foo);
  await editByHand(namespace);
  binary.signal("SIGTERM");
  assertEquals((await binary.ended()).code, 0);
  assertEquals((await stat(folder.path)).mode & 0o777, 0o600);
  const why = ["why", "deploy", `${namespace.name}/web-7`, "--limit", "50", "--file", folder.path];
  const { code, stdout, stderr } = await runBinary(why);
  assertEquals([code, stderr], [0, ""]);
  const replaced = stdout.replaceAll(/\b\d\d:\d\d:\d\d\b/g, "TIME").replaceAll(/\b[\d.]+ (ms|s)\b/g, "SOME ms")
    .replaceAll(namespace.name, "shop");
  assertStringIncludes(
    replaced,
    [
      "TIME  Deployment shop/web-7: spec.replicas 2 → 5 by kubectl (kubectl-edit)",
      "          → Foo shop/foo-1 queued, waited SOME ms",
      "          → reconciled in SOME ms: applied Deployment shop/web-7 (spec.replicas 5 → 2)",
    ].join("\n"),
  );
  // The file is for others to read: nothing of the connection is in it.
  const text = await readFile(folder.path, "utf8");
  const credentials = [...(await readFile(controlPlane.kubeconfig, "utf8")).matchAll(/(?:token|-data): *"?(\S{24,})/g)];
  for (const [, credential = ""] of credentials) assert(!text.includes(credential.replace(/"$/, "")));
});

controlPlaneTest("[131] a full disk is one warning, and the controller goes on", async (controlPlane) => {
  const namespace = await freshNamespace(controlPlane);
  await using folder = await RecordFolder.make();
  const args = ["run", "foo", "-n", namespace.name, "--record", folder.path];
  // A limit of 8 KiB per file, whose signal is ignored: a write fails as on a full disk.
  const script = 'trap "" XFSZ; ulimit -f 8; exec "$0" "$@"';
  const child = spawn("bash", ["-c", script, binaryPath(), ...args], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", KUBECONFIG: controlPlane.kubeconfig },
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => log += text);
  const ended = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  try {
    await namespace.applyFoo(foo);
    await editByHand(namespace);
    await until(
      "see the warning",
      () => /recording ended/.test(log) ? { kind: "found", value: true } : { kind: "pending", state: log },
    );
    await editByHand(namespace);
  } finally {
    if (child.pid !== undefined) process.kill(child.pid, "SIGTERM");
    assertEquals(await ended, 0, log);
  }
  assertEquals(log.match(/WARN +recording +recording ended, the file cannot be written .*EFBIG/g)?.length, 1, log);
  assert((await stat(folder.path)).size <= 8 * 1024);
  // What was written before can be read; its last line is cut.
  const { code, stdout, stderr } = await runBinary(["why", "foo", `${namespace.name}/foo-1`, "--file", folder.path]);
  assertEquals(code, 0, stderr);
  assertMatch(stdout, /^\d\d:\d\d:\d\d {2}Foo /);
});
