/** Helpers for kubectl cases: commands, and a simulated kubelet. */
import { type CaseTraits, type ConformanceCase, scenario, type Wait } from "../conformance_case.ts";
import type { CaseRun, CommandOptions } from "../case_run.ts";
import { at } from "./_objects.ts";

/** A command, its stdin, and its environment variables. */
export type Command = readonly [command: string, input?: unknown, env?: Readonly<Record<string, string>>];

export const needsKubectl = true;

/**
 * A case that runs commands. Spaces separate the arguments; `␣` is a space inside an argument, `NS` the namespace, `SOON` a
 * time limit that passes in every run. Limits that must not pass are long, because the machine may be slow.
 */
export function kubectl(name: string, commands: readonly (Command | Wait)[], traits: CaseTraits = {}): ConformanceCase {
  return scenario(`kubectl ${name}`, async (run) => {
    for (const command of commands) {
      if (typeof command === "function") await command(run);
      else await runCommand(run, command);
    }
  }, { needsKubectl, ...traits });
}

/** Runs one command. @returns its stdout */
export async function runCommand(run: CaseRun, [command, input, env]: Command, more: CommandOptions = {}) {
  const options: CommandOptions = {
    ...more,
    ...(input === undefined ? {} : { stdin: typeof input === "string" ? input : JSON.stringify(input) }),
    ...(env === undefined ? {} : { env }),
  };
  return await run.kubectl(
    command.split(" ").map((word) => word.replaceAll("NS", run.namespace).replaceAll("␣", " ")),
    options,
  );
}

const merge = "application/merge-patch+json";

/** Simulates a kubelet while `act` runs: Pods of the namespace become ready, and deleted Pods are removed. */
export async function withKubelet(run: CaseRun, act: () => Promise<void>): Promise<void> {
  let isOver = false;
  const simulate = async () => {
    const path = at(run, "pods");
    const conditions = ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map((type) => ({
      type,
      status: "True",
    }));
    while (!isOver) {
      const { items } = await run.prepare({ path });
      for (const { metadata, status } of items) {
        const one = `${path}/${metadata.name}`;
        if (metadata.deletionTimestamp !== undefined) {
          await run.prepare({ method: "DELETE", path: `${one}?gracePeriodSeconds=0` }).catch(() => undefined);
        } else if (status.phase !== "Running") {
          const body = {
            status: { phase: "Running", conditions, startTime: new Date().toISOString().replace(/\.\d+/, "") },
          };
          await run.prepare({ method: "PATCH", path: `${one}/status`, type: merge, body }).catch(() => undefined);
        }
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const kubelet = simulate();
  try {
    await act();
  } finally {
    isOver = true;
    await kubelet;
  }
}
