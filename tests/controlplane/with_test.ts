/**
 * Tests of with.ts as a program: the environment of its command, its exit code, and that nothing remains
 * after it was killed.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { assert, assertEquals, assertMatch, test } from "../testing.ts";
import { unavailableVariable } from "./description.ts";
import { until } from "./poll.ts";
import { run } from "./run.ts";
import { isRunning, processIds } from "./processes.ts";
import { controlPlaneTest } from "./test.ts";

const path = join(import.meta.dirname ?? ".", "with.ts");
/** Deno's own messages, such as one about a cache that another process holds, are not with.ts's. */
const runArgs = "Deno" in globalThis ? ["run", "--quiet", "-A", path] : [path];

controlPlaneTest("with.ts gives its command a cluster and kubectl and returns its exit code", async () => {
  const script = "kubectl get configmap applied --output=name; exit 7";
  const manifest = join(import.meta.dirname ?? ".", "testdata", "configmap.yaml");
  const ended = await run(process.execPath, [...runArgs, "--apply", manifest, "--", "sh", "-c", script]);
  assertEquals(ended, { kind: "ended", code: 7, stdout: "configmap/applied\n", stderr: "" });
});

controlPlaneTest("with.ts without a command runs until SIGTERM", async () => {
  const child = startWith([]);
  try {
    const dir = await announcedFolder(child);
    assertEquals(await endAfter(child, "SIGINT"), 0);
    assertEquals(existsSync(dir), false);
  } finally {
    child.kill("SIGKILL");
  }
});

controlPlaneTest("with.ts passes SIGTERM to its command and waits for it", async () => {
  const script =
    'trap "exit 5" TERM; echo "export PINTLE_CONTROL_PLANE=$PINTLE_CONTROL_PLANE"; while :; do sleep 0.1; done';
  const child = startWith(["sh", "-c", script]);
  try {
    const dir = await announcedFolder(child);
    assertEquals(await endAfter(child, "SIGTERM"), 5);
    assertEquals(existsSync(dir), false);
  } finally {
    child.kill("SIGKILL");
  }
});

controlPlaneTest("a with.ts that is killed leaves no process and no folder", async () => {
  const child = startWith([]);
  try {
    const dir = await announcedFolder(child);
    const pids = processIds(dir);
    child.kill("SIGKILL");
    await until("see what a killed control plane leaves removed", () => {
      if (!existsSync(dir) && !pids.some(isRunning)) return { kind: "found", value: true };
      return { kind: "pending", state: `${dir} or one of ${pids.join(", ")} was there` };
    });
  } finally {
    child.kill("SIGKILL");
  }
});

for (const ci of ["true", ""]) {
  test(`with.ts runs its command without a control plane and says so, with CI="${ci}"`, async () => {
    const empty = mkdtempSync(join(tmpdir(), "pintle-with-"));
    const env = { ...await ownCache(), CI: ci, XDG_CACHE_HOME: empty, PATH: empty, KUBEBUILDER_ASSETS: "" };
    const command = ["/bin/sh", "-c", `echo "$${unavailableVariable}"`];
    const ended = await run(process.execPath, [...runArgs, "--", ...command], { env });
    rmSync(empty, { recursive: true });
    if (ended.kind === "missing") throw new Error("Cannot run with.ts: the runtime is missing");
    assertEquals([ended.code, ended.stdout], [ci === "true" ? 1 : 0, "neither Go nor KUBEBUILDER_ASSETS\n"]);
    assertMatch(ended.stderr, /^controlplane: (skipped|Cannot start a control plane): neither Go nor/);
  });
}

function startWith(command: readonly string[]): ChildProcess {
  return spawn(process.execPath, [...runArgs, ...command], { stdio: ["ignore", "pipe", "pipe"] });
}

/** Sends a signal and returns the exit code. It does not use child.kill, after which Deno reports the signal instead. */
function endAfter(child: ChildProcess, signal: "SIGINT" | "SIGTERM"): Promise<number | null> {
  const { pid } = child;
  assert(pid !== undefined, "with.ts should run");
  return new Promise((resolve) => {
    child.once("exit", resolve);
    process.kill(pid, signal);
  });
}

/** Reads the output of with.ts up to the description, and returns its folder. @throws Error with all output if it ends first */
function announcedFolder(child: ChildProcess): Promise<string> {
  let [text, log] = ["", ""];
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => log += chunk);
  return new Promise((resolve, reject) => {
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      const description = /export PINTLE_CONTROL_PLANE=(.+)\n/.exec(text)?.[1];
      if (description !== undefined) resolve(dirname(description));
    });
    child.once("close", (code, signal) => {
      reject(new Error(`Cannot read with.ts's output: it ended with ${signal ?? code} after ${text}\n${log}`));
    });
  });
}

/** Deno stores its packages below XDG_CACHE_HOME; a test that changes it must not download them again. */
async function ownCache(): Promise<Readonly<Record<string, string>>> {
  if (!("Deno" in globalThis)) return {};
  const info = await run(process.execPath, ["info", "--json"]);
  const { denoDir }: { denoDir: string } = JSON.parse(info.kind === "ended" ? info.stdout : "{}");
  return { DENO_DIR: denoDir };
}
