/** Tests of how the gate runs its steps: the order, what runs at the same time, the output, and that no failure is lost. */
import { root } from "../tasks/_root.ts";
import { groupModule, testFiles } from "../tasks/test_group.ts";
import { type Job, runInOrder } from "../tasks/schedule.ts";
import { countable, countTests, cpuSecondsIn, type Ending, runSteps, type Step } from "../tasks/steps.ts";
import { errorsIn, failuresIn } from "../tasks/test_failures.ts";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { drain } from "../src/async/mod.ts";
import { until } from "./controlplane/mod.ts";
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes, test } from "./testing.ts";

/** Commands that run until the test ends them. */
class Commands {
  readonly #running = new Map<string, { readonly end: (code: number) => void; readonly say: (text: string) => void }>();
  readonly printed: string[] = [];

  get running(): readonly string[] {
    return [...this.#running.keys()];
  }

  get output(): string {
    return this.printed.join("");
  }

  readonly run = (command: readonly string[], say: (text: string) => void): Promise<Ending> => {
    const name = command.join(" ");
    if (name === "missing") return Promise.reject(new Error("there is no such program"));
    return new Promise((resolve) => {
      const end = (code: number) => {
        this.#running.delete(name);
        resolve({ code });
      };
      this.#running.set(name, { end, say });
    });
  };

  start(steps: readonly Step[], capacity: number) {
    return runSteps(steps, { capacity, run: this.run, print: (text) => this.printed.push(text) });
  }

  say(name: string, text: string): void {
    this.#running.get(name)?.say(text);
  }

  async end(name: string, code = 0): Promise<void> {
    const command = this.#running.get(name);
    assert(command !== undefined, `${name} does not run`);
    command.end(code);
    await drain();
  }
}

function step(name: string, options: Omit<Step, "name" | "command"> = {}): Step {
  return { name, command: [name], ...options };
}

test("steps run at the same time up to the capacity, in the order of the list", async () => {
  const commands = new Commands();
  const done = commands.start([step("a"), step("b", { load: 2 }), step("c"), step("d")], 3);
  assertEquals(commands.running, ["a", "b"]);
  await commands.end("a");
  assertEquals(commands.running, ["b", "c"]);
  await commands.end("b");
  assertEquals(commands.running, ["c", "d"]);
  await commands.end("d");
  await commands.end("c");
  assertEquals((await done).map(({ name, ok }) => [name, ok]), [["a", true], ["b", true], ["c", true], ["d", true]]);
});

test("a heavy step is not overtaken by light ones after it, and one above the capacity runs alone", async () => {
  const commands = new Commands();
  const done = commands.start([step("light"), step("heavy", { load: 9 }), step("other")], 2);
  assertEquals(commands.running, ["light"]);
  await commands.end("light");
  assertEquals(commands.running, ["heavy"]);
  await commands.end("heavy");
  assertEquals(commands.running, ["other"]);
  await commands.end("other");
  await done;
});

test("a light step overtakes a heavy one that waits for another heavy one, and not one that waits for light ones", async () => {
  const commands = new Commands();
  const names = ["heavy", "second", "light", "lighter"];
  const done = commands.start(names.map((name, index) => step(name, { load: index < 2 ? 2 : 1 })), 3);
  assertEquals(commands.running, ["heavy", "light"]);
  await commands.end("heavy");
  assertEquals(commands.running, ["light", "second"]);
  await commands.end("light");
  assertEquals(commands.running, ["second", "lighter"]);
  for (const name of ["second", "lighter"]) await commands.end(name);
  await done;
});

test("a step waits for those that it comes after, while steps behind it go on", async () => {
  const commands = new Commands();
  const done = commands.start([step("use", { after: ["make"] }), step("make"), step("other")], 3);
  assertEquals(commands.running, ["make", "other"]);
  await commands.end("make");
  assertEquals(commands.running, ["other", "use"]);
  await commands.end("use");
  await commands.end("other");
  assertEquals((await done).map(({ name }) => name), ["use", "make", "other"]);
});

test("steps that use the same thing never run at the same time, whatever the capacity", async () => {
  const commands = new Commands();
  const uses = "containers";
  const done = commands.start(
    [step("node", { uses }), step("kind", { uses }), step("other"), step("third", { uses })],
    9,
  );
  assertEquals(commands.running, ["node", "other"]);
  await commands.end("other");
  assertEquals(commands.running, ["node"]);
  await commands.end("node");
  assertEquals(commands.running, ["kind"]);
  await commands.end("kind");
  assertEquals(commands.running, ["third"]);
  await commands.end("third");
  assertEquals((await done).every(({ ok }) => ok), true);
});

test("a step after a failed one does not run and counts as failed, as does what comes after it", async () => {
  const commands = new Commands();
  const steps = [step("make"), step("use", { after: ["make"] }), step("report", { after: ["use"] }), step("other")];
  const done = commands.start(steps, 1);
  await commands.end("make", 1);
  await commands.end("other");
  const outcomes = await done;
  assertEquals(outcomes.map(({ name, ok }) => `${name} ${ok}`), [
    "make false",
    "use false",
    "report false",
    "other true",
  ]);
  assertEquals(outcomes.map(countable).map(({ failed }) => failed), [1, 1, 1, 0]);
  assertStringIncludes(commands.output, '=== use: FAILED: not run, because "make" failed\n');
});

test("a step that cannot be started counts as failed, and the others run", async () => {
  const commands = new Commands();
  const done = commands.start([step("missing"), step("a")], 1);
  await drain();
  await commands.end("a");
  assertEquals((await done).map(({ ok }) => ok), [false, true]);
  assertStringIncludes(commands.output, "Cannot run missing: there is no such program\n");
});

test("a step that crashes after its tests passed counts one failure beside them", async () => {
  const commands = new Commands();
  const done = commands.start([step("a")], 1);
  commands.say("a", "ok | 7 passed | 0 failed\n");
  await commands.end("a", 139);
  const [outcome] = await done;
  assert(outcome !== undefined);
  assertEquals(countable(outcome), { passed: 7, failed: 1, skipped: 0 });
});

test("a program that a signal ends, and one that does not exist, are failed steps", async () => {
  const print = () => {};
  const endsItself = ["deno", "eval", "Deno.kill(Deno.pid, 'SIGKILL')"];
  const steps = [{ name: "killed", command: endsItself }, { name: "none", command: ["/nonexistent/program"] }];
  assertEquals((await runSteps(steps, { print })).map(({ ok }) => ok), [false, false]);
});

test("the processor time of a step is that of its command and of the commands that those have waited for", async () => {
  const counts = "i=0; while [ $i -lt 500000 ]; do i=$((i+1)); done";
  const commands = [":", counts].map((inner) => ["/bin/sh", "-c", '/bin/sh -c "$1"; exit 0', "sh", inner]);
  const steps = commands.map((command, index) => ({ name: `${index}`, command }));
  const [idle, busy] = await runSteps(steps, { print: () => {} });
  assert(idle?.cpuSeconds !== undefined && busy?.cpuSeconds !== undefined);
  assert(busy.cpuSeconds > idle.cpuSeconds + 0.05, `${busy.cpuSeconds} and ${idle.cpuSeconds}`);
  assertEquals(cpuSecondsIn("0m0.010000s 0m0.020000s\n1m0.50s 2m1,25s\n"), 181.78);
  assertEquals(cpuSecondsIn(""), undefined);
});

test("the output of steps that run at the same time is printed in one block each", async () => {
  const commands = new Commands();
  const done = commands.start([step("a"), step("b")], 2);
  for (const [name, text] of [["a", "one "], ["b", "eins\n"], ["a", "two\n"], ["b", "zwei"]] as const) {
    commands.say(name, text);
  }
  await commands.end("b");
  commands.say("a", "three\n");
  await commands.end("a");
  await done;
  const output = commands.output.replaceAll(/\d+\.\d s/g, "0 s");
  assertStringIncludes(
    output,
    "\n=== b: b\neins\nzwei\n=== b: ok (0 s)\n\n=== a: a\none two\nthree\n=== a: ok (0 s)\n",
  );
});

test("the output of a step that runs alone is printed as it comes", async () => {
  const commands = new Commands();
  const done = commands.start([step("a")], 2);
  commands.say("a", "one");
  assertMatch(commands.output, /=== a: a\none$/);
  await commands.end("a", 3);
  assertMatch(commands.output, /one\n=== a: FAILED with 3 \(/);
  await done;
});

test("jobs that wait for themselves, for an unknown one, or share a name, are rejected", async () => {
  const perform = () => Promise.resolve();
  for (
    const [jobs, message] of [
      [[{ name: "a", after: ["b"] }, { name: "b", after: ["a"] }], /"a": it waits for "b", which never ends/],
      [[{ name: "a", after: ["none"] }], /"a": it waits for "none", which never ends/],
      [[{ name: "a" }, { name: "a" }], /two have the same name/],
    ] satisfies [Job[], RegExp][]
  ) {
    await assertRejects(() => runInOrder(jobs, 1, perform), message);
  }
});

test("an error of a job is thrown when no job runs any more", async () => {
  const performed: string[] = [];
  const perform = ({ name }: { readonly name: string }) => {
    performed.push(name);
    return name === "a" ? Promise.reject(new Error("broken")) : Promise.resolve();
  };
  await assertRejects(() => runInOrder([{ name: "a" }, { name: "b" }], 1, perform), /broken/);
  assertEquals(performed, ["a", "b"]);
});

test("countTests() adds the closing lines of Deno and Bun", () => {
  const deno =
    "\x1b[0m\x1b[32mok\x1b[0m | 5 passed (2 steps) | 0 failed (3s)\nFAILED | 1 passed | 2 failed | 3 ignored (1s)\n";
  assertEquals(countTests(`${deno} 10 pass\n 4 skip\n 1 fail\n`), { passed: 16, failed: 3, skipped: 7 });
});

test("a failed step tells all errors of its tests and the place and reason of each, whatever was printed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pintle-failures-"));
  try {
    writeFileSync(join(folder, "a_test.ts"), `Deno.test("a: b", () => { throw new Error("one\\n- x\\n+ y"); });\n`);
    writeFileSync(join(folder, "b_test.ts"), `Deno.test("c", () => {});\nthrow new TypeError("two");\n`);
    const long = `Deno.test("d", () => { throw new Error(["first", ..."x".repeat(900), "last"].join("\\n")); });\n`;
    writeFileSync(join(folder, "c_test.ts"), long);
    const test = (file: string) => {
      const args = ["test", "-A", "--no-check", "--no-config", "--quiet", file];
      return spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
    };
    const text = ["a_test.ts", "b_test.ts", "c_test.ts"].map(test).map(({ stdout, stderr }) => `${stdout}${stderr}`)
      .join("");
    const output = `${text}${"much more\n".repeat(500)}`;
    const [one, two, three] = failuresIn(output);
    assertMatch(three?.reason ?? "", /^Error: first \| x [^…]*… [^…]*x \| last$/);
    assertEquals([one, two], [
      { name: "a: b => ./a_test.ts:1:6", reason: "Error: one | - x | + y" },
      { name: "./b_test.ts (uncaught error)", reason: "(in promise) TypeError: two" },
    ]);
    assertMatch(errorsIn(output).join("\n"), /error: Error: one\n- x\n\+ y\n[^]*TypeError: two\n/);
    const commands = new Commands();
    const done = commands.start([step("a")], 1);
    commands.say("a", output);
    await commands.end("a", 1);
    const [outcome] = await done;
    assertEquals([outcome?.errors, outcome?.failures?.length], [errorsIn(output).join("\n\n"), 3]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the failures of Bun and Node have the test, its file and the reason, as those of Deno", () => {
  const folder = mkdtempSync(join(tmpdir(), "pintle-failures-"));
  try {
    const imports = `import { test } from "node:test";\n`;
    const failing = `test("a", () => {});\ntest("b: c", () => { throw new TypeError("Cannot do\\nthis"); });\n`;
    writeFileSync(join(folder, "a_test.ts"), `${imports}${failing}`);
    writeFileSync(join(folder, "b_test.ts"), `${imports}import { none } from "./none.ts";\ntest("d", none);\n`);
    const bun = spawnSync("sh", [join(root, "tasks", "bun.sh"), "test"], { cwd: folder, encoding: "utf8" }).stderr;
    const node = `FAILED /folder/c_test.js: d\nError: one\ntwo\n    at e (file:///folder/c_test.js:1:1)\n\n`;
    const [first, second, third] = failuresIn(`${bun}${node}`);
    assertEquals([first, second], [
      { name: "d => /folder/c_test.js", reason: "Error: one | two" },
      { name: "b: c => a_test.ts", reason: "TypeError: Cannot do | this" },
    ]);
    assertEquals(third?.name, "(error between tests) => b_test.ts");
    assertMatch(third?.reason ?? "", /^error: Cannot find module '\.\/none\.ts'/);
    assertMatch(errorsIn(bun).join("\n"), /^b: c => a_test\.ts\n1 \| import/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a step that fails without a test says how its output ends", async () => {
  const commands = new Commands();
  const done = commands.start([step("a")], 1);
  commands.say("a", "begins\nCannot open b\n");
  await commands.end("a", 3);
  assertEquals((await done)[0]?.failures, [{ name: "exit code 3", reason: "begins | Cannot open b" }]);
});

test("a group runs the tests of all files, names the file of each, and fails with a file that cannot be loaded", () => {
  const folder = mkdtempSync(join(tmpdir(), "pintle-group-"));
  try {
    const files = {
      "a_test.ts": `Deno.test("passes", () => {});\nDeno.test({ name: "later", ignore: true, fn: () => {} });\n`,
      "b_test.ts": `import "./none.ts";\n`,
      "c_test.ts": `Deno.test("fails", () => { throw new Error("on purpose"); });\n`,
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const found = testFiles([folder]);
    assertEquals(found.map((path) => path.slice(folder.length + 1)), Object.keys(files));
    assertEquals(testFiles([folder], { part: 2, of: 2 }), found.slice(1, 2));
    writeFileSync(join(folder, "group.js"), groupModule(found));
    const env = { ...process.env, NO_COLOR: "1" };
    const ran = spawnSync(process.execPath, ["test", "-A", "--no-check", "--no-config", "group.js"], {
      cwd: folder,
      env,
      encoding: "utf8",
    });
    assertEquals(ran.status, 1);
    assertMatch(ran.stdout, /a_test\.ts: passes \.\.\. ok/);
    assertMatch(ran.stdout, /b_test\.ts: the file can be loaded \.\.\. FAILED/);
    assertMatch(ran.stdout, /c_test\.ts: fails \.\.\. FAILED/);
    assertEquals(countTests(ran.stdout), { passed: 1, failed: 2, skipped: 1 });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

for (const signal of ["SIGTERM", "SIGINT", "SIGKILL"] as const) {
  test(`${signal} to the gate ends its commands and all that they have started, also what waits without handling signals`, async () => {
    const folder = mkdtempSync(join(tmpdir(), "pintle-steps-"));
    try {
      // As tasks/node.ts: it blocks until its own child ends. One of the two children ignores what asks it to end.
      const blocking = `import { spawnSync } from "node:child_process"; import { writeFileSync } from "node:fs";
        spawnSync("/bin/sh", ["-c", "trap '' TERM; sleep 600 & echo $$ $! >> ${folder}/pids; sleep 600"], { stdio: "inherit" });`;
      writeFileSync(join(folder, "blocking.ts"), blocking);
      writeFileSync(
        join(folder, "gate.ts"),
        `import { endWithSignals, runSteps } from ${JSON.stringify(new URL("../tasks/steps.ts", import.meta.url).href)};
         endWithSignals();
         await runSteps([{ name: "node", command: ["deno", "run", "-A", ${
          JSON.stringify(join(folder, "blocking.ts"))
        }] }]);`,
      );
      const config = join(import.meta.dirname ?? ".", "..", "deno.json");
      const gate = spawn(process.execPath, ["run", "-A", "--no-check", "--config", config, join(folder, "gate.ts")], {
        stdio: "ignore",
      });
      const closed = new Promise((resolve) => gate.once("close", resolve));
      const pids = await until("see the children of the step", () => {
        const found = existsSync(join(folder, "pids")) ? readFileSync(join(folder, "pids"), "utf8") : "";
        return found.endsWith("\n")
          ? { kind: "found", value: found.trim().split(/\s+/).map(Number) }
          : { kind: "pending", state: found };
      });
      assertEquals(pids.length, 2);
      assert(pids.every(isRunning));
      gate.kill(signal);
      await closed;
      await until(
        "see the end of the children",
        () =>
          pids.some(isRunning)
            ? { kind: "pending", state: pids.filter(isRunning).join(", ") }
            : { kind: "found", value: 0 },
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}

/** False for a process that is gone, or that only waits for its parent to notice. */
function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
