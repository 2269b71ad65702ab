/** What a machine for kind leaves on the machine that it runs on: nothing, however it ends. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import process from "node:process";
import { assert, assertEquals, assertRejects } from "../testing.ts";
import { until } from "../controlplane/poll.ts";
import { processesOf } from "../realnode/machine_state.ts";
import { kindTest } from "./kind_test_function.ts";
import { leftovers, stateBefore } from "./leftovers.ts";
import { Machine } from "./machine.ts";

const root = join(import.meta.dirname ?? ".", "..", "..");
/** kind's own way to start a node: systemd, containerd and its cgroups, below Docker's. */
const node = ["docker", "run", "--detach", "--privileged", "--cgroupns=private", "--tmpfs=/tmp", "--tmpfs=/run"];

kindTest("a test that fails while a container runs leaves nothing on the machine", async (parts) => {
  const before = await stateBefore();
  let dir = "";
  await assertRejects(async () => {
    await using machine = await Machine.start(parts);
    dir = machine.dir;
    await machine.prepareForClusters();
    const id = await machine.output([...node, "--volume=/var", parts.image.name]);
    await until("see the node's systemd", async () => {
      const { stdout } = await machine.run(["docker", "exec", id.trim(), "systemctl", "is-active", "containerd"]);
      return stdout === "active\n" ? { kind: "found", value: true } : { kind: "pending", state: stdout };
    }, { everyMs: 500 });
    assert(processesOf(basename(dir)).length > 5, "the container should have run");
    throw new Error("the test failed");
  }, /^the test failed$/);
  assertEquals(existsSync(dir), false);
  assertEquals(processesOf(basename(dir)), []);
  assertEquals(await leftovers(before, basename(dir)), []);
});

kindTest("SIGKILL of the harness while a container runs leaves nothing on the machine", async ({ image }) => {
  const before = await stateBefore();
  const script = `${node.join(" ")} --volume=/var ${image.name} >&2 && dirname "$HOME" && exec tail -f /dev/null`;
  const withTs = join(root, "tests", "kind", "with.ts");
  const harness = spawn(process.execPath, ["run", "-A", "--no-check", withTs, "--", "sh", "-c", script], {
    stdio: ["ignore", "pipe", "inherit"],
    cwd: root,
  });
  try {
    const dir = await new Promise<string>((resolve, reject) => {
      harness.stdout.setEncoding("utf8").once("data", (text: string) => resolve(text.trim()));
      harness.once("close", (code) => reject(new Error(`Cannot start the harness: it ended with ${code}`)));
    });
    assert(processesOf(basename(dir)).length > 5, "the container should run");
    harness.kill("SIGKILL");
    await until("see everything of a killed harness gone", () => {
      const left = processesOf(basename(dir));
      if (!existsSync(dir) && left.length === 0) return { kind: "found", value: true };
      return { kind: "pending", state: `there were ${dir} or the processes ${left.join(", ")}` };
    });
    assertEquals(await leftovers(before, basename(dir)), []);
  } finally {
    harness.kill("SIGKILL");
  }
});
