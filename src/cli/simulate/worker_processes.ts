/**
 * Helpers of `simulate`: this program once more for each core, while the first one plans and waits. A question is a controller's name and a schedule, an
 * answer is what was wrong with it, both as JSON in one line.
 */
import { z } from "zod";
import type { OperatorController, Workload } from "../../manager/mod.ts";
import { answerTwin, coreCount, type Twin } from "../../runtime/mod.ts";
import { type Play, Player, type Violation } from "../../simulation/mod.ts";
import type { Session } from "../command/mod.ts";
import { faultPlan } from "./simulate_flags.ts";

/** Set to 1, `simulate` plays what it is asked for on standard input. */
export const workerVariable = "PINTLE_SIMULATION_HELPER";

/**
 * All cores are played on: the last stage of Bun's compiler takes more of them than it saves, and so does a collector that
 * works beside the program. See SIMULATION.md. A process gets these when it starts, or never.
 */
const frugal = { BUN_JSC_useFTLJIT: "0", BUN_JSC_useConcurrentGC: "0" };

/** A controller and what is played with it. */
interface Played {
  readonly controller: OperatorController;
  readonly workloads: readonly Workload[];
}

const question = z.object({
  controller: z.string(),
  workload: z.string(),
  plan: faultPlan,
  seed: z.int(),
  replicas: z.int().min(1),
});

const invariants = [
  "end state",
  "lives",
  "rest",
  "one leader",
  "process",
  "load",
  "cache",
  "told",
  "strangers",
  "starved key",
] as const satisfies readonly Violation["invariant"][];
const answer = z.array(z.object({ invariant: z.enum(invariants), message: z.string() }));

/** The processes that help; started when they are first needed. */
export class SimulationWorkers implements Disposable {
  readonly #session: Session;
  readonly #count: number;
  #twins: readonly Twin[] | undefined;

  /** @param jobs processes that play; one is this one. Undefined: one for each core */
  constructor(session: Session, jobs: number = coreCount()) {
    this.#session = session;
    this.#count = jobs > 1 ? jobs : 0;
  }

  /** Players in those processes. */
  of(controller: OperatorController): readonly Play[] {
    const { processEnvironment: { startTwin, args }, environment } = this.#session;
    const env = { ...frugal, ...environment, [workerVariable]: "1" };
    this.#twins ??= Array.from({ length: this.#count }).flatMap(() => startTwin(args, env) ?? []);
    return this.#twins.map((twin): Play => async (schedule) => {
      const { workload, plan, seed, replicas } = schedule;
      const asked = { controller: controller.name, workload, plan, seed, replicas };
      return answer.parse(JSON.parse(await twin.ask(JSON.stringify(asked))));
    });
  }

  [Symbol.dispose](): void {
    for (const twin of this.#twins ?? []) twin[Symbol.dispose]();
  }
}

/** Plays what another process asks for, until it does not any more. */
export async function runSimulationWorker(plays: readonly Played[]): Promise<void> {
  const players = new Map(
    plays.map(({ controller, workloads }) => [controller.name, new Player(controller, workloads)]),
  );
  await answerTwin((line) => handleRequest(players, line));
}

/** What is answered to one question. @throws when it is none */
export async function handleRequest(players: ReadonlyMap<string, Player>, line: string): Promise<string> {
  const { controller, ...schedule } = question.parse(JSON.parse(line));
  const player = players.get(controller);
  if (player === undefined) throw new TypeError(`Cannot play controller "${controller}": it is not known here`);
  return JSON.stringify(await player.play(schedule));
}
