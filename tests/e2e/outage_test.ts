/**
 * An outage of a real API server that is long enough for the backoffs to grow: the compiled binary follows the server
 * within seconds of its return, and its readiness says when it does. Run with:
 *
 *   ./compile.sh && deno run -A tests/controlplane/with.ts -- deno test -A tests/e2e/outage_test.ts
 */
import { until } from "../controlplane/mod.ts";
import { controlPlaneTest, createNamespace } from "../controlplane/test.ts";
import { freePort } from "../free_port.ts";
import { assertEquals, assertMatch } from "../testing.ts";
import { Binary } from "./_binary.ts";
import { installFoo, TestNamespace } from "./_cluster.ts";

/** Waits until `/readyz` has this status. @returns its text @throws Error when the process ends, with its log */
async function readiness(process: Binary, port: number, status: number): Promise<string> {
  return await until(`see status ${status} of /readyz`, async () => {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    const text = await response?.text() ?? "no response";
    if (response?.status === status) return { kind: "found", value: text };
    if (!process.isRunning) throw new Error(`Cannot see status ${status}: the process ended\n${process.stderr}`);
    return { kind: "pending", state: `it was ${response?.status}: ${text}\n${process.stderr}` };
  });
}

controlPlaneTest(
  "[12] a standby follows the server within seconds after an outage, is not ready meanwhile, and leads",
  async (controlPlane) => {
    await installFoo(controlPlane);
    const namespace = new TestNamespace(controlPlane, await createNamespace(controlPlane));
    const port = await freePort();
    const { kubeconfig } = controlPlane;
    const args = ["run", "foo", "-n", namespace.name, "--leader-elect"];
    await using leader = new Binary(args, { kubeconfig });
    await namespace.applyFoo({ name: "a", deploymentName: "web", replicas: 1 });
    await namespace.eventually("deployment/web", () => true);
    await using standby = new Binary([...args, `--health-probe-bind-address=127.0.0.1:${port}`], { kubeconfig });
    await readiness(standby, port, 200);
    await controlPlane.stopApiServer();
    assertEquals((await leader.ended(120_000)).code, 7, "its Lease cannot be renewed");
    assertMatch(await readiness(standby, port, 500), /server unreachable|has not responded|stream was interrupted/);
    // The next attempt of a cache would come after more than 20 s.
    await standby.logged(/retrying .*delayMs=[2-6]\d{4}/, 120_000);
    await controlPlane.startApiServer();
    await namespace.applyFoo({ name: "b", deploymentName: "api", replicas: 1 });
    await readiness(standby, port, 200);
    await namespace.eventually("deployment/api", () => true, 60_000);
    standby.signal("SIGTERM");
    assertEquals((await standby.ended()).code, 0);
  },
  { own: {} },
);
