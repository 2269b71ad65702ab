import { z } from "zod";
import { assert, assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { builtin } from "../../api/mod.ts";
import { controller, done } from "../../controller/mod.ts";
import { withFlags } from "../../manager/mod.ts";
import { flag } from "../flags/mod.ts";
import { TestFolder } from "../testing/test_folder.ts";
import { type CommandResult, runCommandLine } from "../testing/run_command.ts";

const keeper = controller("keeper").for(builtin.ConfigMap).reconcile(() => Promise.resolve(done));
const keeperFlags = z.object({
  greeting: flag(z.string().max(5, { error: "it is too long" }).default("Hello"), {
    flags: "--greeting <word>",
    about: "how maps are greeted",
    isReloadable: true,
  }),
});
const operator = { name: "op", version: "1.0.0", controllers: [withFlags(keeper, keeperFlags, () => keeper)] };

async function configWith(
  text: string,
  { args = [], environment = {} }: { args?: readonly string[]; environment?: Record<string, string> } = {},
): Promise<CommandResult & { readonly path: string }> {
  await using folder = await TestFolder.create();
  const path = await folder.write("op.yaml", text);
  return { ...await runCommandLine(operator, ["config", "--config", path, ...args], { environment }), path };
}

/** The columns of a setting. */
function rowOf({ out }: CommandResult, key: string): readonly string[] {
  const line = out.split("\n").find((one) => one.startsWith(`${key} `)) ?? "";
  return line.split(/ {3,}/).slice(1);
}

test("config prints each setting with where it comes from: the flag, the environment, the file, or the default", async () => {
  const result = await configWith(
    "workers: 2\nresync: 5m\nnamespace:\n- team-a\n- team-b\nkubeApiQps: 20\ngreeting: Hi\n",
    {
      args: ["--workers", "4"],
      environment: { OP_RESYNC: "10m", OP_WORKERS: "3" },
    },
  );
  const { path } = result;
  assertEquals([result.code, result.err], [0, ""]);
  assertEquals(rowOf(result, "workers"), ["4", "-", "--workers"]);
  assertEquals(rowOf(result, "resync"), ["10m", "-", "OP_RESYNC"]);
  assertEquals(rowOf(result, "namespace"), ["team-a,team-b", "-", `${path}:3`]);
  assertEquals(rowOf(result, "kubeApiQps"), ["20", "yes", `${path}:6`]);
  assertEquals(rowOf(result, "greeting"), ["Hi", "yes", `${path}:7`]);
  assertEquals(rowOf(result, "webhookPort"), ["9443", "-", "default"]);
  assertEquals(rowOf(result, "leaderElect"), ["false", "-", "default"]);
  assertEquals(rowOf(result, "verbose"), ["0", "yes", "default"]);
});

test("config never prints a secret", async () => {
  const result = await configWith("", { environment: { OP_TOKEN: "s3cret-value" } });
  assertEquals(result.code, 0);
  assertEquals(rowOf(result, "token"), ["[masked]", "-", "OP_TOKEN"]);
  assert(!result.out.includes("s3cret-value"));
});

test("config checks the values of a file, and names the line of a wrong one", async () => {
  const wrong = await configWith("workers: 1\nnamespace:\n- team-a\n- Team_B\n");
  assertEquals(wrong.code, 2);
  assertMatch(wrong.err, /Cannot parse .*op\.yaml:4 namespace "Team_B": /);
  const own = await configWith("\ngreeting: Good evening\n");
  assertEquals(own.code, 2);
  assertMatch(own.err, /Cannot parse .*op\.yaml:2 greeting "Good evening": it is too long/);
  const unknown = await configWith("workers: 1\nworker: 2\n");
  assertEquals(unknown.code, 2);
  assertMatch(unknown.err, /op\.yaml:2: no flag has the key "worker"\. Did you mean: workers/);
  const burst = await configWith("kubeApiBurst: 5\n");
  assertMatch(burst.err, /--kube-api-burst needs --kube-api-qps/);
});

test("run refuses a file that it cannot read before it connects", async () => {
  const { code, err } = await runCommandLine(operator, ["run", "--all", "--config", "/nonexistent/op.yaml"]);
  assertEquals(code, 2);
  assertMatch(err, /Cannot read configuration "\/nonexistent\/op\.yaml": /);
});
