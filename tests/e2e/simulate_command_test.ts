/**
 * Tests of `simulate --command` with a small operator that is a program of its own: its seeded bug is found, with a plan that
 * reproduces it, and its correct twin is not accused.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FaultFreeReport } from "../../src/simulation/mod.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes, test } from "../testing.ts";
import { runBinary } from "./_binary.ts";

const root = join(import.meta.dirname ?? ".", "..", "..");
const folder = "tests/e2e/foreign_operator";
/** Of one command: it starts hundreds of processes, on a machine that runs other tests. */
const timeoutMs = 900_000;

interface ShownReport {
  readonly schedules: number;
  readonly findings: readonly {
    readonly plan: { readonly faults: readonly object[] };
    readonly replay: string;
    readonly steps?: readonly number[];
    readonly seen: number;
    readonly violations: readonly {
      readonly invariant: string;
      readonly message: string;
      readonly consequence: string;
      readonly object: string;
    }[];
    readonly errors: readonly string[];
  }[];
}

/** Runs the command. @param bug of the operator, or its variables: `BUG=half ELECT=1` */
async function simulate(bug: string, ...args: readonly string[]): Promise<{ code: number; reports: ShownReport[] }> {
  const workload = args.includes("--workload") ? [] : ["--workload", `${folder}/workload.yaml`];
  const { code, stdout, stderr } = await simulateCommand(bug, ["-o", "json", ...args, ...workload]);
  assert(stdout.startsWith("["), stderr);
  return { code, reports: JSON.parse(stdout) };
}

async function simulateCommand(bug: string, args: readonly string[]) {
  const operator = `env ${
    bug.includes("=") ? bug : `BUG=${bug}`
  } ${Deno.execPath()} run -A --no-check ${folder}/operator.mjs {kubeconfig}`;
  const crd = ["--crds", `${folder}/crd.yaml`];
  return await runBinary(["simulate", "--command", operator, ...crd, "--quiet-seconds", "1", ...args], {
    cwd: root,
    timeoutMs,
  });
}

test("simulate --command finds that a crash between two creates loses the second one, and its plan shows it again", async () => {
  const { code, reports: [report] } = await simulate("half", "--faults", "crash", "--max-findings", "1");
  const [finding] = report?.findings ?? [];
  assertEquals(code, 1);
  assertEquals(finding?.violations[0]?.object, "configmaps default/a");
  assert(finding !== undefined && finding.seen >= 2);
  // Creating an Account shows it; neither its deletion nor the next one is needed.
  assert(finding.steps?.length === 1 && finding.replay.includes(` --steps ${finding.steps[0]} `), finding.replay);
  assert(finding.replay.includes(`--plan '${JSON.stringify(finding.plan)}'`), finding.replay);
  const again = await simulate("half", "--plan", JSON.stringify(finding.plan));
  assertEquals(again.reports[0]?.findings[0]?.violations[0]?.object, "configmaps default/a");
  const fixed = await simulate("none", "--plan", JSON.stringify(finding.plan));
  assertEquals([fixed.code, fixed.reports[0]?.findings], [0, []]);
});

test("simulate --command finds what a restart on a stale server deletes", async () => {
  const args = ["--faults", "stale", "--max-findings", "1", "--jobs", "2"];
  const { reports: [report] } = await simulate("stale", ...args);
  assert(report?.findings[0]?.violations.some(({ object }) => object === "secrets default/a"));
});

test("simulate --command finds a Secret that stays after the deletion of its Account, and what it means", async () => {
  const args = ["--workload", `${folder}/deletion.yaml`, "--faults", "crash", "--max-findings", "1"];
  const { code, reports: [report] } = await simulate("leak", ...args);
  const [first] = report?.findings[0]?.violations ?? [];
  assertEquals([code, first?.invariant, first?.object], [1, "leaked-object", "secrets default/a"]);
  assertEquals(first?.consequence, "The Secret default/a stays after the deletion of Account default/a.");
});

test("simulate --command finds a crash loop, with the errors of the program as a hint", async () => {
  const args = ["--workload", `${folder}/deletion.yaml`, "--faults", "crash", "--max-findings", "1"];
  const { reports: [report] } = await simulate("loop", ...args);
  const [finding] = report?.findings ?? [];
  assertEquals(finding?.violations[0]?.message, "the program exits with code 1, 3 times after the last fault");
  assertEquals(finding?.errors, ["ERROR the ConfigMap a is missing (3 times)"]);
});

