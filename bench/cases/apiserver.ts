/**
 * Creates over HTTPS: the same load program (peers/go/create.go) against the embedded API server and against a
 * kube-apiserver with etcd, each of them new for every run. CPU and memory are those of their processes; etcd's CPU
 * counts, its memory does not.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import type { z } from "zod";
import { Cluster } from "../cluster.ts";
import { MeasuredProcess } from "../measured_process.ts";
import type { Sample } from "../metric.ts";
import { commandOf } from "../programs.ts";
import { createdLine, servingLine } from "../protocol.ts";
import type { Usage } from "../usage.ts";
import { type Case, interleaved, ours, type Outcome, type Setting, type Subject } from "./case.ts";

const connections = 32;
/** The peer of the cases with the embedded API server. */
export const kubernetes = "kube-apiserver + etcd";

/** Many objects created. */
export const apiserverCase: Case = {
  name: "apiserver",
  title: (scale) => `${scale.created.toLocaleString("en")} Foos created over HTTPS, ${connections} connections`,
  subjects: [
    { name: ours, program: "pintle", args: ["apiserver"] },
    { name: "pintle, with its simulated cluster", program: "pintle", args: ["apiserver", "--workloads"] },
    // The control plane has its own build; the Go program only provides the load.
    { name: kubernetes, program: "go", args: [] },
  ],
  run: runApiserver,
};

async function runApiserver(setting: Setting): Promise<Outcome> {
  const { created } = setting.scale;
  const measure = (subject: Subject) =>
    subject.name === kubernetes ? measureKubernetes(created) : measureOurs(subject, created);
  return { samples: await interleaved(setting, measure), facts: {} };
}

async function measureKubernetes(objects: number): Promise<Sample["values"]> {
  await using cluster = await Cluster.start();
  const cpuMs = () => cluster.usage("kube-apiserver").cpuMs + cluster.usage("etcd").cpuMs;
  const before = cpuMs();
  const created = await createFoos(cluster.kubeconfig, { to: objects });
  return valuesOf(created, cpuMs() - before, cluster.usage("kube-apiserver"));
}

async function measureOurs(subject: Subject, objects: number): Promise<Sample["values"]> {
  return await withEmbedded(subject, async (program, kubeconfig) => {
    const before = program.usage().cpuMs;
    const created = await createFoos(kubeconfig, { to: objects });
    return valuesOf(created, program.usage().cpuMs - before, program.usage());
  });
}

/** Runs `use` while the embedded API server of a subject serves. */
export async function withEmbedded<T>(
  subject: Subject,
  use: (program: MeasuredProcess, kubeconfig: string) => Promise<T>,
): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), "pintle-bench-apiserver-"));
  try {
    const kubeconfig = join(dir, "kubeconfig");
    const command = commandOf(subject.program, [...subject.args, `--kubeconfig=${kubeconfig}`], subject.checkout);
    await using program = new MeasuredProcess({ command, env: {} });
    await program.read(servingLine);
    return await use(program, kubeconfig);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** Creates the Foos with the numbers from `from` up to `to`. @throws Error when one of them was not created */
export async function createFoos(
  kubeconfig: string,
  { from = 0, to }: { readonly from?: number; readonly to: number },
): Promise<z.infer<typeof createdLine>> {
  const flags = [`--from=${from}`, `--to=${to}`, `--connections=${connections}`];
  const [command = "", ...args] = commandOf("go", ["create", ...flags]);
  const { stdout } = await promisify(execFile)(command, args, { env: { ...process.env, KUBECONFIG: kubeconfig } });
  const line = createdLine.parse(JSON.parse(stdout));
  if (line.objects !== to - from) {
    throw new Error(`Cannot use the creates: ${line.objects} of ${to - from} were made`);
  }
  return line;
}

function valuesOf(
  created: z.infer<typeof createdLine>,
  serverCpuMs: number,
  { maxRssBytes }: Usage,
): Sample["values"] {
  const { objects, ms, p50Us, p99Us } = created;
  return {
    created: objects / ms * 1000,
    cpuUsPerCreate: serverCpuMs * 1000 / objects,
    maxRssBytes,
    p50Us,
    p99Us,
    loadCpuUsPerCreate: created.cpuMs * 1000 / objects,
  };
}
