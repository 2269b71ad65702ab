/**
 * What a real node leaves on the machine: nothing, however it ends. Each test starts a node of its own and compares the
 * machine before and after.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, rmdirSync } from "node:fs";
import { basename, join } from "node:path";
import process from "node:process";
import { assert, assertEquals, assertRejects } from "../testing.ts";
import { until } from "../controlplane/poll.ts";
import { hierarchies, nodeCgroup, processesBelow } from "./hierarchies.ts";
import { nginxImage } from "./images.ts";
import { nodeVariable } from "./layout.ts";
import { changes, machineState, processesOf } from "./machine_state.ts";
import { RealNode } from "./real_node.ts";
import { realNodeTest } from "./test.ts";

/** The gate may run the tests of kind at the same time; they compare the machine, too. */
const kindMachines = "/pintle-kind-";
const withTs = join(import.meta.dirname ?? ".", "with.ts");
const runPod = ["run", "web", `--image=${nginxImage}`];
const waitForPod = ["wait", "--for=condition=Ready", "pod/web", "--timeout=300s"];

realNodeTest("a change of the machine is seen", async () => {
  const [hierarchy] = hierarchies();
  assert(hierarchy !== undefined);
  const before = await machineState([]);
  const cgroup = nodeCgroup(hierarchy, `pintle-changed-${process.pid}`);
  mkdirSync(cgroup);
  const during = await machineState([]);
  rmdirSync(cgroup);
  assert(changes(before, during).includes(`+ cgroup ${cgroup}`));
});

realNodeTest("a test that fails while its Pod runs leaves nothing on the machine", async (shared) => {
  const { programs, id: other } = shared.description;
  const before = await machineState([other, kindMachines]);
  const seen: { id?: string; dir?: string; processes?: readonly number[] } = {};
  await assertRejects(async () => {
    await using node = await RealNode.start({ programs, nodes: 1 });
    Object.assign(seen, { id: node.description.id, dir: node.description.dir });
    await node.controlPlane.kubectlOutput(runPod);
    await node.controlPlane.kubectlOutput(waitForPod);
    seen.processes = hierarchies().flatMap((hierarchy) => processesBelow(nodeCgroup(hierarchy, node.description.id)));
    throw new Error("the test failed");
  }, /^the test failed$/);
  assert((seen.processes ?? []).length > 10, "the node should have run");
  assertEquals(processesOf(seen.id ?? ""), []);
  assertEquals(existsSync(seen.dir ?? ""), false);
  assertEquals(changes(before, await machineState([other, kindMachines])), []);
});

realNodeTest("SIGKILL of the harness while a Pod runs leaves nothing on the machine", async (shared) => {
  const { id: other } = shared.description;
  const before = await machineState([other, kindMachines]);
  const script = `kubectl ${runPod.join(" ")} && kubectl ${waitForPod.join(" ")} >&2 && exec tail -f /dev/null`;
  const command = ["sh", "-c", `echo "$${nodeVariable}"; ${script}`];
  const harness = spawn(process.execPath, ["run", "-A", "--no-check", withTs, "--nodes", "1", "--", ...command], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    const dir = await outputUntil(harness, /^(\S+)\npod\/web created\n/);
    const id = basename(dir);
    await until("see the Pod's processes", () => {
      const cgroups = hierarchies().map((hierarchy) => join(nodeCgroup(hierarchy, id), "node-1", "kubepods"));
      const pods = cgroups.flatMap(processesBelow);
      return pods.length > 0 ? { kind: "found", value: true } : { kind: "pending", state: "there were none" };
    });
    harness.kill("SIGKILL");
    await until("see everything of a killed harness gone", () => {
      const left = processesOf(id);
      if (!existsSync(dir) && left.length === 0) return { kind: "found", value: true };
      return { kind: "pending", state: `there were ${dir} or the processes ${left.join(", ")}` };
    });
    assertEquals(changes(before, await machineState([other, kindMachines])), []);
  } finally {
    harness.kill("SIGKILL");
  }
});

/** Reads the output of a process until it matches, and returns the first group. */
function outputUntil({ stdout }: ChildProcess, pattern: RegExp): Promise<string> {
  let text = "";
  return new Promise((resolve, reject) => {
    stdout?.on("end", () => reject(new Error(`Cannot read the output of with.ts: it ended after ${text}`)));
    stdout?.on("data", (chunk) => {
      text += chunk;
      const [, group] = pattern.exec(text) ?? [];
      if (group !== undefined) resolve(group);
    });
  });
}
