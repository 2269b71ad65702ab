/**
 * What `dev --data-dir` costs: creates per second of the compiled binary with a folder and without one, in turn, and the
 * start of a server whose folder has the objects of one round.
 *
 *   deno run -A bench/micro/data_folder.ts [objects] [rounds]      (default: 20000 5; needs ./compile.sh)
 *
 * Both servers are `dev --bare` processes. 32 connections send one create at a time each, of a ConfigMap of about 1 KB, over
 * TLS; every response must be a 201. `CONTROLLER_BINARY` is another binary, `TMPDIR` another disk.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { median } from "../statistics.ts";
import { usageOf } from "../usage.ts";

const objects = Number(process.argv[2] ?? 20_000);
const rounds = Number(process.argv[3] ?? 5);
const starts = 5;
const connections = 32;
const binary = process.env["CONTROLLER_BINARY"] ?? "dist/controller";
const note = "x".repeat(900);

/** A running server. */
interface Server {
  readonly child: ChildProcess;
  /** From exec to the line with the kubeconfig, which follows the first accepted connection. */
  readonly startMs: number;
}

/** What a round has measured. */
interface Round {
  readonly perSecond: number;
  readonly cpuUs: number;
}

async function start(args: readonly string[]): Promise<Server> {
  const startedAt = performance.now();
  const child = spawn(binary, ["dev", "--bare", ...args], { stdio: ["ignore", "ignore", "pipe"] });
  await new Promise<void>((resolve, reject) => {
    let text = "";
    child.once("error", reject);
    child.once("exit", () => reject(new Error(`Cannot start ${binary}: ${text}`)));
    child.stderr?.on("data", (bytes: Uint8Array) => {
      text += new TextDecoder().decode(bytes);
      if (/KUBECONFIG=\S+\n/.test(text)) resolve();
    });
  });
  return { child, startMs: performance.now() - startedAt };
}

async function stop({ child }: Server): Promise<void> {
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill();
  await ended;
}

async function creator(kubeconfig: string) {
  // `dev` writes its kubeconfig as JSON, which is YAML.
  const { clusters: [{ cluster }], users: [{ user }] } = JSON.parse(await readFile(kubeconfig, "utf8"));
  const agent = new Agent({
    keepAlive: true,
    maxSockets: connections,
    ca: Buffer.from(cluster["certificate-authority-data"], "base64"),
  });
  const headers = { authorization: `Bearer ${user.token}`, "content-type": "application/json" };
  const url = `${cluster.server}/api/v1/namespaces/default/configmaps`;
  return (name: string) =>
    new Promise<void>((resolve, reject) => {
      const sent = request(url, { agent, method: "POST", headers }, (response) => {
        response.resume().once("end", () =>
          response.statusCode === 201 ? resolve() : reject(new Error(`${name}: ${response.statusCode}`)));
      });
      sent.once("error", reject);
      sent.end(JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { note } }));
    });
}

/** Creates the objects of a round, after some that compile the code of the server. */
async function createAll({ child }: Server, kubeconfig: string): Promise<Round> {
  const create = await creator(kubeconfig);
  const createMany = async (prefix: string, count: number) => {
    let next = 0;
    const work = async () => {
      while (next < count) await create(`${prefix}-${next++}`);
    };
    await Promise.all(Array.from({ length: connections }, work));
  };
  await createMany("warm", Math.ceil(objects / 4));
  const cpuMs = usageOf(child.pid ?? 0).cpuMs;
  const startedAt = performance.now();
  await createMany("object", objects);
  const ms = performance.now() - startedAt;
  return { perSecond: objects / ms * 1000, cpuUs: (usageOf(child.pid ?? 0).cpuMs - cpuMs) * 1000 / objects };
}

async function measureCreates(args: readonly string[], kubeconfig: string): Promise<Round> {
  const server = await start(args);
  try {
    return await createAll(server, kubeconfig);
  } finally {
    await stop(server);
  }
}

const path = await mkdtemp(join(tmpdir(), "pintle-bench-data-"));
try {
  const kubeconfig = join(path, "memory.yaml");
  const results: { readonly memory: Round; readonly folder: Round }[] = [];
  for (let round = 0; round < rounds; round++) {
    const data = join(path, `data-${round}`);
    const memory = await measureCreates(["--write-kubeconfig", kubeconfig], kubeconfig);
    const folder = await measureCreates(["--data-dir", data], join(data, "kubeconfig.yaml"));
    results.push({ memory, folder });
    console.log(`${describe(memory)} in memory, ${describe(folder)} in a folder`);
  }
  const ratio = (of: (round: Round) => number) =>
    median(results.map(({ memory, folder }) => of(folder) / of(memory))).toFixed(2);
  console.log(`folder / memory, median of ${rounds}: ${ratio((one) => one.perSecond)} creates a second,`);
  console.log(`  ${ratio((one) => one.cpuUs)} CPU per create`);
  const startMs: number[] = [];
  for (let index = 0; index < starts; index++) {
    const server = await start(["--data-dir", join(path, "data-0")]);
    startMs.push(server.startMs);
    await stop(server);
  }
  const stored = Math.ceil(objects * 1.25).toLocaleString("en");
  console.log(`start with ${stored} objects: ${median(startMs).toFixed(0)} ms, median of ${starts}`);
} finally {
  await rm(path, { recursive: true });
}

function describe({ perSecond, cpuUs }: Round): string {
  return `${Math.round(perSecond)}/s and ${Math.round(cpuUs)} us CPU`;
}
