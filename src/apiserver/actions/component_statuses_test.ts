/** Tests of the health of components that run here. Those that do not run are compared with a real server. */
import { assertEquals, test } from "../../../tests/testing.ts";
import { componentStatuses } from "./component_statuses.ts";

const conditions = (...options: Parameters<typeof componentStatuses>) =>
  Object.fromEntries(
    componentStatuses(...options).objects().map(({ metadata, conditions }) => [
      (metadata as { readonly name: string }).name,
      conditions,
    ]),
  );

test("components that run are healthy, the others refuse connections", () => {
  const { scheduler, ...others } = conditions({ running: new Set(["scheduler"]), storageProblem: () => undefined });
  assertEquals(scheduler, [{ type: "Healthy", status: "True", message: "ok" }]);
  assertEquals(others["etcd-0"], scheduler);
  assertEquals(others["controller-manager"], [{
    type: "Healthy",
    status: "False",
    message: 'Get "https://127.0.0.1:10257/healthz": dial tcp 127.0.0.1:10257: connect: connection refused',
  }]);
});

test("etcd-0 is unhealthy while objects cannot be stored", () => {
  let problem: string | undefined = "the objects cannot be stored";
  const options = { running: new Set<never>(), storageProblem: () => problem };
  const { "etcd-0": failing } = conditions(options);
  assertEquals(failing, [{ type: "Healthy", status: "False", error: "the objects cannot be stored" }]);
  problem = undefined;
  assertEquals(conditions(options)["etcd-0"], [{ type: "Healthy", status: "True", message: "ok" }]);
});
