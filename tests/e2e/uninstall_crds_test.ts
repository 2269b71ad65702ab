/** uninstall-crds on a real API server: its question, its deletions, and its advice when objects cannot be deleted. */
import { type ControlPlane, until } from "../controlplane/mod.ts";
import { controlPlaneTest } from "../controlplane/test.ts";
import { assert, assertEquals, assertMatch, test } from "../testing.ts";
import { Binary, type Ending, runBinary } from "./_binary.ts";
import { ecsb, ecsbLine, makeObjects } from "./_definitions.ts";
import { ApiProxy } from "./_proxy.ts";
import { noTerminal, onTerminal } from "./_terminal.ts";

const nodepools = "nodepools.nodes.lailin.xyz";
const definitions = { ecsbinding: ecsb, nodepool: nodepools } as const;

async function uninstall(controlPlane: ControlPlane, ...args: readonly string[]): Promise<Ending> {
  const { kubeconfig } = controlPlane;
  return await runBinary(["uninstall-crds", ...args], { kubeconfig });
}

/** Installs a CRD again, without objects. */
async function install(controlPlane: ControlPlane, name: "ecsbinding" | "nodepool"): Promise<void> {
  await controlPlane.kubectlOutput(["delete", "crd", definitions[name], "--ignore-not-found", "--wait"]);
  const { code, stderr } = await runBinary(["install-crds", name], { kubeconfig: controlPlane.kubeconfig });
  assertEquals(code, 0, stderr);
}

controlPlaneTest(
  "uninstall-crds without a terminal and --yes is exit code 2 and deletes nothing",
  async (controlPlane) => {
    await install(controlPlane, "ecsbinding");
    const { code, stdout, stderr } = await uninstall(controlPlane, "ecsbinding");
    assertEquals([code, stdout], [2, ""]);
    assertMatch(stderr, /^controller: Cannot uninstall: a confirmation is needed[^\n]*--yes\n$/);
    await controlPlane.kubectlOutput(["get", "crd", ecsb]);
  },
);

controlPlaneTest(
  "uninstall-crds --yes deletes the CRD and its objects, and ends when both are deleted",
  async (controlPlane) => {
    await install(controlPlane, "ecsbinding");
    await makeObjects(controlPlane, "v1", { a: { id: "i-1" }, b: { id: "i-2" } });
    const look = await uninstall(controlPlane, "ecsbinding", "--dry-run");
    assertEquals([look.code, look.stderr], [0, ""]);
    assertMatch(look.stdout, /^DEFINITION +OBJECTS +NAMESPACES +BEING DELETED\necsbinding\.hopegi\.com +2 +- +0\n$/);
    assertEquals(await uninstall(controlPlane, "ecsbinding", "--yes"), {
      code: 0,
      stdout: `${ecsbLine} deleted\n`,
      stderr: "",
    });
    assertEquals(await controlPlane.kubectlOutput(["get", "crd", ecsb, "--ignore-not-found"]), "");
    const again = await uninstall(controlPlane, "ecsbinding", "--yes");
    assertEquals(again, { code: 0, stdout: `${ecsbLine} not found\n`, stderr: "" });
    await install(controlPlane, "ecsbinding");
  },
);

/** A pool with the finalizer of a controller that does not run. */
async function heldPool(controlPlane: ControlPlane): Promise<void> {
  await install(controlPlane, "nodepool");
  const metadata = { name: "held", finalizers: ["nodes.lailin.xyz/nodepool"] };
  const pool = { apiVersion: "nodes.lailin.xyz/v1", kind: "NodePool", metadata, spec: {} };
  await controlPlane.kubectlOutput(["apply", "--filename=-"], { stdin: JSON.stringify(pool) });
}

