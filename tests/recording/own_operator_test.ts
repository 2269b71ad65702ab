/** An operator of one's own, made with the public modules only, has `replay` beside `dev --record`. */
import { websiteController } from "../../examples/operator/controller.ts";
import { Website } from "../../examples/operator/website.ts";
import { RecordFolder } from "../../src/cli/recording/testing/record_folder.ts";
import { type Operator, operatorCli, type OperatorController, withSamples } from "../../src/mod.ts";
import { assert, assertEquals, assertMatch, test } from "../testing.ts";

/** Runs the operator's command line, on the clock of the system. */
async function run(controller: OperatorController, args: readonly string[], root: string) {
  const operator: Operator = { name: "website-operator", version: "1.0.0", controllers: [controller] };
  let [out, err] = ["", ""];
  const code = await operatorCli(operator, {
    args,
    environment: { HOME: root, XDG_RUNTIME_DIR: root },
    stdout: { write: (text) => out += text },
    stderr: { write: (text) => err += text },
  });
  return { code, out, err };
}

test("[136] an operator of one's own replays what dev has recorded, and its next build is compared", async () => {
  await using folder = await RecordFolder.make();
  const sample = {
    apiVersion: `${Website.group}/${Website.version}`,
    kind: "Website",
    metadata: { name: "blog" },
    spec: { html: "<h1>hello</h1>" },
  };
  const dev = ["dev", "--samples", "--until-settled", "--quiet", "--record", folder.path];
  const recorded = await run(withSamples(websiteController, [sample]), [...dev, "--all"], folder.root);
  assertEquals(recorded.code, 0, recorded.err);
  const same = await run(websiteController, ["replay", folder.path], folder.root);
  assertEquals([same.code, same.out], [0, ""], same.err);
  assertMatch(same.err, /^website-operator: replay: [1-9]\d* reconciles? do(es)? the same$/m);
  const idle = { ...websiteController, reconciler: () => Promise.resolve({ kind: "done" } as const) };
  const next = await run(idle, ["replay", folder.path], folder.root);
  assertEquals(next.code, 2);
  assert(next.out.includes("this build does not apply"), next.out);
});
