/** Tests of what simulated users do on the server of a program. */
import { seededRandom, systemClock } from "../../async/mod.ts";
import { assertEquals, test } from "../../../tests/testing.ts";
import { ControlPlane } from "./control_plane.ts";

test("trySend() deletes a Job as kubectl does, so that its Pods go with it", async () => {
  const errors: unknown[] = [];
  await using control = new ControlPlane({
    ...{ clock: systemClock, random: seededRandom(1), ca: "", onError: (error) => errors.push(error) },
    identity: { namespace: "operator-system", name: "operator" },
  });
  await control.ready();
  const jobs = "/apis/batch/v1/namespaces/default/jobs";
  const container = { name: "worker", image: "worker" };
  await control.trySend(jobs, "POST", {
    ...{ apiVersion: "batch/v1", kind: "Job", metadata: { name: "train" } },
    spec: { template: { spec: { restartPolicy: "Never", containers: [container] } } },
  });
  assertEquals(control.at(`${jobs}/train`)?.metadata.name, "train");
  await control.trySend(`${jobs}/train`, "DELETE", {});
  // The API's own default leaves it there with the finalizer "orphan".
  assertEquals([control.at(`${jobs}/train`), errors], [undefined, []]);
});
