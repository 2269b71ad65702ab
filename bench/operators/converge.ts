/**
 * converge(): one run of an operator without faults: an embedded cluster with its CRDs, the operator's program, and a
 * workload. It shows that the sample converges, and what that costs: time, CPU and memory of the operator's process.
 *
 * Guarantees: everything it starts ends with it; the server listens on loopback only.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { z } from "zod";
import type { UntypedObject } from "../../src/api/mod.ts";
import { systemClock } from "../../src/async/mod.ts";
import { readDocuments, type YamlFileDocument } from "../../src/cli/documents/mod.ts";
import { EmbeddedCluster } from "../../src/cluster/mod.ts";
import { stepText } from "../../src/simulation/foreign/foreign_workload.ts";
import { StepRunner } from "../../src/simulation/foreign/perform_step.ts";
import { parseWorkload } from "../../src/simulation/foreign/workload_file.ts";
import { freePort } from "../../tests/free_port.ts";
import { type Usage, usageOf } from "../usage.ts";
import type { BuiltOperator } from "./build.ts";
import type { OperatorCase } from "./operator.ts";
import { withPrivateFiles } from "./private_files.ts";
import { Programs } from "./programs.ts";

/** How a run went. */
export interface ConvergenceResult {
  /** Milliseconds from the start of the operator to the end of the last step. */
  readonly wallMs: number;
  /** The steps with their milliseconds. */
  readonly steps: readonly { readonly text: string; readonly ms: number }[];
  /** Of the operator's process. */
  readonly usage: Usage;
}

/** The operator's own Pod, which operators look up. */
const operatorPod: UntypedObject = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "operator-0", namespace: "default" },
  spec: { containers: [{ name: "operator", image: "operator" }] },
};

/** Runs a workload without faults. @throws Error when a step fails, with the last lines of the programs */
export async function converge(
  operator: OperatorCase,
  built: BuiltOperator,
  workloadFile: string,
): Promise<ConvergenceResult> {
  const dir = mkdtempSync(join(tmpdir(), "operators-"));
  try {
    const { removedVersions } = operator;
    const onError = (error: unknown) => console.error("server:", error);
    await using cluster = await EmbeddedCluster.start({ removedVersions, onError });
    using programs = new Programs();
    const run = new FaultFreeRun(operator, built, { dir, cluster, programs });
    await run.setUp();
    return await run.play(workloadFile);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

interface RunParts {
  /** For files of the run. */
  readonly dir: string;
  readonly cluster: EmbeddedCluster;
  readonly programs: Programs;
}

class FaultFreeRun {
  readonly #operator: OperatorCase;
  readonly #built: BuiltOperator;
  readonly #parts: RunParts;
  readonly #kubeconfig: string;
  readonly #user: StepRunner;
  readonly #signal = new AbortController().signal;

  constructor(operator: OperatorCase, built: BuiltOperator, parts: RunParts) {
    this.#operator = operator;
    this.#built = built;
    this.#parts = parts;
    this.#kubeconfig = join(parts.dir, "kubeconfig");
    this.#user = new StepRunner({
      ...{ client: parts.cluster.client, clock: systemClock, namespace: "default" },
      restartOperator: () => Promise.reject(new Error("Cannot restart the operator: this run has no faults")),
    });
  }

  /** Applies the objects that are there before the operator starts, and starts its application. */
  async setUp(): Promise<void> {
    const { folder, objects = [], application } = this.#operator;
    writeFileSync(this.#kubeconfig, this.#parts.cluster.kubeconfig, { mode: 0o600 });
    const paths = [this.#built.crds, ...objects.map((path) => join(folder, path))];
    const documents = (await Promise.all(paths.map(documentsOf))).flat();
    for (const object of [...documents.map(({ value }) => value as UntypedObject), operatorPod]) {
      const outcome = await this.#user.perform({ kind: "apply", objects: [object] }, this.#signal);
      if (outcome.kind === "done") continue;
      throw new Error(`Cannot apply ${object.kind} ${object.metadata.name}: ${outcome.message}`);
    }
    if (application === undefined) return;
    const words = [process.execPath, "run", "-A", "--no-check", join(folder, application.program)];
    await this.#parts.programs.start([...words, String(application.port)], {
      env: { KUBECONFIG: this.#kubeconfig },
      readyLine: "listening",
    });
  }

  async play(workloadFile: string): Promise<ConvergenceResult> {
    const { folder } = this.#operator;
    const { programs } = this.#parts;
    const [document] = await documentsOf(join(folder, workloadFile));
    if (document === undefined) throw new Error(`Cannot read ${workloadFile}: it is empty`);
    const workload = await parseWorkload(document, { documentsOf: (path) => documentsOf(join(folder, path)) });
    const startedAt = performance.now();
    const child = await programs.start(...await this.#operatorCommand());
    const steps: { text: string; ms: number }[] = [];
    for (const step of workload.steps) {
      const before = performance.now();
      const outcome = await this.#user.perform(step, this.#signal);
      if (outcome.kind !== "done") throw new Error(`${outcome.message}\n${programs.lastLines}`);
      steps.push({ text: stepText(step), ms: performance.now() - before });
    }
    if (child.exitCode !== null) throw new Error(`Cannot converge: the operator has ended\n${programs.lastLines}`);
    return { wallMs: performance.now() - startedAt, steps, usage: usageOf(child.pid ?? 0) };
  }

  async #operatorCommand(): Promise<Parameters<Programs["start"]>> {
    const { args = [], env = {}, application } = this.#operator;
    const { dir, cluster } = this.#parts;
    const values = new Map([["kubeconfig", this.#kubeconfig], ["dir", dir]]);
    for (const name of ["port", "port2", "port3"]) values.set(name, String(await freePort()));
    const filled = (text: string) => text.replace(/\{(\w+)\}/g, (whole, name: string) => values.get(name) ?? whole);
    const { hostname, port } = new URL(cluster.url);
    const words = withPrivateFiles([this.#built.program, ...args.map(filled)], {
      ...{ dir, hosts: application?.hosts ?? [] },
      account: { namespace: "default", ...credentialsOf(cluster.kubeconfig) },
    });
    const own = Object.entries(env).map(([name, value]) => [name, filled(value)]);
    const pod = { POD_NAME: operatorPod.metadata.name ?? "", POD_NAMESPACE: "default" };
    const server = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
    return [words, { env: { KUBECONFIG: this.#kubeconfig, ...pod, ...server, ...Object.fromEntries(own) } }];
  }
}

const kubeconfigSchema = z.looseObject({
  clusters: z.array(z.looseObject({ cluster: z.looseObject({ "certificate-authority-data": z.string() }) })),
  users: z.array(z.looseObject({ user: z.looseObject({ token: z.string() }) })),
});

function credentialsOf(kubeconfig: string): Readonly<Record<"token" | "ca.crt", string>> {
  const { clusters: [cluster], users: [user] } = kubeconfigSchema.parse(JSON.parse(kubeconfig));
  return { token: user?.user.token ?? "", "ca.crt": atob(cluster?.cluster["certificate-authority-data"] ?? "") };
}

async function documentsOf(path: string): Promise<readonly YamlFileDocument[]> {
  return await readDocuments(path, {
    stdin: { isTerminal: false, readLine: () => Promise.resolve(undefined) },
    cannotRead: (place, state) => new Error(`Cannot read ${place}: ${state}`),
  });
}
