import { assert, assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { simulateController } from "./simulate_controller.ts";
import { correct, recreateWorkload } from "./testing/sample_controllers.ts";

test("simulateController() finds nothing in a correct controller, and says how often the workload ran", async () => {
  const { schedules, findings } = await simulateController(correct, {
    workloads: [recreateWorkload],
    points: 5,
    storms: 2,
  });
  assertEquals(findings, []);
  assert(schedules >= 7, `${schedules} schedules`);
});

test("simulateController() refuses a controller without workloads and samples, with what to do", async () => {
  await assertRejects(
    () => simulateController({ ...correct, workloads: undefined, samples: undefined }),
    /Cannot simulate controller "\w+": it has neither workloads nor samples\. Add some with withWorkloads\(\)/,
  );
});
