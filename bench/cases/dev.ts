/**
 * `controller dev foo` of the released binary with many Foos: its API server, its controller and its simulated cluster give each
 * Foo a Deployment, a ReplicaSet and a Pod that becomes ready. Its memory at its largest, and ten seconds later.
 */
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { buildControlPlane } from "../../tests/controlplane/mod.ts";
import type { Sample } from "../metric.ts";
import { commandOf } from "../programs.ts";
import { loadedLine } from "../protocol.ts";
import { usageOf } from "../usage.ts";
import { type Case, interleaved, ours, type Outcome, type Scale, type Setting, type Subject } from "./case.ts";

/** A development cluster with work to do. */
export const devCase: Case = {
  name: "dev",
  title: (scale) =>
    `\`controller dev foo\`: ${scale.devObjects.toLocaleString("en")} Foos get Deployments and ready Pods`,
  subjects: [{ name: ours, program: "controller", args: ["dev", "foo", "--quiet"] }],
  run: runDev,
};

/** How often the driver asks whether all Pods are ready; the list is small against the work. */
const pollMs = 500;
const maxWaitMs = 900_000;

async function runDev(setting: Setting): Promise<Outcome> {
  return { samples: await interleaved(setting, (subject) => measureDev(subject, setting.scale)), facts: {} };
}

async function measureDev(subject: Subject, { devObjects, idleMs }: Scale): Promise<Sample["values"]> {
  const dir = mkdtempSync(join(tmpdir(), "pintle-bench-dev-"));
  const kubeconfig = join(dir, "kubeconfig");
  const [path = "", ...args] = commandOf(subject.program, subject.args, subject.checkout);
  const child = spawn(path, [...args, `--write-kubeconfig=${kubeconfig}`], { stdio: "ignore" });
  const ended = new Promise((resolve) => child.once("close", resolve).once("error", resolve));
  try {
    await eventually(`${path} serves`, () => Promise.resolve(existsSync(kubeconfig)));
    await eventually("Foos are served", async () => (await kubectl(kubeconfig, ["get", "foos", "-A"])).code === 0);
    const startedAt = performance.now();
    await load(kubeconfig, devObjects);
    await eventually("all Pods are ready", async () => await readyDeployments(kubeconfig) === devObjects);
    const timeMs = performance.now() - startedAt;
    const { cpuMs, maxRssBytes } = usageOf(child.pid ?? 0);
    await sleep(idleMs);
    return { timeMs, cpuMs, maxRssBytes, idleRssBytes: usageOf(child.pid ?? 0).rssBytes };
  } finally {
    child.kill("SIGTERM");
    await ended;
    rmSync(dir, { recursive: true });
  }
}

async function eventually(what: string, holds: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + maxWaitMs;
  while (!await holds()) {
    if (performance.now() > giveUpAt) throw new Error(`Cannot measure dev: not yet true that ${what}`);
    await sleep(pollMs);
  }
}

async function load(kubeconfig: string, objects: number): Promise<void> {
  const [command = "", ...args] = commandOf("go", ["load", `--to=${objects}`]);
  const { stdout } = await promisify(execFile)(command, args, { env: { ...process.env, KUBECONFIG: kubeconfig } });
  loadedLine.parse(JSON.parse(stdout));
}

/** The number of Deployments that are available, from a table: a list of them would be several megabytes. */
async function readyDeployments(kubeconfig: string): Promise<number> {
  const { stdout } = await kubectl(kubeconfig, ["get", "deployments", "-A", "--no-headers"]);
  return stdout.split("\n").filter((line) => / 1\/1 /.test(line.replaceAll(/ +/g, " "))).length;
}

async function kubectl(kubeconfig: string, args: readonly string[]): Promise<{ code: number; stdout: string }> {
  const built = await buildControlPlane();
  if (built.kind === "unavailable") throw new Error(`Cannot run kubectl: ${built.reason}`);
  const options = { env: { ...process.env, KUBECONFIG: kubeconfig }, maxBuffer: 64 << 20 };
  return await promisify(execFile)(built.binaries.kubectl, [...args], options)
    .then(({ stdout }) => ({ code: 0, stdout }), () => ({ code: 1, stdout: "" }));
}
