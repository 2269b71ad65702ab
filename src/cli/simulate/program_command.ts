/**
 * `simulate --command`: simulates an operator that is a program of its own, in any language. Reads the files of the command
 * line, runs the engine, and prints what it finds.
 *
 * Guarantees: at the end, also after a signal, no process of the program lives and no file of a run is left.
 */
import type { UntypedObject } from "../../api/mod.ts";
import { joinPath, removePath } from "../../runtime/mod.ts";
import {
  PrepareError,
  type ProgramReport,
  ProgramStartError,
  ServiceStubError,
  simulateProgram,
  type SimulateProgramOptions,
  webhookServicesOf,
} from "../../simulation/mod.ts";
import { type Call, CommandError, type ExitCode, exitCode, listenForInterrupts } from "../command/mod.ts";
import { UsageError } from "../flags/mod.ts";
import { scope } from "../../async/mod.ts";
import { readObjects, readServices, readWorkloads } from "./program_inputs.ts";
import { printProgramReport } from "./program_report.ts";
import type { SimulateFlags } from "./simulate_flags.ts";

/** Runs `simulate --command`. @param command the value of the flag */
export async function simulateProgramCommand(call: Call<SimulateFlags>, command: string): Promise<ExitCode> {
  const { flags, session } = call;
  const { clock, random } = session.processEnvironment;
  const [namespace = "", name = ""] = flags.programName.split("/");
  if (namespace === "" || name === "") {
    throw new UsageError(`Cannot simulate the program "${flags.programName}": it has no namespace and name`);
  }
  const objects = await readObjects(call);
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
  const options: SimulateProgramOptions = {
    ...{ command, objects, workloads, services, folder, clock, random, signal: stopping.signal },
    env: programVariables(session.environment),
    identity: { namespace, name },
    webhookUrl: flags.webhookUrl,
    plan: flags.plan,
    ...(flags.faults.length === 0 ? {} : { kinds: new Set(flags.faults) }),
    removedVersions: flags.serveRemoved,
    ...(flags.host.length === 0 ? {} : { hosts: flags.host }),
    points: flags.points,
    maxFindings: flags.maxFindings,
    jobs: flags.jobs,
    snapshots: !flags.noSnapshots,
    startMs: flags.startSeconds * 1000,
    quietMs: flags.quietSeconds * 1000,
    onError: (error) => session.info(`Warning: ${error instanceof Error ? error.message : error}`),
  };
  const report = await Promise.race([interrupts.forced, simulated(options, call)]);
  if (typeof report === "number") return report;
  return await printProgramReport(report, call, command);
}

/** Runs the engine, with progress. Its errors become those of a command. */
async function simulated(options: SimulateProgramOptions, { session }: Call<SimulateFlags>): Promise<ProgramReport> {
  using progress = session.progress();
  try {
    return await simulateProgram({
      ...options,
      onProgress: ({ workload, stage, schedules, all, findings }) =>
        progress.report(
          stage === "reference"
            ? `"${workload}", run ${schedules} without faults`
            : `"${workload}", ${schedules} of ${all} schedules, ${findings} findings`,
        ),
    });
  } catch (error) {
    if (error instanceof ProgramStartError) {
      for (const line of error.output) session.info(line);
      throw new CommandError(error.message, {
        code: exitCode.failed,
        advice: "The lines above are the last that it printed. Check --command",
        cause: error,
      });
    }
    if (error instanceof ServiceStubError) {
      throw new CommandError(error.message, { code: exitCode.failed, advice: "Check --service", cause: error });
    }
    if (error instanceof PrepareError) {
      throw new CommandError(error.message, { code: exitCode.failed, advice: "Check --crds", cause: error });
    }
    throw error;
  }
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
      value === undefined || /^KUBE/.test(name) ? [] : [[name, value]]
    ),
  );
}

function temporaryFolder({ TMPDIR }: Readonly<Record<string, string | undefined>>): string {
  return TMPDIR === undefined || TMPDIR === "" ? "/tmp" : TMPDIR;
}