test("simulate --command shrinks a storm to the fault and the step that are needed", async () => {
  const args = ["--faults", "crash", "--points", "0", "--storms", "2", "--max-findings", "1", "--jobs", "2"];
  const { reports: [report] } = await simulate("half", ...args);
  const [finding] = report?.findings ?? [];
  assertEquals([finding?.plan.faults.length, finding?.steps?.length], [1, 1]);
});

test("simulate --command records a run, and why tells from it how a fault led to the finding", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pintle-simulate-command-"));
  try {
    const file = join(folder, "violation.jsonl");
    const write = { verb: "create", resource: "secrets", name: "default/a", occurrence: 1, step: 1 };
    const plan = { faults: [{ kind: "crash", write, moment: "committed", downMs: 50 }] };
    const { code } = await simulate("half", "--plan", JSON.stringify(plan), "--steps", "1", "--record", file);
    assertEquals(code, 1);
    const { stdout: text } = await runBinary(["why", "--file", file, "secret", "default/a"], { cwd: root });
    assertMatch(
      text,
      /Secret default\/a was created by process 1 .*\(fault: crash before the response to the first create /,
    );
    assertStringIncludes(text, "→ process 1: the process is killed\n");
    assertStringIncludes(text, "→ process 2 starts\n");
    assertMatch(text, /violated: .*configmaps default\/a/);
    assert(!readFileSync(file, "utf8").includes(btoa("anna")), "the recording has the data of the Secret");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("simulate --command --without-faults reports steps and CPU time, and exits with 1 when a step fails", async () => {
  const { stdout, code } = await simulateCommand("none", [
    ...["--workload", `${folder}/waiting.yaml`, "--without-faults", "2", "-o", "json"],
  ]);
  const [good, bad]: FaultFreeReport[] = JSON.parse(stdout);
  assertEquals(code, 1);
  assertEquals(good?.runs.map(({ steps }) => steps.map(({ text, kind }) => `${text}: ${kind}`)), [
    ["start the operator: done", "apply Account a: done"],
    ["start the operator: done", "apply Account a: done"],
  ]);
  assert(Deno.build.os !== "linux" || good?.runs.every(({ cpuMs = 0 }) => cpuMs > 0), "no CPU time was measured");
  assertEquals([good?.failures, good?.differences], [[], []]);
  assertMatch(bad?.failures.join() ?? "", /^step 1, wait for Account b to exist, fails in 2 of 2 runs: /);
});

test("simulate --command --rbac finds a rule that the manifests of the program lack", async () => {
  const args = ["--rbac", `${folder}/rbac.yaml`, "--workload", `${folder}/deletion.yaml`, "--faults", "crash"];
  const { code, reports: [report] } = await simulate("none", ...args, "--jobs", "1");
  const [finding] = report?.findings ?? [];
  assertEquals([code, finding?.plan.faults], [1, []]);
  assertEquals(finding?.violations.map(({ message }) => message), [
    "the program may not create configmaps in the namespace default: its rules lack " +
    '{"apiGroups":[""],"resources":["configmaps"],"verbs":["create"]}',
  ]);
  assert(finding?.replay.includes(` --rbac ${folder}/rbac.yaml `), finding?.replay);
});

test("simulate --command --replicas finds what is lost when a standby takes over, and replicas without a lock", async () => {
  const args = ["--replicas", "2", "--workload", `${folder}/deletion.yaml`, "--max-findings", "1", "--jobs", "2"];
  const { reports: [report] } = await simulate("BUG=half ELECT=1", ...args, "--faults", "crash");
  const [finding] = report?.findings ?? [];
  assertEquals(finding?.violations[0]?.object, "configmaps default/a");
  assert(finding?.replay.includes(" --replicas 2 "), finding?.replay);
  const without = await simulate("none", ...args);
  const [first] = without.reports[0]?.findings[0]?.violations ?? [];
  assertEquals([first?.invariant, first?.message], ["one-leader", "two replicas write, and none of them has a lock"]);
});

test("simulate --command --replicas accuses no operator whose paused leader gives up when it has lost its Lease", async () => {
  const args = ["--replicas", "2", "--workload", `${folder}/deletion.yaml`, "--jobs", "2"];
  const kinds = ["--faults", "pause", "--faults", "lease", "--points", "6"];
  const { code, reports: [report] } = await simulate("BUG=none ELECT=1", ...args, ...kinds);
  assertEquals([code, report?.findings], [0, []]);
});

test("simulate --command accuses a correct operator of nothing", async () => {
  const kinds = ["crash", "stale", "answer", "event"].flatMap((kind) => ["--faults", kind]);
  const { code, reports: [report] } = await simulate("none", ...kinds, "--points", "40", "--jobs", "3");
  assertEquals([code, report?.findings], [0, []]);
  assert((report?.schedules ?? 0) > 40);
});
