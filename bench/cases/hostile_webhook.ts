/**
 * The peak memory of the released binary, and of an operator with a conversion webhook, while several peers send it reviews of
 * 6 MB that need as much memory as their size can (bench/hostile_reviews.ts). The cluster is `dev` of the same program, a
 * process of its own.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as tls from "node:tls";
import { promisify } from "node:util";
import { freePort } from "../free_port.ts";
import { hostileConversions, type HostileReview, hostileReviews } from "../hostile_reviews.ts";
import { MeasuredProcess } from "../measured_process.ts";
import type { Sample } from "../metric.ts";
import { commandOf } from "../programs.ts";
import { type Case, interleaved, ours, type Outcome, type Setting, type Subject } from "./case.ts";

const reviewBytes = 6_000_000;
const peers = 16;
const admissionPaths = ["/validate-nodes-lailin-xyz-v1-nodepool", "/mutate-nodes-lailin-xyz-v1-nodepool"];

/** Floods the webhooks of NodePool. */
export const hostileWebhookCase: Case = {
  name: "hostile-webhook",
  title: () => `webhook of the released binary, ${peers} peers that send hostile reviews of ${reviewBytes / 1e6} MB`,
  subjects: [{ name: ours, program: "controller", args: ["run", "nodepool"] }],
  makesOwnLoad: true,
  run: (setting) => runFloods(setting, { paths: admissionPaths, reviews: hostileReviews(reviewBytes) }),
};

/** Floods the conversion of CronTab. */
export const hostileConversionCase: Case = {
  name: "hostile-conversion",
  title: () => `conversion webhook, ${peers} peers that send hostile reviews of ${reviewBytes / 1e6} MB`,
  subjects: [{ name: ours, program: "converter", args: ["run", "clock"] }],
  makesOwnLoad: true,
  run: (setting) => runFloods(setting, { paths: ["/convert"], reviews: hostileConversions(reviewBytes) }),
};

async function runFloods(setting: Setting, load: Pick<Flood, "paths" | "reviews">): Promise<Outcome> {
  const floodMs = 4 * setting.scale.webhookMs;
  return { samples: await interleaved(setting, (subject) => measureFlood(subject, { ...load, floodMs })), facts: {} };
}

interface Flood {
  readonly paths: readonly string[];
  readonly reviews: readonly HostileReview[];
  readonly floodMs: number;
}

async function measureFlood(subject: Subject, { paths, reviews, floodMs }: Flood): Promise<Sample["values"]> {
  const folder = mkdtempSync(join(tmpdir(), "pintle-bench-hostile-"));
  try {
    const kubeconfig = join(folder, "kubeconfig");
    const cluster = commandOf(subject.program, [
      "dev",
      "--quiet",
      `--write-kubeconfig=${kubeconfig}`,
    ]);
    await using _cluster = new MeasuredProcess({ command: cluster, env: {} });
    const env = { KUBECONFIG: kubeconfig };
    await succeeded(() =>
      command(commandOf(subject.program, ["install-crds", `--kubeconfig=${kubeconfig}`], subject.checkout))
    );
    const port = await freePort();
    const args = [...subject.args, "--webhook-host=127.0.0.1", `--webhook-port=${port}`];
    await using program = new MeasuredProcess({ command: commandOf(subject.program, args, subject.checkout), env });
    await succeeded(() => send(port, "/", new Uint8Array(0)));
    const endsAt = performance.now() + floodMs;
    const flood = async (peer: number) => {
      for (let round = peer; performance.now() < endsAt; round++) {
        const review = reviews[round % reviews.length];
        const path = paths[round % paths.length] ?? "";
        // A refused connection is an answer, too.
        if (review !== undefined) await send(port, path, review.body, round % 3 === 0).catch(() => {});
      }
    };
    await Promise.all(Array.from({ length: peers }, (_, peer) => flood(peer)));
    const { maxRssBytes, cpuMs } = program.usage();
    return { maxRssBytes, cpuMs };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Repeats an attempt until it succeeds. */
async function succeeded(attempt: () => Promise<unknown>): Promise<void> {
  for (let count = 0; count < 1_200; count++) {
    if (await attempt().then(() => true, () => false)) return;
    await sleep(50);
  }
  throw new Error("Cannot measure the webhook: it does not start");
}

async function command(parts: readonly string[]): Promise<void> {
  await promisify(execFile)(parts[0] ?? "", parts.slice(1));
}

/** Sends one review on a connection of its own. Resolves when the server has closed it. */
function send(port: number, path: string, body: Uint8Array, isChunked = false): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ host: "127.0.0.1", port, rejectUnauthorized: false });
    socket.on("error", reject).on("close", () => resolve()).on("data", () => {});
    const framing = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${body.length}`;
    const head =
      `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nConnection: close\r\n${framing}\r\n\r\n`;
    // Deno fails an empty write, and writes before the handshake.
    socket.once("secureConnect", () => {
      socket.write(head);
      if (isChunked) socket.write(`${body.length.toString(16)}\r\n`);
      if (body.length > 0) socket.write(body);
      if (isChunked) socket.write("\r\n0\r\n\r\n");
    });
  });
}
