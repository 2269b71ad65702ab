/** What a machine for kind has changed on the machine that it runs on. */
import { changes, type MachineState, machineState } from "../realnode/machine_state.ts";

export type { MachineState };

/** Cgroups of other harnesses, which run at the same time in the gate. */
const ofOthers = /^[+-] cgroup .*\/pintle-/;

/** Reads the state before a machine starts. */
export async function stateBefore(): Promise<MachineState> {
  return await machineState([]);
}

/** What differs now. @param id The last part of the machine's folder, by which its cgroups are named */
export async function leftovers(before: MachineState, id: string): Promise<readonly string[]> {
  return changes(before, await machineState([])).filter((line) => !ofOthers.test(line) || line.includes(id));
}
