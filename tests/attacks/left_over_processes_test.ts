/**
 * Attacks by programs that leave others behind: a kubeconfig names a credential plugin, and the plugin starts processes
 * that keep its outputs, ignore signals and outlive it. A generator combines what the plugin does with what it starts.
 *
 * The rules: the run settles when the plugin ends, or at its limit; what it started is gone after a limit or an abort,
 * and whenever it keeps the pipes.
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import { nextTurn, spawn, type SpawnResult } from "../../src/runtime/mod.ts";
import { assert, assertEquals, assertMatch, test } from "../testing.ts";

/** How the plugin itself ends. */
const plugins = [
  { name: "ends", script: "exit 0", kind: "ended" },
  { name: "fails", script: "exit 3", kind: "ended" },
  { name: "waits", script: "wait", kind: "timedOut" },
  { name: "writes for ever", script: "while :; do echo 0123456789; done", kind: "tooMuchOutput" },
  { name: "is killed", script: "kill -9 $$", kind: "killed" },
] as const;

/** Which pipes of the plugin the grandchild keeps. */
const pipes = [
  { name: "all pipes", redirection: "", keeps: true },
  { name: "standard output", redirection: "2>/dev/null </dev/null", keeps: true },
  { name: "standard error", redirection: ">/dev/null </dev/null", keeps: true },
  { name: "no pipe", redirection: ">/dev/null 2>/dev/null </dev/null", keeps: false },
];

/** What the plugin starts. The last one does more work than to wait: a tree of processes. */
const grandchildren = ["sleep 600", "trap '' TERM HUP INT; sleep 600; :", "(sleep 600 & sleep 600; :); :"];

/** The script: it prints the process ids of what it starts. */
function script(plugin: string, redirection: string, grandchild: string): readonly string[] {
  return ["/bin/sh", "-c", `/bin/sh -c ${quoted(grandchild)} ${redirection} &\necho $! $$\n${plugin}`];
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** False for a process that is gone, or that only waits for its parent to notice. */
function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

async function untilGone(pid: number): Promise<boolean> {
  for (let turn = 0; turn < 20_000 && isRunning(pid); turn++) await nextTurn();
  return !isRunning(pid);
}

/** The ids of the grandchild and of the group. */
function idsOf(result: Extract<SpawnResult, { stdout: string }>): readonly [pid: number, group: number] {
  assertMatch(result.stdout, /^\d+ \d+\n/);
  const [pid = "", group = ""] = (result.stdout.split("\n")[0] ?? "").split(" ");
  return [Number(pid), Number(group)];
}

for (const [turn, plugin] of plugins.entries()) {
  test(`a plugin that ${plugin.name} settles, whatever the processes that it started keep`, async () => {
    for (const [index, { name, redirection, keeps }] of pipes.entries()) {
      const grandchild = grandchildren[(index + turn) % grandchildren.length] ?? "";
      const label = `${grandchild} with ${name}`;
      const limits = plugin.kind === "timedOut" ? { timeoutMs: 50 } : {};
      const result = await spawn(script(plugin.script, redirection, grandchild), {
        env: { PATH: "/usr/bin:/bin" },
        maxOutputBytes: 10_000,
        ...limits,
      });
      assert("stdout" in result && result.kind === plugin.kind, `${label}: ${result.kind}`);
      const [pid, group] = idsOf(result);
      const mustEnd = keeps || plugin.kind === "timedOut" || plugin.kind === "tooMuchOutput";
      if (mustEnd) assert(await untilGone(pid), `${label} lives on`);
      else await spawn(["/bin/sh", "-c", `kill -9 -${group}`]);
    }
  });
}

test("an abort rejects at once and ends what the plugin started", async () => {
  for (const { redirection } of pipes) {
    for (const grandchild of grandchildren) {
      const controller = new AbortController();
      const reason = new Error("enough");
      const { mkdtemp, readFile, rm } = await import("node:fs/promises");
      const folder = await mkdtemp("/tmp/pintle-left-over-");
      // The write of the file tells that the grandchild runs.
      const command = [
        "/bin/sh",
        "-c",
        `/bin/sh -c ${quoted(grandchild)} ${redirection} &\necho $! > ${folder}/pid; wait`,
      ];
      const running = spawn(command, { env: { PATH: "/usr/bin:/bin" }, signal: controller.signal });
      let outcome: unknown;
      running.then((result) => outcome = result, (error) => outcome = error);
      let text = "";
      while (!text.endsWith("\n")) text = await readFile(`${folder}/pid`, "utf8").catch(() => "");
      controller.abort(reason);
      for (let turn = 0; turn < 2; turn++) await nextTurn();
      assertEquals(outcome, reason);
      assert(await untilGone(Number(text)), `${grandchild} ${redirection} lives on`);
      await rm(folder, { recursive: true });
    }
  }
});

test("[security 4] a plugin whose processes leave its group settles, and what still writes to its pipes ends", async () => {
  // A new session is no member of the group: only the closed pipes reach it.
  const grandchildren = [
    { name: "waits", script: "echo $$ >&2; exec sleep 600", ends: false },
    { name: "writes", script: "echo $$ >&2; while echo line; do :; done; exit 1", ends: true },
  ];
  for (const { name, script, ends } of grandchildren) {
    for (const plugin of ["exit 0", "wait", "kill -9 $$"]) {
      const result = await spawn(["/bin/sh", "-c", `setsid /bin/sh -c ${quoted(script)} &\n${plugin}`], {
        env: { PATH: "/usr/bin:/bin" },
        maxOutputBytes: 10_000,
        timeoutMs: 500,
      });
      assert("stderr" in result, `${name} ${plugin}: ${result.kind}`);
      const pid = Number(/\d+/.exec(result.stderr)?.[0]);
      assert(pid > 0, `${name} ${plugin}: ${result.stderr}`);
      if (ends) assert(await untilGone(pid), `${name} ${plugin} lives on`);
      else if (isRunning(pid)) process.kill(pid, "SIGKILL");
    }
  }
});
