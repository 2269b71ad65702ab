/**
 * `controller simulate foo` of the released binary: how many schedules all processors check in a second, storms included.
 * Each run has other seeds, so that no run plays what another one has played.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { z } from "zod";
import type { Sample } from "../metric.ts";
import { commandOf } from "../programs.ts";
import { type Case, interleaved, ours, type Outcome, type Setting, type Subject } from "./case.ts";

/** What `-o json` prints for each controller, as far as it is used. */
const simulated = z.array(z.object({ schedules: z.number(), violations: z.array(z.unknown()).length(0) })).length(1);

/** Simulates. */
export const simulateCase: Case = {
  name: "simulate",
  title: ({ simulatedSeeds }) => `\`controller simulate foo --seeds ${simulatedSeeds}\``,
  subjects: [{ name: ours, program: "controller", args: ["simulate", "foo", "--output=json"] }],
  makesOwnLoad: true,
  run: runSimulations,
};

async function runSimulations(setting: Setting): Promise<Outcome> {
  const seeds = setting.scale.simulatedSeeds;
  let firstSeed = 1;
  const measure = (subject: Subject) => measureSimulation(subject, { seeds, firstSeed: firstSeed++ * seeds });
  return { samples: await interleaved(setting, measure), facts: {} };
}

async function measureSimulation(
  { program, args, checkout }: Subject,
  { seeds, firstSeed }: { readonly seeds: number; readonly firstSeed: number },
): Promise<Sample["values"]> {
  const [path = "", ...command] = commandOf(
    program,
    [...args, `--seeds=${seeds}`, `--seed=${firstSeed}`],
    checkout,
  );
  const startedAt = performance.now();
  const { stdout } = await promisify(execFile)(path, command, { maxBuffer: 64 << 20 });
  const timeMs = performance.now() - startedAt;
  const [{ schedules } = { schedules: 0 }] = simulated.parse(JSON.parse(stdout));
  return { timeMs, schedules: 1_000 * schedules / timeMs };
}
