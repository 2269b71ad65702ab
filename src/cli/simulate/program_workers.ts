/**
 * The worker processes of `simulate --command`: this program again, each in a network namespace of its own, so that several
 * processes of an operator can listen on the same ports at once, and reach nothing but the simulation. A request is a plan, a
 * response is what it breaks; both are JSON in one line.
 *
 * Guarantees: when a worker ends, also by SIGKILL, the kernel ends all processes that it has started: they are in its PID
 * namespace. No defunct process of the program stays in it.
 */
import { z } from "zod";
import { onAbort } from "../../async/mod.ts";
import type { Environment } from "../../runtime/mod.ts";
import { answerWorkerRequests, ownCommand, spawn, startWorkerProcess, type WorkerProcess } from "../../runtime/mod.ts";
import type { Entry } from "../../observe/mod.ts";
import { parseBounded } from "../../schema/mod.ts";
import {
  type CheckedPlan,
  type Fault,
  type FaultFreeReport,
  type FaultFreeRunner,
  type FaultPlan,
  faultPlanSchema,
  type LearnedWorkload,
  type PlanChecker,
  ProgramChecker,
  type ProgramFinding,
  type SimulateProgramOptions,
} from "../../simulation/mod.ts";
import { CommandError, exitCode, type Session } from "../command/mod.ts";
import { programError } from "./program_errors.ts";

/** With this variable, `simulate --command` is a worker; its value is the folder for its files. */
export const programWorkerVariable = "PINTLE_PROGRAM_WORKER";

/**
 * The addresses of simulated Pods and Services lead to this machine, so that a stub can listen on them. The shell stays process 1
 * of the namespace while it waits for the command: it reaps what killed processes of the program leave behind.
 */
const script = [
  "PATH=$PATH:/usr/sbin:/sbin",
  "ip link set lo up 2>/dev/null || ifconfig lo up || exit 125",
  "ip route add local 10.0.0.0/8 dev lo 2>/dev/null",
  '"$@"',
  "exit $?",
].join("\n");

/** The words before a command that runs it in namespaces of its own. */
export const ownNamespaces: readonly string[] = [
  ...["unshare", "--map-root-user", "--net", "--mount", "--pid", "--fork", "--kill-child=SIGKILL", "--mount-proc"],
  ...["/bin/sh", "-c", script, "sh"],
];

/** True where processes can have namespaces of their own: on Linux, if its settings allow it. */
export async function canHaveNamespaces(environment: Environment): Promise<boolean> {
  const env = Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => value === undefined ? [] : [[name, value]]),
  );
  const result = await spawn([...ownNamespaces, "true"], { env, timeoutMs: 5_000 });
  return result.kind === "ended" && result.code === 0;
}

/** Both processes are the same program, so a finding is only passed on. */
const finding = z.custom<ProgramFinding>((value) => typeof value === "object" && value !== null).optional();
const request = z.object({
  workload: z.string(),
  plan: faultPlanSchema.optional(),
  shrinks: finding,
  runsWithoutFaults: z.int().optional(),
});

/** What is wrong with the program or its files. */
const failure = z.object({ message: z.string(), advice: z.string(), output: z.array(z.string()) });
const learned = z.object({
  faults: z.array(z.custom<Fault>((value) => typeof value === "object" && value !== null)),
  finding,
  failedSteps: z.array(z.string()),
  schedules: z.int(),
  convergenceMs: z.number(),
  starts: z.array(z.int()),
  leftovers: z.array(z.string()),
});
const passed = z.array(z.custom<Entry>((value) => typeof value === "object" && value !== null)).optional();
const checked = z.object({ finding, passed, isUnconfirmed: z.boolean(), isReached: z.boolean(), schedules: z.int() });
const response = z.object({
  failure: failure.optional(),
  learned: learned.optional(),
  checked: checked.optional(),
  shrunk: finding,
  faultFree: z.custom<FaultFreeReport>((value) => typeof value === "object" && value !== null).optional(),
});

/** Options of {@link ProgramWorkers}. */
interface ProgramWorkersOptions {
  readonly count: number;
  /** For the files of the workers; its owner removes it. */
  readonly folder: string;
  /** The programs share the network of this machine. */
  readonly sharedNetwork: boolean;
  /** Ends the workers at once: what one does at the moment may take minutes. */
  readonly signal: AbortSignal;
}

