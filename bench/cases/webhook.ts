/**
 * A defaulting webhook at 200 requests a second over reused connections, the same with a new connection for each
 * request, and at its maximum. One load generator (peers/go/webhook_load.go) checks each response, for every subject.
 * There is no cluster, because a kube-apiserver would add the same to all; kopf does not start without one, and has one
 * that stays idle.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { CertificateAuthority } from "../../tests/controlplane/mod.ts";
import { Cluster } from "../cluster.ts";
import { freePort } from "../free_port.ts";
import { MeasuredProcess } from "../measured_process.ts";
import type { Sample } from "../metric.ts";
import { commandOf } from "../programs.ts";
import { reviewedLine, servingLine } from "../protocol.ts";
import { quantile } from "../statistics.ts";
import { bare, type Case, interleaved, kopf, ours, type Outcome, type Setting, type Subject } from "./case.ts";

const load = { rate: 200, warmUpMs: 1_000 } as const;
const path = "/mutate-samplecontroller-k8s-io-v1alpha1-foo";

/** Reviews at a steady rate, and as many as possible. */
export const webhookCase: Case = {
  name: "webhook",
  title: () => `defaulting webhook, ${load.rate} requests/s; CPU on kept connections, RSS before the floods`,
  subjects: [
    { name: ours, program: "pintle", args: ["webhook"] },
    { name: bare, program: "pintle", args: ["bare-webhook"] },
    { name: "controller-runtime", program: "go", args: ["webhook"] },
    { name: kopf, program: "python", args: ["webhook"], needsCluster: true },
  ],
  run: runWebhook,
};

/** Where the certificate is, and how long a load lasts. */
interface Site {
  readonly certDir: string;
  readonly ms: number;
}

interface Reviews {
  readonly micros: readonly number[];
  readonly perSecond: number;
}

async function runWebhook(setting: Setting): Promise<Outcome> {
  const certDir = mkdtempSync(join(tmpdir(), "pintle-bench-webhook-"));
  try {
    await writeCertificates(certDir);
    const site = { certDir, ms: setting.scale.webhookMs };
    return { samples: await interleaved(setting, (subject) => measureWebhook(subject, site)), facts: {} };
  } finally {
    rmSync(certDir, { recursive: true });
  }
}

async function measureWebhook(subject: Subject, { certDir, ms }: Site): Promise<Sample["values"]> {
  const port = await freePort();
  const args = [...subject.args, `--cert-dir=${certDir}`, `--port=${port}`];
  const command = commandOf(subject.program, args, subject.checkout);
  await using cluster = subject.needsCluster ? await Cluster.start() : undefined;
  await using program = cluster?.measure(command) ?? new MeasuredProcess({ command, env: {} });
  await program.read(servingLine);
  const target = [`--url=https://127.0.0.1:${port}${path}`, `--ca=${join(certDir, "ca.crt")}`];
  const steady = `--rate=${load.rate}`;
  await review(subject, [...target, steady], load.warmUpMs);
  const cpuBeforeMs = program.usage().cpuMs;
  const kept = await review(subject, [...target, steady], ms);
  const cpuMs = program.usage().cpuMs - cpuBeforeMs;
  const fresh = await review(subject, [...target, steady, "--fresh"], ms);
  const { maxRssBytes } = program.usage();
  const most = await review(subject, target, ms);
  const mostFresh = await review(subject, [...target, "--fresh"], ms);
  return {
    p50Us: quantile(kept.micros, 0.5),
    p99Us: quantile(kept.micros, 0.99),
    freshP50Us: quantile(fresh.micros, 0.5),
    freshP99Us: quantile(fresh.micros, 0.99),
    answered: most.perSecond,
    answeredFresh: mostFresh.perSecond,
    cpuMs,
    maxRssBytes,
  };
}

/** @throws Error when the response to one review is wrong. */
async function review(subject: Subject, args: readonly string[], ms: number): Promise<Reviews> {
  const [command = "", ...rest] = commandOf("go", ["webhook-load", ...args, `--seconds=${ms / 1000}`]);
  const { stdout } = await promisify(execFile)(command, rest, { maxBuffer: 64 << 20 });
  const { micros, ms: tookMs, failed, firstFailure } = reviewedLine.parse(JSON.parse(stdout));
  if (failed > 0) {
    throw new Error(`Cannot use the answers of ${subject.name}: ${failed} of them are wrong, first: ${firstFailure}`);
  }
  return { micros, perSecond: micros.length / tookMs * 1000 };
}

async function writeCertificates(dir: string): Promise<void> {
  const authority = await CertificateAuthority.create("bench");
  const server = await authority.issue({ commonName: "webhook", usage: "server", hosts: ["127.0.0.1"] });
  writeFileSync(join(dir, "ca.crt"), authority.certificate);
  writeFileSync(join(dir, "tls.crt"), server.certificate);
  writeFileSync(join(dir, "tls.key"), server.key);
}