controlPlaneTest(
  "objects with our finalizers cause a warning, end the wait with advice, and are deleted once the controller runs",
  async (controlPlane) => {
    await heldPool(controlPlane);
    const late = await uninstall(controlPlane, "nodepool", "--yes", "--timeout", "2s");
    assertEquals([late.code, late.stdout], [1, ""]);
    const warning =
      "1 object has the finalizer nodes\\.lailin\\.xyz/nodepool of the controller nodepool, for example held";
    assertMatch(
      late.stderr,
      new RegExp(`${nodepools}: ${warning}; they stay until it runs: controller run nodepool\\n`),
    );
    assertMatch(
      late.stderr,
      /Cannot delete .*: after 2s 1 object left, .* Run the controller nodepool until they are gone/,
    );
    const { stdout: seen } = await runBinary(["doctor", "nodepool"], { kubeconfig: controlPlane.kubeconfig });
    assertMatch(seen, /FAILED +definition +nodepools\.nodes\.lailin\.xyz +being deleted/);
    await using running = new Binary(["run", "nodepool"], { kubeconfig: controlPlane.kubeconfig });
    const { code, stdout, stderr } = await uninstall(controlPlane, "nodepool", "--yes");
    assertEquals(code, 0, stderr);
    assertMatch(stdout, / deleted\n$/);
    assert(running.isRunning);
    await install(controlPlane, "nodepool");
  },
);

if (noTerminal !== undefined) test.skip("uninstall-crds asks on a terminal", noTerminal);
else {
  controlPlaneTest("uninstall-crds asks on a terminal and follows the answer", async (controlPlane) => {
    const { kubeconfig } = controlPlane;
    await install(controlPlane, "ecsbinding");
    await makeObjects(controlPlane, "v1", { a: { id: "i-1" } });
    const args = ["uninstall-crds", "ecsbinding"];
    const no = await onTerminal(args, { kubeconfig, answer: { when: "[y/N]", text: "n\n" } });
    assertEquals(no.code, 1, no.shown);
    assertMatch(no.shown, /Delete 1 definition and 1 object from https:\/\/[^ ]+ permanently\? \[y\/N\] /);
    assertMatch(no.shown, /Cannot uninstall: it was not confirmed/);
    await controlPlane.kubectlOutput(["get", "ecsbinding", "a"]);
    const yes = await onTerminal(args, { kubeconfig, answer: { when: "[y/N]", text: "y\n" } });
    assertEquals(yes.code, 0, yes.shown);
    assertMatch(yes.shown, / deleted\n/);
    await install(controlPlane, "ecsbinding");
  });

  controlPlaneTest(
    "on a terminal progress is one line that is overwritten, in colours unless NO_COLOR is set",
    async (controlPlane) => {
      const { kubeconfig } = controlPlane;
      await runBinary(["uninstall-crds", "ecsbinding", "--yes"], { kubeconfig });
      await using proxy = await ApiProxy.start(controlPlane);
      const missing = () => Response.json({ kind: "Status", code: 404, reason: "NotFound" }, { status: 404 });
      const late = proxy.respond(missing, ({ path }) => path === "/apis/hopegi.com/v1");
      const ending = onTerminal(["install-crds", "ecsbinding"], { kubeconfig: proxy.kubeconfig });
      await until("see discovery asked twice", () => {
        const asked = proxy.requests.filter(({ path }) => path === "/apis/hopegi.com/v1").length;
        return asked > 1 ? { kind: "found", value: undefined } : { kind: "pending", state: `${asked} times` };
      });
      late[Symbol.dispose]();
      const { code, shown } = await ending;
      assertEquals(code, 0, shown);
      // A line is never wider than the terminal.
      const waiting = "\rcontroller: waiting for ecsbinding.hopegi.com (1 of 1): hopegi.com/v1 is not";
      assert(shown.includes(waiting) && shown.includes("\u001b[K\r"), JSON.stringify(shown));
      assert(shown.endsWith("\r\u001b[K"), JSON.stringify(shown));
      const doctor = ["doctor", "ecsbinding"];
      const { shown: colored } = await onTerminal(doctor, { kubeconfig });
      assert(colored.startsWith("\u001b[32mok\u001b[0m   cluster"), colored);
      const plain = await onTerminal(doctor, { kubeconfig, env: { NO_COLOR: "1" } });
      assertMatch(plain.shown, /^ok +cluster/);
    },
  );
}
