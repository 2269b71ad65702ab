/**
 * The programs that `controller envtest` stands in for, beside those that it stands in for: the time until the API server is
 * ready, and a whole suite of 60 specs on the envtest of controller-runtime.
 */
import { execFile, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { buildControlPlane } from "../../tests/controlplane/mod.ts";
import { freePort } from "../free_port.ts";
import type { Sample } from "../metric.ts";
import { commandOf } from "../programs.ts";
import { servedLine, suiteLine } from "../protocol.ts";
import { kubernetes } from "./apiserver.ts";
import { type Case, interleaved, ours, type Outcome, type Setting, type Subject } from "./case.ts";

const crd = join(import.meta.dirname ?? ".", "..", "..", "crds", "samplecontroller.k8s.io_foos.yaml");
const subjects: readonly Subject[] = [
  { name: ours, program: "controller", args: [] },
  { name: kubernetes, program: "go", args: [] },
];
const run = promisify(execFile);

/** Starts an API server beside an etcd that is up. */
export const envtestStartCase: Case = {
  name: "envtest-start",
  title: () => "envtest's API server, from exec to /readyz, its etcd already up",
  subjects,
  run: (setting) => measured(setting, measureStart),
};

/** Runs the tests of an operator in Go. */
export const envtestSuiteCase: Case = {
  name: "envtest-suite",
  title: () => "a suite of 60 specs on envtest of controller-runtime, its servers included",
  subjects,
  run: (setting) => measured(setting, measureSuite),
};

async function measured(
  setting: Setting,
  measure: (assets: string) => Promise<Sample["values"]>,
): Promise<Outcome> {
  const dir = await mkdtemp(join(tmpdir(), "pintle-bench-"));
  try {
    const folders = new Map([[kubernetes, await realAssets()]]);
    const samples = await interleaved(setting, async (subject) => {
      const assets = folders.get(subject.name) ?? await ownAssets(subject, join(dir, String(folders.size)));
      folders.set(subject.name, assets);
      return await measure(assets);
    });
    return { samples, facts: {} };
  } finally {
    await rm(dir, { recursive: true });
  }
}

async function realAssets(): Promise<string> {
  const built = await buildControlPlane();
  if (built.kind === "unavailable") throw new Error(`Cannot start a cluster: ${built.reason}`);
  return dirname(built.binaries.etcd);
}

/** Writes the stand-ins. */
async function ownAssets(subject: Subject, dir: string): Promise<string> {
  const [command = "", ...args] = commandOf(subject.program, ["envtest", dir], subject.checkout);
  await run(command, args);
  return dir;
}

/** With the flags that controller-runtime gives. */
async function measureStart(assets: string): Promise<Sample["values"]> {
  const dir = await mkdtemp(join(tmpdir(), "pintle-bench-"));
  const [etcdPort, port] = [await freePort(), await freePort()];
  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const etcd = spawn(join(assets, "etcd"), [
    ...[`--data-dir=${join(dir, "etcd")}`, `--listen-client-urls=${etcdUrl}`, `--advertise-client-urls=${etcdUrl}`],
    ...["--listen-peer-urls=http://127.0.0.1:0", "--unsafe-no-fsync"],
  ], { stdio: "ignore" });
  const ended = new Promise((resolve) => etcd.once("exit", resolve).once("error", resolve));
  try {
    await untilHealthy(`${etcdUrl}/health`);
    const keys = await signingKeys(dir);
    const server = [
      ...[join(assets, "kube-apiserver"), `--etcd-servers=${etcdUrl}`, `--secure-port=${port}`],
      ...["--bind-address=127.0.0.1", `--cert-dir=${dir}`, "--authorization-mode=RBAC", "--allow-privileged=true"],
      ...["--service-cluster-ip-range=10.0.0.0/24", "--disable-admission-plugins=ServiceAccount"],
      ...[`--service-account-issuer=https://127.0.0.1:${port}/`, `--service-account-key-file=${keys.publicKey}`],
      `--service-account-signing-key-file=${keys.privateKey}`,
    ];
    const [command = "", ...args] = commandOf("go", ["served", `--address=127.0.0.1:${port}`, ...server]);
    const { stdout } = await run(command, args);
    const { ms, cpuMs } = servedLine.parse(JSON.parse(stdout));
    return { servedMs: ms, servedCpuMs: cpuMs };
  } finally {
    etcd.kill("SIGTERM");
    await ended;
    await rm(dir, { recursive: true });
  }
}

async function untilHealthy(url: string): Promise<void> {
  for (let attempt = 0;; attempt++) {
    const response = await fetch(url).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.ok === true) return;
    if (attempt === 3_000) throw new Error(`Cannot measure: ${url} is not healthy`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A pair of keys in files. */
async function signingKeys(dir: string): Promise<{ readonly privateKey: string; readonly publicKey: string }> {
  const pair = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const files = { privateKey: join(dir, "sa.key"), publicKey: join(dir, "sa.pub") };
  await writeFile(files.privateKey, pair.privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
  await writeFile(files.publicKey, pair.publicKey.export({ type: "spki", format: "pem" }));
  return files;
}

async function measureSuite(assets: string): Promise<Sample["values"]> {
  const [command = "", ...args] = commandOf("go", ["suite", `--assets=${assets}`, `--crd=${crd}`]);
  const { stdout } = await run(command, args);
  const { ms, cpuMs, serversMaxRssBytes } = suiteLine.parse(JSON.parse(stdout));
  return { timeMs: ms, cpuMs, maxRssBytes: serversMaxRssBytes };
}
