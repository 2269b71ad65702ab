/**
 * The controller foo end to end: its cases with the compiled binary on a real control plane, and tests that need a process
 * and a server. Run with:
 *
 *   ./compile.sh && deno run -A tests/controlplane/with.ts -- deno test -A tests/e2e/foo_test.ts
 */
import { fooCases } from "../cases/foo.ts";
import type { ControlPlane } from "../controlplane/mod.ts";
import { controlPlaneTest, createNamespace } from "../controlplane/test.ts";
import { assertEquals, assertMatch } from "../testing.ts";
import { Binary } from "./_binary.ts";
import { binaryTests } from "./_binary_environment.ts";
import { installFoo, TestNamespace } from "./_cluster.ts";
import { ApiProxy } from "./_proxy.ts";

binaryTests(fooCases, "foo");

async function freshNamespace(controlPlane: ControlPlane): Promise<TestNamespace> {
  await installFoo(controlPlane);
  return new TestNamespace(controlPlane, await createNamespace(controlPlane));
}

controlPlaneTest("[61] a second signal ends the process at once with 1", async (controlPlane) => {
  const namespace = await freshNamespace(controlPlane);
  await using proxy = await ApiProxy.start(controlPlane);
  await namespace.applyFoo({ name: "a", deploymentName: "web", replicas: 1 });
  for (const signal of ["SIGTERM", "SIGINT", "SIGTERM"] as const) {
    const hold = proxy.hold(({ method, path }) => method !== "GET" && path.includes("/deployments"));
    await using binary = new Binary(["run", "foo", "-n", namespace.name], { kubeconfig: proxy.kubeconfig });
    await hold.arrived;
    binary.signal("SIGTERM");
    await binary.logged(/received a signal, finishing running reconciles/);
    binary.signal(signal);
    const { code, stderr } = await binary.ended();
    assertEquals(code, 1);
    assertMatch(stderr, /received a second signal, ending at once/);
  }
});

controlPlaneTest(
  "the controller survives an outage of the API server and catches up afterwards",
  async (controlPlane) => {
    const namespace = await freshNamespace(controlPlane);
    const { kubeconfig } = controlPlane;
    await using binary = new Binary(["run", "foo", "--namespace", namespace.name], { kubeconfig });
    await namespace.applyFoo({ name: "a", deploymentName: "web", replicas: 1 });
    await namespace.eventually("deployment/web", () => true);
    await controlPlane.stopApiServer();
    await binary.logged(/unreachable|refused/i);
    await controlPlane.startApiServer();
    await namespace.applyFoo({ name: "b", deploymentName: "api", replicas: 1 });
    await namespace.eventually("deployment/api", () => true);
    binary.signal("SIGTERM");
    assertMatch((await binary.ended()).stderr, /stopped/);
  },
  { own: {} },
);
