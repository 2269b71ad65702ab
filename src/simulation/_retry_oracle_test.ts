import { createTestToolbox } from "../../tests/fakes/toolbox.ts";
import { assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { VirtualClock } from "../async/mod.ts";
import { controller, done } from "../controller/mod.ts";
import { RetryOracle } from "./_retry_oracle.ts";

/** The violations of attempts in a row. @param attempts the failures that the engine counts, and whether it fails again */
async function violationsOf(
  attempts: readonly { readonly retries: number; readonly fails?: boolean }[],
): Promise<readonly string[]> {
  const oracle = new RetryOracle();
  let isFailing = false;
  const definition = controller("retried").for(builtin.Namespace).reconcileKey(() =>
    isFailing ? Promise.reject(new Error("failed")) : Promise.resolve(done)
  );
  const [observed] = oracle.observed([definition], { processId: 1, clock: new VirtualClock() });
  for (const { retries, fails = false } of attempts) {
    const { toolbox } = createTestToolbox({ retries });
    isFailing = fails;
    const attempt = async () => await observed?.reconciler(toolbox.request, toolbox);
    if (fails) await assertRejects(attempt, /failed/);
    else await attempt();
  }
  return oracle.violations().map(({ message }) => message.replace(/ of retried .*,/, " of a key,"));
}

test("failures that are still counted after a success are a violation", async () => {
  assertEquals(await violationsOf([{ retries: 0, fails: true }, { retries: 1 }, { retries: 1 }]), [
    "process 1 counts 1 failures of a key, whose last reconcile succeeded",
  ]);
});

test("failures in a row are none", async () => {
  assertEquals(await violationsOf([{ retries: 0, fails: true }, { retries: 1, fails: true }, { retries: 2 }]), []);
  assertEquals(await violationsOf([{ retries: 0 }, { retries: 0, fails: true }, { retries: 1 }]), []);
});
