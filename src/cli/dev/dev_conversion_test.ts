/** Tests that `dev`, `simulate` and `run` convert kinds with several versions, and refuse those that nothing converts. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assertEquals, assertStringIncludes, test } from "../../../tests/testing.ts";
import { ConfigMap } from "../../api/mod.ts";
import { controller, done } from "../../controller/mod.ts";
import { type OperatorController, withSamples, withWebhooks } from "../../manager/mod.ts";
import { cronTabConversion, cronTabSample, CronTabV2, unwiredController } from "../../manager/testing/cron_tabs.ts";
import { type CommandResult, runCommandLine } from "../testing/run_command.ts";

/** Records what it reads. */
function recorder(seen: unknown[]): OperatorController {
  const definition = controller("recorder").for(CronTabV2).reconcile((ctx) => {
    seen.push(ctx.object.spec);
    return Promise.resolve(done);
  });
  return withSamples(definition, [cronTabSample]);
}

/** Another controller of the operator has the conversion. */
const converter: OperatorController = withWebhooks(
  controller("converter").for(ConfigMap).reconcile(() => Promise.resolve(done)),
  [cronTabConversion],
);

async function call(line: string, controllers: readonly OperatorController[]): Promise<CommandResult> {
  const folder = await mkdtemp(join(tmpdir(), "pintle-conversion-"));
  try {
    const environment = { XDG_RUNTIME_DIR: folder };
    return await runCommandLine({ name: "op", version: "1.0.0", controllers }, line.split(" "), { environment });
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("[110] dev gives a controller its version of an object that a user wrote in another one", async () => {
  const seen: unknown[] = [];
  const { code, err } = await call("dev recorder --samples --until-settled", [recorder(seen), converter]);
  assertEquals([code, seen], [0, [{ minute: "30", hour: "2", suspend: false }]], err);
});

test("[110] simulate gives a controller its version of an object that a user wrote in another one", async () => {
  const seen: unknown[] = [];
  const { code, err } = await call("simulate recorder --seeds 0 --faults crash", [recorder(seen), converter]);
  assertEquals(code, 0, err);
  assertEquals(seen[0], { minute: "30", hour: "2", suspend: false });
});

test("[84, 111] a kind with several versions that nothing converts is refused, and the message says what to do", async () => {
  const lines = ["dev clock", "simulate clock", "run clock", "install-crds --dry-run=client", "manifests"];
  for (const line of lines) {
    const { code, out, err } = await call(line, [unwiredController]);
    assertEquals([code, out], [1, ""], `${line}: ${err}`);
    assertStringIncludes(err, "op: Cannot serve CronTab: its versions v2 and v1 have different schemas");
    assertStringIncludes(err, "Add converting(...) to a controller with withWebhooks()");
  }
});
