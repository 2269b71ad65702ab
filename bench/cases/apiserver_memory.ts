/** The embedded API server in the process of its client: its speed, and whether it depends on the number of objects. */
import { MeasuredProcess } from "../measured_process.ts";
import { commandOf } from "../programs.ts";
import { inMemoryLine } from "../protocol.ts";
import { type Sample } from "../metric.ts";
import { type Case, ours, type Outcome, type Setting, type Subject } from "./case.ts";
import { growthSubject } from "./growth.ts";

/** No socket, one watcher. */
export const apiserverMemoryCase: Case = {
  name: "apiserver-memory",
  title: (scale) => {
    const sizes = scale.stored.map((size) => size.toLocaleString("en")).join(" and ");
    return `embedded API server in memory: creates with one watcher; an operation beside ${sizes} Foos`;
  },
  subjects: [{ name: ours, program: "pintle", args: ["apiserver-memory"] }],
  run: runMemory,
};

async function runMemory(setting: Setting): Promise<Outcome> {
  const samples: Sample[] = [];
  for (let run = 1; run <= setting.runs; run++) {
    for (const subject of setting.subjects) {
      const measured = await measureMemory(subject, setting);
      samples.push(...measured);
      setting.note(`run ${run}: ${JSON.stringify(measured)}`);
    }
  }
  return { samples, facts: {} };
}

async function measureMemory(subject: Subject, { scale }: Setting): Promise<readonly Sample[]> {
  const args = [...subject.args, `--created=${scale.created}`, `--stored=${scale.stored.join(",")}`];
  await using program = new MeasuredProcess({ command: commandOf(subject.program, args, subject.checkout), env: {} });
  const { line } = await program.read(inMemoryLine);
  const { createsPerSecond, cpuUsPerCreate, stored } = line;
  return [
    { subject: subject.name, values: { created: createsPerSecond, cpuUsPerCreate } },
    ...stored.map(({ objects, cpuUsPerOperation }): Sample => ({
      subject: growthSubject(subject.name, objects),
      values: { cpuUsPerOperation },
    })),
  ];
}
