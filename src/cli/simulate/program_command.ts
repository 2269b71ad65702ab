/**
 * `simulate --command`: simulates an operator that is a program of its own, in any language. Reads the files of the command
 * line, runs the engine, and prints what it finds.
 *
 * Guarantees: at the end, also after a signal, no process of the program lives and no file of a run is left.
 */
import type { UntypedObject } from "../../api/mod.ts";
import { coreCount, joinPath, removePath } from "../../runtime/mod.ts";
import {
  type ProgramProgress,
  type ProgramReport,
  simulateProgram,
  type SimulateProgramOptions,
  webhookServicesOf,
} from "../../simulation/mod.ts";
import { type Call, type ExitCode, exitCode, listenForInterrupts } from "../command/mod.ts";
import { UsageError } from "../flags/mod.ts";
import { scope } from "../../async/mod.ts";
import { withCommandErrors } from "./program_errors.ts";
import { readAccess, readObjects, readServices, readWorkloads } from "./program_inputs.ts";
import { printProgramFinding, printProgramReport } from "./program_report.ts";
import { ProgramWorkers, programWorkerVariable, runProgramWorker } from "./program_workers.ts";
import { runWithoutFaults } from "./without_faults.ts";
import type { SimulateFlags } from "./simulate_flags.ts";

/** Most of the time of a run is waiting. */
const jobsPerCore = 2;

/** Runs `simulate --command`. @param command the value of the flag */
export async function simulateProgramCommand(call: Call<SimulateFlags>, command: string): Promise<ExitCode> {
  const { flags, session } = call;
  const { clock, random } = session.processEnvironment;
  const [namespace = "", name = ""] = flags.programName.split("/");
  if (namespace === "" || name === "") {
    throw new UsageError(`Cannot simulate the program "${flags.programName}": it has no namespace and name`);
  }
  const [crds, access] = [await readObjects(call), await readAccess(call)];
  const objects = [...crds, ...access];
  checkWebhooks(objects, flags.webhookUrl);
  const workloads = await readWorkloads(call, objects);
  const services = await readServices(call);
  using interrupts = listenForInterrupts(session);
  using stopping = scope(interrupts.stop);
  const folder = joinPath(
    temporaryFolder(session.environment),
    `${session.operator.name}-simulate-${crypto.randomUUID()}`,
  );
  session.atEnd(() => removePath(folder).catch(() => {}));
  const workerFolder = session.environment[programWorkerVariable];
  const options: SimulateProgramOptions = {
    ...{ command, objects, workloads, services, clock, random, signal: stopping.signal },
    folder: workerFolder ?? folder,
    hasOwnNetwork: workerFolder !== undefined,
    env: programVariables(session.environment),
    identity: { namespace, name },
    replicas: flags.replicas,
    webhookUrl: flags.webhookUrl,
    plan: flags.plan,
    ...(flags.faults.length === 0 ? {} : { kinds: new Set(flags.faults) }),
    removedVersions: flags.serveRemoved,
    ...(flags.host.length === 0 ? {} : { hosts: flags.host }),
    points: flags.points,
    storms: flags.storms,
    firstSeed: flags.seed,
    maxFindings: flags.maxFindings,
    jobs: flags.jobs,
    snapshots: !flags.fromStart,
    isRecorded: flags.record !== undefined,
    hasRules: access.length > 0,
    startMs: flags.startSeconds * 1000,
    quietMs: flags.quietSeconds * 1000,
    onError: (error) => session.info(`Warning: ${error instanceof Error ? error.message : error}`),
  };
  if (workerFolder !== undefined) {
    await runProgramWorker(options);
    return exitCode.done;
  }
  if (flags.withoutFaults !== undefined) {
    return await Promise.race([interrupts.forced, runWithoutFaults(call, options, flags.withoutFaults)]);
  }
  const report = await Promise.race([interrupts.forced, simulated(options, call, command)]);
  if (typeof report === "number") return report;
  return await printProgramReport(report, call, command);
}

/** Runs the engine, in worker processes where they can have a network of their own. Its errors become those of a command. */
async function simulated(
  options: SimulateProgramOptions,
  call: Call<SimulateFlags>,
  command: string,
): Promise<ProgramReport> {
  const { flags, session } = call;
  using progress = session.progress();
  let findings = 0;
  const { folder, signal } = options;
  const { sharedNetwork } = flags;
  const count = flags.plan === undefined ? flags.jobs ?? coreCount() * jobsPerCore : 1;
  using workers = await ProgramWorkers.start(session, { count, folder, sharedNetwork, signal });
  return await withCommandErrors(session, signal, () =>
    simulateProgram({
      ...options,
      ...(workers === undefined ? {} : { checkers: workers.checkers }),
      onLearned: ({ failedSteps }) => {
        for (const text of failedSteps) session.info(`Warning: without faults, ${text}`);
      },
      onFinding: (finding) => printProgramFinding(finding, call, { command, isRecorded: ++findings === 1 }),
      onProgress: (state) => progress.report(progressText(state)),
    }));
}

function progressText({ workload, stage, schedules, all, findings, shrinking }: ProgramProgress): string {
  if (stage === "reference") return `"${workload}", run ${schedules} without faults`;
  const shrunk = shrinking === 0 ? "" : `, ${shrinking} of them being shrunk`;
  return `"${workload}", ${schedules} of ${all} schedules, ${findings} findings${shrunk}`;
}

/** A webhook that nothing serves would reject every write. @throws UsageError */
function checkWebhooks(objects: readonly UntypedObject[], webhookUrl: string | undefined): void {
  const configurations = objects.filter(({ kind }) => kind.endsWith("WebhookConfiguration"));
  const [service] = webhookServicesOf(configurations);
  if (service === undefined || webhookUrl !== undefined) return;
  throw new UsageError(
    `Cannot call the webhooks of Service "${service.namespace}/${service.name}": no Pod runs here`,
    "Say where the program serves them, as --webhook-url https://127.0.0.1:9443, or leave their configurations out",
  );
}

/** The variables of this process, but for those that lead to another cluster. */
function programVariables(
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value === undefined || /^KUBE/.test(name) || name === programWorkerVariable ? [] : [[name, value]]
    ),
  );
}

function temporaryFolder({ TMPDIR }: Readonly<Record<string, string | undefined>>): string {
  return TMPDIR === undefined || TMPDIR === "" ? "/tmp" : TMPDIR;
}
