/** Tests of the flag `--without-faults` and of the text that it prints; the runs are tested in tests/e2e. */
import type { FaultFreeReport, FaultFreeRun, FaultFreeStep } from "../../simulation/mod.ts";
import { assertEquals, assertStringIncludes, test } from "../../../tests/testing.ts";
import { exitCode } from "../command/mod.ts";
import { operatorCli } from "../operator_cli.ts";
import { TestProcess } from "../testing/test_process.ts";
import { faultFreeLines } from "./without_faults.ts";

async function errorOf(...words: readonly string[]): Promise<string> {
  const fake = new TestProcess(["simulate", "--without-faults", "3", ...words]);
  assertEquals(await operatorCli({ name: "op", controllers: [] }, fake), exitCode.usage);
  return fake.err;
}

test("--without-faults is for programs, and is not combined with flags about faults", async () => {
  assertStringIncludes(await errorOf("greeter"), "Cannot run without faults only: --without-faults is for programs");
  const combined = await errorOf("--command", "./manager", "--faults", "crash", "--storms", "2", "--points", "5");
  assertStringIncludes(combined, "Cannot combine --without-faults with --faults, --storms, --points");
});

const applied: FaultFreeStep = { step: 1, text: "apply Zoo a", kind: "done", ms: 250 };
const waited: FaultFreeStep = { step: 2, text: "wait for Zoo a to be Ready", kind: "done", ms: 1_000 };

function runOf(steps: readonly FaultFreeStep[], more: Partial<FaultFreeRun> = {}): FaultFreeRun {
  return { steps, ms: 1_250, cpuMs: 70, maxRssBytes: 30 * 2 ** 20, leftovers: [], output: [], ...more };
}

function textOf(report: Partial<FaultFreeReport>): readonly string[] {
  const lines = faultFreeLines({ workload: "create", runs: [], failures: [], differences: [], ...report });
  return lines.map((line) =>
    [line].flat().map((cell) => typeof cell === "string" ? cell : cell.text).join("").replaceAll(/ +/g, " ").trim()
  );
}

test("the report has the fastest and the slowest time of each step, and what the program uses", () => {
  const slower = runOf([{ ...applied, ms: 500 }, waited], { ms: 1_500, cpuMs: 90, leftovers: ["secrets default/a"] });
  assertEquals(textOf({ runs: [runOf([applied, waited]), slower] }), [
    'workload "create", 2 runs without faults:',
    "STEP FASTEST SLOWEST RESULT",
    "1 apply Zoo a 0.25 s 0.50 s done",
    "2 wait for Zoo a to be Ready 1.00 s 1.00 s done",
    "all steps 1.25 s 1.50 s",
    "CPU time of the program 0.07 s 0.09 s",
    "memory of the program 30 MiB 30 MiB",
    "stays after deletions: secrets default/a",
    "the runs that came to the end are alike",
  ]);
});

test("the report has the step that fails, in how many runs, and the last lines of the program in such a run", () => {
  const bad = runOf([applied, { ...waited, kind: "timedOut", message: "it is not" }], { output: ["no quorum"] });
  const failures = ["step 2, wait for Zoo a to be Ready, fails in 1 of 3 runs: it is not"];
  const broken = runOf([{ ...applied, isBusy: true }]);
  const lines = textOf({ runs: [runOf([applied, waited], { output: ["all is well"] }), bad, broken], failures });
  assertEquals(lines.slice(2, 4), [
    "1 apply Zoo a 0.25 s 0.25 s does not come to rest in 1 of 3 runs",
    "2 wait for Zoo a to be Ready 1.00 s 1.00 s timed out in 1 of 3 runs, not performed in 1 of 3 runs",
  ]);
  assertEquals(lines.slice(-3), [...failures, "the last lines of the program:", "no quorum"]);
});

test("the report has the differences, and no use where it is not known", () => {
  const unmeasured = { steps: [applied], ms: 250, leftovers: [], output: [] };
  const differences = Array.from({ length: 12 }, (_, index) => `difference ${index + 1}`);
  const lines = textOf({ runs: [unmeasured, unmeasured], differences });
  assertEquals(lines.slice(3, 6), ["all steps 0.25 s 0.25 s", "runs without faults differ:", "difference 1"]);
  assertEquals(lines.at(-1), "2 more differences (-o json)");
});
