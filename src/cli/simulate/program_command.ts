/**
 * `simulate --command`: simulates an operator that is a program of its own, in any language. Reads the files of the command
 * line, runs the engine, and prints what it finds.
 *
 * Guarantees: at the end, also after a signal, no process of the program lives and no file of a run is left.
 */
import { isJsonObject, type UntypedObject } from "../../api/mod.ts";
import { directoryOf, joinPath, processFacts, removePath, resolvePath } from "../../runtime/mod.ts";
import {
  type ForeignWorkload,
  parseWorkload,
  PrepareError,
  type ProgramReport,
  ProgramStartError,
  simulateProgram,
  type SimulateProgramOptions,
  WorkloadFileError,
} from "../../simulation/mod.ts";
import { type Call, CommandError, type ExitCode, exitCode, listenForInterrupts } from "../command/mod.ts";
import { readDocuments, type YamlFileDocument } from "../documents/mod.ts";
import { UsageError } from "../flags/mod.ts";
import { scope } from "../../async/mod.ts";
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
  const workloads = await readWorkloads(call);
  using interrupts = listenForInterrupts(session);
  using stopping = scope(interrupts.stop);
  const folder = joinPath(
    temporaryFolder(session.environment),
    `${session.operator.name}-simulate-${crypto.randomUUID()}`,
  );
  session.atEnd(() => removePath(folder).catch(() => {}));
  const options: SimulateProgramOptions = {
    ...{ command, objects, workloads, folder, clock, random, signal: stopping.signal },
    env: programVariables(session.environment),
    identity: { namespace, name },
    plan: flags.plan,
    ...(flags.faults.length === 0 ? {} : { kinds: new Set(flags.faults) }),
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
  return printProgramReport(report, call, command);
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
    if (error instanceof PrepareError) {
      throw new CommandError(error.message, { code: exitCode.failed, advice: "Check --crds", cause: error });
    }
    throw error;
  }
}

/** The objects of `--crds`. */
async function readObjects(call: Call<SimulateFlags>): Promise<readonly UntypedObject[]> {
  const objects: UntypedObject[] = [];
  for (const path of call.flags.crds) {
    for (const document of await documentsOf(path, call)) {
      for (const item of itemsOf(document.value)) {
        if (!isUntypedObject(item)) throw cannotRead(`${document.name}:${document.line}`, "it is no Kubernetes object");
        objects.push(item);
      }
    }
  }
  return objects;
}

/** The objects of a List, or the object itself. */
function itemsOf(value: unknown): readonly unknown[] {
  if (!isJsonObject(value) || !`${value.kind}`.endsWith("List") || !Array.isArray(value.items)) return [value];
  return value.items;
}

function isUntypedObject(value: unknown): value is UntypedObject {
  return isJsonObject(value) && typeof value.apiVersion === "string" && typeof value.kind === "string" &&
    isJsonObject(value.metadata) && typeof value.metadata.name === "string";
}

/** The workloads of `--workload FILE|DIR`. */
async function readWorkloads(call: Call<SimulateFlags>): Promise<readonly ForeignWorkload[]> {
  const { workload: path } = call.flags;
  if (path === undefined) {
    throw new UsageError("Cannot simulate the program: there is no workload", "Name its file with --workload");
  }
  const workloads: ForeignWorkload[] = [];
  for (const document of await documentsOf(path, call)) {
    try {
      workloads.push(
        await parseWorkload(document, {
          documentsOf: (named, file) => documentsOf(resolvePath(directoryOf(resolved(file)), named), call),
        }),
      );
    } catch (error) {
      if (!(error instanceof WorkloadFileError)) throw error;
      throw new CommandError(error.message, { code: exitCode.usage, cause: error });
    }
  }
  return workloads;
}

function resolved(path: string): string {
  return resolvePath(processFacts().workingDirectory, path);
}

async function documentsOf(path: string, { session }: Call<SimulateFlags>): Promise<readonly YamlFileDocument[]> {
  return await readDocuments(path, { stdin: session.processEnvironment.stdin, cannotRead });
}

function cannotRead(place: string, state: string): CommandError {
  return new CommandError(`Cannot read "${place}": ${state}`, { code: exitCode.usage });
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