/** The workers. They end when this is disposed. */
export class ProgramWorkers implements Disposable {
  readonly checkers: readonly (PlanChecker & FaultFreeRunner)[];
  readonly #workers: readonly WorkerProcess[];
  readonly #interrupting: Disposable;

  private constructor(session: Session, { count, folder, signal }: ProgramWorkersOptions) {
    const { processEnvironment: { args }, environment } = session;
    this.#workers = Array.from({ length: count }, (_, index) => {
      const env = { ...environment, [programWorkerVariable]: `${folder}/worker-${index + 1}` };
      return startWorkerProcess([...ownNamespaces, ...ownCommand(), ...args], env);
    });
    this.checkers = this.#workers.map((worker) => new RemoteChecker(worker, session));
    this.#interrupting = onAbort(signal, () => this.#end());
  }

  /** Starts the workers. @returns undefined where processes cannot have a network of their own, or are to share one */
  static async start(session: Session, options: ProgramWorkersOptions): Promise<ProgramWorkers | undefined> {
    if (options.sharedNetwork || !await canHaveNamespaces(session.environment)) return undefined;
    return new ProgramWorkers(session, options);
  }

  [Symbol.dispose](): void {
    this.#interrupting[Symbol.dispose]();
    this.#end();
  }

  #end(): void {
    for (const worker of this.#workers) worker[Symbol.dispose]();
  }
}

/** One worker as its parent sees it. */
class RemoteChecker implements PlanChecker, FaultFreeRunner {
  readonly #worker: WorkerProcess;
  readonly #session: Session;

  constructor(worker: WorkerProcess, session: Session) {
    this.#worker = worker;
    this.#session = session;
  }

  async learn(workload: string): Promise<LearnedWorkload> {
    const { learned } = await this.#send({ workload });
    if (learned === undefined) throw new TypeError("Cannot use the worker: it has not learned the workload");
    return learned;
  }

  async runWithoutFaults(workload: string, runs: number): Promise<FaultFreeReport> {
    const { faultFree } = await this.#send({ workload, runsWithoutFaults: runs });
    if (faultFree === undefined) throw new TypeError("Cannot use the worker: it has not run the workload");
    return faultFree;
  }

  async check(workload: string, plan: FaultPlan): Promise<CheckedPlan> {
    const { checked } = await this.#send({ workload, plan });
    if (checked === undefined) throw new TypeError("Cannot use the worker: it has not checked the plan");
    return checked;
  }

  async shrink(workload: string, finding: ProgramFinding): Promise<ProgramFinding> {
    const { shrunk } = await this.#send({ workload, shrinks: finding });
    if (shrunk === undefined) throw new TypeError("Cannot use the worker: it has not shrunk the finding");
    return shrunk;
  }

  /** @throws CommandError for what is wrong with the program or its files */
  async #send(sent: z.input<typeof request>): Promise<z.output<typeof response>> {
    const answer = parseBounded(response, JSON.parse(await this.#worker.request(JSON.stringify(sent))));
    const { failure } = answer;
    if (failure === undefined) return answer;
    for (const line of failure.output) this.#session.info(line);
    throw new CommandError(failure.message, { code: exitCode.failed, advice: failure.advice });
  }
}

/** Checks the plans that the first process requests, until it closes standard input. */
export async function runProgramWorker(options: SimulateProgramOptions): Promise<void> {
  let preparing: Promise<ProgramChecker> | undefined;
  await answerWorkerRequests(async (line) => {
    const { workload, plan, shrinks, runsWithoutFaults } = parseBounded(request, JSON.parse(line));
    try {
      preparing ??= ProgramChecker.prepare(options);
      const checker = await preparing;
      if (shrinks !== undefined) return JSON.stringify({ shrunk: await checker.shrink(workload, shrinks) });
      if (runsWithoutFaults !== undefined) {
        return JSON.stringify({ faultFree: await checker.runWithoutFaults(workload, runsWithoutFaults) });
      }
      return JSON.stringify(
        plan === undefined
          ? { learned: await checker.learn(workload) }
          : { checked: await checker.check(workload, plan) },
      );
    } catch (error) {
      const known = programError(error);
      if (known === undefined) throw error;
      return JSON.stringify({ failure: known });
    }
  });
}
